from . import tolerances as tolerances
from .auto import Auto
from .base import Coder, Codes
from .multiplicative import Multiplicative
from .projected_gradient import ProjectedGradient
from .pursuit import MatchingPursuit, pursue
from .quadratic import ActiveSet
from .subgradient import ProjectedSubgradient
from .trimming import Trimming

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
