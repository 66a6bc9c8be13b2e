"""Types of what the methods of estimators accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from atomstream.coders import Coder
from atomstream.losses import Loss
from atomstream.penalties.base import Penalty
from atomstream.schedules import Schedule

__all__ = [
    "CoderChoice",
    "LossChoice",
    "RandomSource",
    "Samples",
    "ScheduleChoice",
    "SetChoice",
    "Start",
    "ToleranceChoice",
]


class Shaped(Protocol):
    """A frame, a sparse matrix, a labelled array: whatever has a shape."""

    @property
    def shape(self) -> Any:
        """Lengths of the axes."""


Samples: TypeAlias = ArrayLike | Shaped
RandomSource: TypeAlias = int | np.random.Generator | np.random.RandomState | None
# A choice is a name or the part itself.
CoderChoice: TypeAlias = str | Coder
LossChoice: TypeAlias = str | Loss
ScheduleChoice: TypeAlias = str | Schedule
SetChoice: TypeAlias = str | Penalty
ToleranceChoice: TypeAlias = float | str | Callable[[int], float]
Start: TypeAlias = str | ArrayLike | None
