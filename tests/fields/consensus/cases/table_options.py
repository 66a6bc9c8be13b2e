"""The group of options by which runs of a consensus read tables, and their commands."""

from atomstream.runs.reading import table_reading

CASES = {"consensus": (table_reading, ["consensus"])}
