"""Classes of this field that have the standard name of the field or of software."""

CASES = dict.fromkeys(
    [
        "Grid",
        "HebbianFactor",
        "RandomWalkFactorization",
        "StateIndex",
        "WalkFactors",
        "WalkLearning",
        "WalkLook",
        "WalkSettings",
        "WalkTask",
        "WalkTheorem",
    ],
    "standard",
)
