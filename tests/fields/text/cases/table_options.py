"""The group of options by which runs of texts read tables, and their commands."""

from atomstream.runs.reading import text_reading

CASES = {"text": (text_reading, ["text topics"])}
