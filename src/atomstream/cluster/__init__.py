"""Learning on many machines: rounds over shards, on any executor or Dask.

The engine schedules; what a task is, and how its results are merged, is decided here. Workers keep
nothing, and the same layout gives the same bits whatever workers there are.
"""

import lazy_loader

# Not lazy: once loaded, the module of this name would stand for the function.
from atomstream.cluster.shards import shards as shards

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
