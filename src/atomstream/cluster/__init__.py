"""Learning on many machines: rounds over shards, on any executor or Dask.

The engine schedules; what a task is, and how its results are merged, is decided here. Workers keep
nothing, and the same layout gives the same bits whatever workers there are.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "checkpoints": ["Checkpoint"],
        "coding": ["transform_shards"],
        "engines": ["Engine"],
        "rounds": ["Rounds", "RoundsReport"],
        "shards": ["Shard", "Shards", "shards"],
    },
)
