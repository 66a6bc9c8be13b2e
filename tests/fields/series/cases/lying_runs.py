"""A golden run whose notes may lie."""

CASES = {"series-forecast": "golden/runs"}
