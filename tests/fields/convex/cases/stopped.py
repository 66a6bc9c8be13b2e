"""Runs of atoms made of samples that are stopped after every step."""

CASES = {
    "rows, made of samples": (
        "learn rows.csv --model convex --atoms 2 --batch-size 40 --representatives 50 --epochs 1",
        3,
    ),
    "rows with gaps, made of samples": (
        "learn gaps.csv --model convex --missing --atoms 2 --batch-size 40 --representatives 50 "
        "--epochs 1",
        3,
    ),
}
