"""A run of this field that an earlier version left in golden/runs."""

CASES = {"network-unfinished": {"unit": "batches", "attribute": "components_"}}
