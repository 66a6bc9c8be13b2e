"""Penalties on codes and atoms; a constraint is a penalty that is 0 inside its set and infinite outside."""

from atomstream.penalties.ball import NonnegativeBall, NormBall, UnitBall
from atomstream.penalties.base import SLACK, TINY, Penalty, Shape
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box, Free, Nonnegative
from atomstream.penalties.simplex import Simplex

__all__ = [
    "SLACK",
    "TINY",
    "Box",
    "Covering",
    "Free",
    "Nonnegative",
    "NonnegativeBall",
    "NormBall",
    "Penalty",
    "Shape",
    "Simplex",
    "UnitBall",
]
