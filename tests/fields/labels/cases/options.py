"""What options of ``learn`` for labels stand for."""

CASES = {"label": {"not_given": ["label", "classes"]}}
