"""Minimise the surrogate of a trimmed loss, and follow the scale of its errors."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Fixed, dense
from atomstream.coders.trimming import Trimming
from atomstream.exceptions import DataWarning
from atomstream.losses import robust_scales
from atomstream.losses.robust import MIN_ERROR_SHARE, STAYS, UNTRIMMED
from atomstream.memory.trimmed import TrimmedSums
from atomstream.problem import Batch, Clock, Needs, Objective
from atomstream.updates import BlockCoordinate, CodedBatch, Updater

# Of the spread of what atoms explain: smaller errors are no outliers, and where rows are explained
# exactly the scale would shrink until half of the entries were.
PRECISION = 0.01
MAX_TRIMMED = 0.35  # share of the entries: single ones that are wrong are fewer


@dataclass(frozen=True)
class TrimmedDescent(Updater[Any]):
    """Sweep over the atoms as `BlockCoordinate`, and move the scale towards that of the batch.

    The scale is that of all observed entries (`losses.robust_scales`), trimmed ones included, so
    that it cannot shrink by its own trimming, and at least a hundredth of the spread of what the
    atoms explain; it moves by the weight of the batch. With a threshold that is given it is not
    used.

    Parameters
    ----------
    damping, fixed, n_sweeps
        As of `BlockCoordinate`.
    patience : float, default=inf
        As of `BlockCoordinate`; atoms would be re-seeded by rows that hold outliers.
    """

    damping: float = 0.0
    fixed: Fixed = 0
    n_sweeps: int = 1
    patience: float = math.inf
    statistics: ClassVar[TrimmedSums] = TrimmedSums()
    coder: ClassVar[Trimming] = Trimming()
    needs: ClassVar[Needs] = {"loss": ("trims",), "atoms": ("rowwise",)}

    def update(
        self, state: Any, objective: Objective, clock: Clock, latest: Sequence[CodedBatch] = ()
    ) -> None:
        """Sweep over the atoms, then follow the scale of the latest batch."""
        # The errors are those of the dictionary that the codes were found with.
        found = [robust_scale(*item[:2], state.dictionary) for item in latest]
        self._descent().update(state, objective, clock, latest)
        loss: Any = objective.loss
        old = state.dictionary.scale or 0.0
        if not found or loss.threshold or old >= STAYS:
            return
        new = float(np.mean(found))
        state.dictionary.scale = old + clock.weight * (new - old) if old else new
        if state.memory.outlier_share > 0.5:
            stop_trimming(state.dictionary, stacklevel=10)

    def review(self, state: Any) -> None:
        """Warn where more is trimmed than single entries that are wrong."""
        share = state.memory.outlier_share
        if share > MAX_TRIMMED:
            warnings.warn(
                f"loss='trimmed' leaves out {share:.0%} of the entries, more than single outliers "
                "are; what is left may be explained well and the rest not at all. Look at "
                "outliers(X), and try more components, a threshold in units of the data (as in "
                "loss='trimmed:50'), or loss='huber'.",
                DataWarning,
                stacklevel=8,  # the caller of fit
            )

    def value(self, state: Any, objective: Objective) -> float:
        """Return the surrogate with damping and the penalty on the atoms that may change."""
        return self._descent().value(state, objective)

    def _descent(self) -> BlockCoordinate:
        return BlockCoordinate(self.damping, self.fixed, self.n_sweeps, self.patience)


def stop_trimming(dictionary: Any, stacklevel: int) -> None:
    """Let the scale of a dictionary be one at which nothing is trimmed, and say so.

    What most entries are is no outlier: they would be those that a few atoms explain exactly, such
    as zeros, and the rest would count as missing.
    """
    dictionary.scale = UNTRIMMED
    warnings.warn(
        "The entries are not a few outliers on what atoms explain: trimming would keep those that "
        "are alike, such as zeros, and drop the rest. Nothing is trimmed; take loss='huber'.",
        DataWarning,
        stacklevel=stacklevel + 1,
    )


def robust_scale(batch: Batch, codes: Any, dictionary: Any) -> float:
    """Return the robust standard deviation of the errors of the observed entries of a batch.

    It is at least a hundredth of the spread of what the atoms explain.
    """
    X, explained = dense(batch.X), dictionary.decode(codes.values)
    errors = np.abs(X - explained)
    seen = np.ones(X.shape, bool) if batch.mask is None else batch.mask
    counts = seen if batch.weights is None else seen & (batch.weights > 0)[:, None]
    if not counts.any():
        return 0.0
    least = max(PRECISION * spread(explained), MIN_ERROR_SHARE * float(np.abs(X[counts]).mean()))
    return max(float(robust_scales(errors[counts][None])[0, 0]), least)


def spread(rows: NDArray) -> float:
    """Return the root mean square of what rows differ by from their mean."""
    return float(np.sqrt(np.square(rows - rows.mean(axis=0), dtype=np.float64).mean()))
