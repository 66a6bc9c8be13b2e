from .ball import NonnegativeBall, NormBall, UnitBall, UnitSphere
from .base import Penalty
from .covering import Covering
from .interval import Box, Free, Nonnegative
from .simplex import Simplex
from .top import TopK

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
