"""Runs of a consensus that are stopped after every step."""

CASES = {
    "consensus": (
        "consensus rows.csv --atoms 2,3 --replicates 3 --batch-size 40 --epochs 2",
        6,
    ),
}
