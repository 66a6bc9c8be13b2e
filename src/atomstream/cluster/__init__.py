"""Learning on many machines: rounds over shards, on any executor or Dask.

The engine schedules; what a task is, and how its results are merged, is decided here. Workers keep
nothing, and the same layout gives the same bits whatever workers there are.
"""

from atomstream.cluster.engines import Engine
from atomstream.cluster.jobs import sample_chains, transform_shards
from atomstream.cluster.rounds import Rounds, RoundsReport
from atomstream.cluster.shards import FileShard, Shard, Shards, shards

__all__ = [
    "Engine",
    "FileShard",
    "Rounds",
    "RoundsReport",
    "Shard",
    "Shards",
    "sample_chains",
    "shards",
    "transform_shards",
]
