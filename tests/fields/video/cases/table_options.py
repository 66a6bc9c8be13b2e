"""The group of options by which runs of videos read tables, and their commands."""

CASES = {"video": (None, [])}
