"""Functions whose rows are array-like to a reader."""

CASES = {"online_parafac": "X"}
