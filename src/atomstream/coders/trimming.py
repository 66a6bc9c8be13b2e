"""Codes of rows with outliers: entries beyond the threshold count as missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.parameters import whole
from atomstream.coders.base import Coder, Codes
from atomstream.coders.quadratic import ActiveSet, ProjectedGradient
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Squared, robust_scales
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Needs, Objective

ROUGH = Accuracy(violation=0.05)  # of the codes that only say which entries are outliers
FALL = 0.5  # of the floor, from one reweighting to the next
MIN_WEIGHT = 1e-3  # of an entry: below, products would lose their digits


@dataclass(frozen=True)
class Trimming(Coder):
    r"""Code by reweighted least squares with a falling floor, then on what is not trimmed.

    Codes first minimise sums of absolute errors: entry j weighs :math:`\min(1, f / |e_j|)`, as
    under Huber's loss, and f falls from the row's median error to its robust scale. That keeps what
    few large entries pull away. Then entries beyond the threshold are dropped and the rest is
    fitted exactly, a few times over. Each row is coded by itself alone.

    Parameters
    ----------
    n_falls : int, default=10
        Reweightings.
    n_trims : int, default=3
        Fits to the entries within the threshold.
    n_jobs : int, default=1
        Threads over blocks of rows.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Holland, Welsch (1977), "Robust regression using iteratively reweighted least-squares".
    """

    n_falls: int = 10
    n_trims: int = 3
    n_jobs: int = 1
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    needs: ClassVar[Needs] = {"loss": ("trims",), "codes": ("rowwise", "convex")}
    BOUNDS: ClassVar = {"n_falls": whole(0), "n_trims": whole()}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy for the entries that are not trimmed.

        From ``start`` on, where that is given, the reweighting is left out.
        """
        loss: Any = objective.loss.at(dictionary)
        squared = replace(objective, loss=Squared())
        kind: Any = ActiveSet if objective.codes.polyhedral else ProjectedGradient
        inner = kind(n_jobs=self.n_jobs)
        X = batch.X.toarray() if sp.issparse(batch.X) else batch.X
        values = self._reweighted(X, batch.mask, dictionary, squared, inner, start)
        # Entries that count change little in the end: the last fit alone is exact.
        for n_left in range(self.n_trims, 0, -1):
            errors = np.abs(X - dictionary.decode(values))
            seen = errors <= loss.thresholds(errors, batch.mask)
            seen = seen if batch.mask is None else seen & batch.mask
            wanted = accuracy if n_left == 1 else ROUGH
            codes = inner.encode(Batch(X, mask=seen), dictionary, squared, wanted, values)
            values = codes.values
        return codes

    def _reweighted(
        self,
        X: NDArray,
        mask: NDArray | None,
        dictionary: Dictionary,
        objective: Objective,
        inner: Coder,
        start: NDArray | None,
    ) -> NDArray:
        """Return codes near those of least absolute errors."""
        if start is not None:
            return start
        values = inner.encode(Batch(X, mask=mask), dictionary, objective, ROUGH).values
        floor = None
        for _ in range(self.n_falls):
            errors = np.abs(X - dictionary.decode(values))
            scales = robust_scales(errors, mask)
            floor = scales if floor is None else np.maximum(FALL * floor, 0.5 * scales)
            tiny = np.finfo(X.dtype).tiny
            weights = np.minimum(1.0, (floor + tiny) / np.maximum(errors, tiny))
            weights = np.maximum(weights, MIN_WEIGHT)
            weights = weights if mask is None else weights * mask
            weighted = Batch(X, mask=weights.astype(np.float64))
            values = inner.encode(weighted, dictionary, objective, ROUGH, values).values
        return values
