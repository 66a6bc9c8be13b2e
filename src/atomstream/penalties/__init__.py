"""Penalties on codes and atoms; a constraint is one that is 0 inside its set, infinite outside."""

from atomstream.penalties.ball import NonnegativeBall, NormBall, UnitBall, UnitSphere
from atomstream.penalties.base import Penalty
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box, Free, Nonnegative
from atomstream.penalties.simplex import Simplex
from atomstream.penalties.top import TopK

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
