from .base import Delta, Memory, Statistics
from .gram import Aggregates, GramDelta, GramSums, TrimmedAggregates, TrimmedDelta, TrimmedSums
from .majorant import Majorants, MajorantSums
from .majorant_delta import MajorantDelta
from .state import State, Usage
from .subgradient import Subgradient, SubgradientDelta, Subgradients

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
