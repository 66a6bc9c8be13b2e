"""The group of options by which runs of images read tables, and their commands."""

CASES = {"image": (None, [])}
