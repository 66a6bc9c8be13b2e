"""The group of options by which runs of series read tables, and their commands."""

from atomstream.runs.reading import table_reading

CASES = {
    "series forecast": (table_reading, ["series forecast"]),
    "series impute": (table_reading, ["series impute"]),
}
