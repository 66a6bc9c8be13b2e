"""How exactly the codes of a batch are found while learning, as a function of the step t, from 1.

The papers bound the distance of the codes from the optimal ones; a tolerance bounds the violation of their optimality
conditions (`atomstream.state.Accuracy`), which can be known. Any function of the step is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LogTolerance", "RootTolerance"]


@dataclass(frozen=True)
class LogTolerance:
    """K (log t)^-2, the accuracy of the relaxed scheme (eq. 32 of Lyu, Needell and Balzano, exponent corrected).

    Parameters
    ----------
    K : float, default=1.0
        Above 0.
    """

    K: float = 1.0

    def __post_init__(self) -> None:
        _check_K(self)

    def __call__(self, step: int) -> float:
        """Return K (log max(t, 2))^-2."""
        return self.K * math.log(max(step, 2)) ** -2


@dataclass(frozen=True)
class RootTolerance:
    """K t^-1/2, the accuracy under which the relaxed scheme has a rate (eq. 34 of Lyu, Needell and Balzano).

    Parameters
    ----------
    K : float, default=1.0
        Above 0.
    """

    K: float = 1.0

    def __post_init__(self) -> None:
        _check_K(self)

    def __call__(self, step: int) -> float:
        """Return K t^-1/2."""
        return self.K / math.sqrt(step)


def _check_K(tolerance: LogTolerance | RootTolerance) -> None:  # noqa: N802 - named after the constant
    if not tolerance.K > 0:
        raise ValueError(f"{type(tolerance).__name__} needs K above 0, got {tolerance.K!r}.")
