"""Types of what the methods of estimators accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from atomstream.coders import Coder
from atomstream.core.matrices import Samples
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


RandomSource: TypeAlias = int | np.random.Generator | np.random.RandomState | None
# A choice is a name or the part itself.
CoderChoice: TypeAlias = str | Coder
LossChoice: TypeAlias = str | Loss
ScheduleChoice: TypeAlias = str | Schedule
SetChoice: TypeAlias = str | Penalty
ToleranceChoice: TypeAlias = float | str | Callable[[int], float]
Start: TypeAlias = str | ArrayLike | None
