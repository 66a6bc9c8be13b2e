"""A watch over changes of a stream: the public name of `atomstream.watch.changes`."""

from atomstream.watch.changes import Change, ChangedFeature, ChangeWatch

__all__ = ["Change", "ChangeWatch", "ChangedFeature"]
