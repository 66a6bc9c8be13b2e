"""Data in files: inputs of all kinds, results, atomic writes."""

import lazy_loader

# Each is loaded where it is first used; these are public.
__getattr__, *_ = lazy_loader.attach_stub(__name__, __file__)
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


def __dir__() -> list[str]:
    return __all__
