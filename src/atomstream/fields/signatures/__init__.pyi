from .exposures import Exposures, capped, exposure_intervals, hypermutated, refit
from .matches import Decomposition, Match, decompose, match
from .tables import ChannelTable, check_counts, de_novo, read

__all__ = [
    "ChannelTable",
    "Decomposition",
    "Exposures",
    "Match",
    "capped",
    "check_counts",
    "de_novo",
    "decompose",
    "exposure_intervals",
    "hypermutated",
    "match",
    "read",
    "refit",
]
