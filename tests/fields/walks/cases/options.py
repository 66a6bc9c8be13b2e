"""What options of runs of walks stand for."""

CASES = {
    "walk": {
        "estimators": ["RandomWalkFactorization"],
        "inputs": {"origin": ("a", "b"), "destination": ("c", "d")},
        "not_given": ["origin", "destination"],
    },
}
