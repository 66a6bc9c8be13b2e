"""The history of a fit: the public name of `atomstream.watch.history`."""

from atomstream.watch.history import FIELDS, Trace, changeovers, read_history

__all__ = ["FIELDS", "Trace", "changeovers", "read_history"]
