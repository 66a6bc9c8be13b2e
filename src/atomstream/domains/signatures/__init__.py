"""Mutational signatures: tables of counts by channel, matches to a catalogue, exposures."""

from atomstream.domains.signatures.exposures import (
    Exposures,
    capped,
    exposure_intervals,
    hypermutated,
    refit,
)
from atomstream.domains.signatures.matches import Decomposition, Match, decompose, match
from atomstream.domains.signatures.tables import ChannelTable, check_counts, de_novo, read

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
