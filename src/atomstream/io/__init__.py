"""Data and models in files: one registry of inputs for all domains, model files, whole-file writes."""

from atomstream.io.feed import Feed, Position
from atomstream.io.inputs import Wanted, images_in, open_inputs
from atomstream.io.source import Source

__all__ = ["Feed", "Position", "Source", "Wanted", "images_in", "open_inputs"]
