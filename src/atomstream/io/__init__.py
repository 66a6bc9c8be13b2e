"""Data and models in files: inputs of all domains, model files, atomic writes."""

from atomstream.io.feed import Feed, Position
from atomstream.io.inputs import InputOptions, images_in, open_inputs
from atomstream.io.source import Source

__all__ = ["Feed", "InputOptions", "Position", "Source", "images_in", "open_inputs"]
