"""The group of options by which runs of networks read tables, and their commands."""

from atomstream.runs.reading import number_reading

CASES = {"network": (number_reading, ["network learn", "network denoise"])}
