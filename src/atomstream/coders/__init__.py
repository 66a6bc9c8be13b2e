"""Codes of samples under a fixed dictionary, a file per kind of loss."""

from atomstream.coders import tolerances as tolerances
from atomstream.coders.auto import Auto
from atomstream.coders.base import Coder, Codes
from atomstream.coders.multiplicative import Multiplicative
from atomstream.coders.projected_gradient import ProjectedGradient
from atomstream.coders.pursuit import MatchingPursuit, pursue
from atomstream.coders.quadratic import ActiveSet
from atomstream.coders.subgradient import ProjectedSubgradient
from atomstream.coders.trimming import Trimming

__all__ = [
    "ActiveSet",
    "Auto",
    "Coder",
    "Codes",
    "MatchingPursuit",
    "Multiplicative",
    "ProjectedGradient",
    "ProjectedSubgradient",
    "Trimming",
    "pursue",
]
