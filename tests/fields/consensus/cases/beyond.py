"""Settings of the choice of a rank that need a number."""

from no_numbers import data

from atomstream import choose_rank

CASES = {"holdout": lambda value: choose_rank(data(), [1], holdout=value)}
