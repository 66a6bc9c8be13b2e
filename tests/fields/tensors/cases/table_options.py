"""The group of options by which runs of tensors read tables, and their commands."""

CASES = {"tensor": (None, [])}
