from .feed import Feed, Position
from .inputs import images_in, open_inputs, register_reader
from .source import Block, InputOptions, Source

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
