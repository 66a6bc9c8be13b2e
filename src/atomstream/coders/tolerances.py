"""Tolerances of the codes while learning, as functions of the step t, from 1.

The papers bound the distance of the codes from the optimal ones; a tolerance bounds the violation
of their optimality conditions (`atomstream.problem.clock.Accuracy`), which can be known. Any
function of the step is one.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from atomstream.base.parameters import Part, number

__all__ = ["LogTolerance", "RootTolerance"]


@dataclass(frozen=True)
class _Tolerance(Part, ABC):
    """A law of the step times ``K``, cut at ``most``."""

    K: float = 1.0
    most: float = 0.2
    BOUNDS: ClassVar = {"K": number(above=True), "most": number(above=True)}

    def __call__(self, step: int) -> float:
        """Return the largest violation that the codes of this step may have."""
        return min(self.most, self.K * self._law(step))

    @staticmethod
    @abstractmethod
    def _law(step: int) -> float:
        """Return how the tolerance falls with the step."""


class LogTolerance(_Tolerance):
    """K (log t)^-2, the accuracy of the relaxed scheme.

    Eq. (32) of Lyu, Needell and Balzano, its exponent corrected.

    Parameters
    ----------
    K : float, default=1.0
    most : float, default=0.2
        Never above this: in short runs the first codes count.
    """

    @staticmethod
    def _law(step: int) -> float:
        # log 1 = 0: the law begins at step 2.
        return math.log(max(step, 2)) ** -2


class RootTolerance(_Tolerance):
    """K t^-1/2, the accuracy under which the relaxed scheme has a rate.

    Eq. (34) of Lyu, Needell and Balzano.

    Parameters
    ----------
    K : float, default=1.0
    most : float, default=0.2
        Never above this: in short runs the first codes count.
    """

    @staticmethod
    def _law(step: int) -> float:
        return step**-0.5
