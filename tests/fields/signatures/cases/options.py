"""What options of runs of signatures stand for."""

CASES = {
    "signatures": {
        "estimators": ["ConsensusNMF"],
        "different": {
            ("signatures", "rule"): "counts that were capped are no whole numbers, but counts",
        },
        "not_given": ["catalogue"],
    },
}
