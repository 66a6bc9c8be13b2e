"""A golden run whose notes may lie."""

CASES = {"walk-trips": "golden/runs"}
