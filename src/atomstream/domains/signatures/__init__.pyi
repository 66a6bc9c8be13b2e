from .matches import (
    Decomposition,
    Exposures,
    Match,
    capped,
    decompose,
    exposure_intervals,
    hypermutated,
    match,
    refit,
)
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
