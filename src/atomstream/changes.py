"""A watch over changes of a stream: the public name of `atomstream.watch.changes`."""

from atomstream.watch.changes import Change, ChangeWatch, Part

__all__ = ["Change", "ChangeWatch", "Part"]
