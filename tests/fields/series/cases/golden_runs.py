"""A run of this field that an earlier version left in golden/runs."""

CASES = {"series-forecast": {"attribute": "atoms_", "atoms": "atoms", "wrote": ["forecast.csv"]}}
