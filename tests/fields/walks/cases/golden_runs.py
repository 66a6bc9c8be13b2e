"""A run of this field that an earlier version left in golden/runs."""

CASES = {"walk-trips": {"attribute": "right_", "atoms": "clusters", "wrote": ["partition.csv"]}}
