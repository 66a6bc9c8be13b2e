"""A run of this field that an earlier version left in golden/runs."""

CASES = {"text-unfinished": {"unit": "passes", "attribute": "components_"}}
