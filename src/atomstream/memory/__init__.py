"""Memories of the stream, and what a batch adds to them.

Besides the dictionary, only memory changes.

Every change builds new arrays and puts them in place in one stroke, so whoever holds the old ones
(a snapshot, a call that must be undone) holds them unchanged.
"""

from atomstream.memory.base import Delta, Memory, Statistics
from atomstream.memory.gram import Aggregates, GramDelta, GramSums
from atomstream.memory.majorant import Majorants, MajorantSums
from atomstream.memory.majorant_delta import MajorantDelta
from atomstream.memory.subgradient import Subgradient, SubgradientDelta, Subgradients
from atomstream.memory.trimmed import TrimmedAggregates, TrimmedDelta, TrimmedSums
from atomstream.memory.usage import Usage

__all__ = [
    "Aggregates",
    "Delta",
    "GramDelta",
    "GramSums",
    "MajorantDelta",
    "MajorantSums",
    "Majorants",
    "Memory",
    "Statistics",
    "Subgradient",
    "SubgradientDelta",
    "Subgradients",
    "TrimmedAggregates",
    "TrimmedDelta",
    "TrimmedSums",
    "Usage",
]
