"""Types of what the methods of estimators accept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from numpy.typing import ArrayLike

from atomstream.coders import Coder
from atomstream.losses import Loss
from atomstream.penalties.base import Penalty
from atomstream.schedules import Schedule

# A choice is a name or the part itself.
CoderChoice: TypeAlias = str | Coder
LossChoice: TypeAlias = str | Loss
ScheduleChoice: TypeAlias = str | Schedule
SetChoice: TypeAlias = str | Penalty
ToleranceChoice: TypeAlias = float | str | Callable[[int], float]
Start: TypeAlias = str | ArrayLike | None
