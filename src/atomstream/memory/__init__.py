"""Memories of the stream, and what a batch adds to them.

Besides the dictionary, only memory changes.

Every change builds new arrays and puts them in place in one stroke, so whoever holds the old ones
(a snapshot, a call that must be undone) holds them unchanged.
"""

import lazy_loader

# Each is loaded where it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
