"""Functions whose rows are array-like to a reader."""

CASES = {"choose_rank": "X"}
