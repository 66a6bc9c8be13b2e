"""What learns on many machines, loaded when it is first used."""

from .engines import Engine as Engine
from .jobs import sample_chains as sample_chains
from .jobs import transform_shards as transform_shards
from .rounds import Rounds as Rounds
from .rounds import RoundsReport as RoundsReport
from .shards import FileShard as FileShard
from .shards import Shard as Shard
from .shards import Shards as Shards
from .shards import shards as shards
