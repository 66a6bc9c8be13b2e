"""Rows with a given number of entries that are not zero."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import one_of, whole
from atomstream.penalties.base import Penalty

SIGNS = ("free", "nonnegative")


@dataclass(frozen=True)
class TopK(Penalty):
    """Rows of which at most ``k`` entries are not zero: a number in place of a penalty.

    The set is not convex: codes are found by `atomstream.coders.MatchingPursuit`, which is not sure
    to find the best ones, and nothing certifies them.

    Parameters
    ----------
    k : int
        At least 1.
    sign : {"free", "nonnegative"}, default="free"
        Sign of the entries.
    """

    k: int
    sign: str = "free"
    couples: ClassVar[str] = "rows"
    convex: ClassVar[bool] = False
    BOUNDS: ClassVar = {"k": whole(), "sign": one_of(*SIGNS)}

    @property
    def most_nonzero(self) -> int:
        """Number of entries of a row that may differ from zero."""
        return int(self.k)

    @property
    def nonnegative(self) -> bool:
        """True where the set holds no negative entry."""
        return self.sign == "nonnegative"

    @property
    def is_cone(self) -> bool:
        """True: multiples have as many entries."""
        return True

    def prox(self, rows: NDArray, step: float) -> NDArray:
        """Keep the largest entries of each row, the first ones of equals, and zero the others."""
        kept = np.maximum(rows, 0) if self.nonnegative else rows.copy()
        if self.k < rows.shape[1]:
            # Stable: which of equal entries stay must not depend on the machine.
            order = np.argsort(-np.abs(kept), axis=1, kind="stable")
            np.put_along_axis(kept, order[:, self.k :], 0, axis=1)
        return kept

    def conjugate(self, rows: NDArray) -> NDArray:
        """Return 0 where no entry could grow, else infinity: the set contains its multiples."""
        most = rows.max(axis=1, initial=0) if self.nonnegative else np.abs(rows).max(axis=1)
        return np.where(most > 0, np.inf, 0.0)
