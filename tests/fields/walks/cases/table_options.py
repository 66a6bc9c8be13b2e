"""The group of options by which runs of walks read tables, and their commands."""

from atomstream.runs.reading import entry_reading

CASES = {"walk": (entry_reading, ["walk partition"])}
