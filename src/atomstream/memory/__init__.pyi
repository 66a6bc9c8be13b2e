from .base import Delta, Memory, Statistics
from .gram import Aggregates, GramDelta, GramSums
from .majorant import Majorants, MajorantSums
from .majorant_delta import MajorantDelta
from .state import State, Usage
from .subgradient import Subgradient, SubgradientDelta, Subgradients
from .trimmed import TrimmedAggregates, TrimmedDelta, TrimmedSums

__all__ = [
    "Aggregates",
    "Delta",
    "GramDelta",
    "GramSums",
    "MajorantDelta",
    "MajorantSums",
    "Majorants",
    "Memory",
    "State",
    "Statistics",
    "Subgradient",
    "SubgradientDelta",
    "Subgradients",
    "TrimmedAggregates",
    "TrimmedDelta",
    "TrimmedSums",
    "Usage",
]
