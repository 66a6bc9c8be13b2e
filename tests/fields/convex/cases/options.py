"""What options of ``learn`` for atoms made of samples stand for."""

CASES = {
    "convex": {
        "different": {
            ("OnlineConvexMF", "atoms"): "one default for the three models of learn",
            ("OnlineConvexMF", "schedule"): "one default for the three models of learn",
        },
    },
}
