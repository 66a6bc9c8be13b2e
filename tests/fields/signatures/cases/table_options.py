"""The group of options by which runs of signatures read tables, and their commands."""

from atomstream.runs.reading import number_reading

CASES = {"signatures": (number_reading, ["signatures"])}
