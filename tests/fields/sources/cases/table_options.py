"""The group of options by which runs of sources read tables, and their commands."""

from atomstream.runs.reading import table_reading

CASES = {"sources": (table_reading, ["sources"])}
