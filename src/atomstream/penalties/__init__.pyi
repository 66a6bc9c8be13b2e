from .base import Penalty
from .sets import (
    Box,
    Covering,
    Free,
    Nonnegative,
    NonnegativeBall,
    NormBall,
    Simplex,
    TopK,
    UnitBall,
    UnitSphere,
)

__all__ = [
    "Box",
    "Covering",
    "Free",
    "Nonnegative",
    "NonnegativeBall",
    "NormBall",
    "Penalty",
    "Simplex",
    "TopK",
    "UnitBall",
    "UnitSphere",
]
