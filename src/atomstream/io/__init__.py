"""Data in files: inputs of all domains, results, atomic writes."""

from atomstream.io.feed import Feed, Position
from atomstream.io.inputs import images_in, open_inputs, register_reader
from atomstream.io.source import Block, InputOptions, Source

__all__ = [
    "Block",
    "Feed",
    "InputOptions",
    "Position",
    "Source",
    "images_in",
    "open_inputs",
    "register_reader",
]
