"""Codes of rows with outliers: entries beyond the threshold count as missing."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense, over_rows
from atomstream.base.parameters import whole
from atomstream.coders import ActiveSet, Coder, Codes, ProjectedGradient
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Squared, robust_scales
from atomstream.losses.robust import STAYS
from atomstream.penalties.base import kernel_form
from atomstream.problem import Accuracy, Batch, Needs, Objective

ROUGH = Accuracy(violation=1e-2)  # of the codes that only say which entries are outliers
# Reweightings, their fall, trims, sweeps of each and their end, while learning: what is far off is
# trimmed, and comes back in a later pass.
ROUGHLY = (15, 0.65, 6, 20, 3e-3)
FALL = 0.7  # of the floor, from one reweighting to the next
MIN_WEIGHT = 1e-3  # of an entry: below, products would lose their digits


@dataclass(frozen=True)
class Trimming(Coder):
    r"""Code by reweighted least squares with a falling floor, then on what is not trimmed.

    Codes first minimise sums of absolute errors: entry j weighs :math:`\min(1, f / |e_j|)`, as
    under Huber's loss, and f falls from the row's median error to its robust scale. That keeps what
    few large entries pull away. Then weights :math:`(1 + e_j^2/c^2)^{-2}`, c falling to the
    threshold, give back good entries that lay beyond it, and at last entries beyond are dropped and
    the rest is fitted exactly. Where that leaves more of a row than zeros would, its code is that
    of least absolute errors. Each row is coded by itself alone.

    Parameters
    ----------
    n_falls : int, default=20
        Reweightings.
    n_trims : int, default=10
        Fits after them, the last two to the entries within the threshold.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Holland, Welsch (1977), "Robust regression using iteratively reweighted least-squares".
    """

    n_falls: int = 20
    n_trims: int = 10
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
        inner = kind()
        if loss.scale >= STAYS and not loss.threshold:  # the squared loss
            return inner.encode(batch, dictionary, squared, accuracy, start)
        X = dense(batch.X)
        rough, shape = accuracy.violation > ROUGH.violation, objective.codes.shape
        free = shape is not None and shape.radius == np.inf and not shape.total
        if free:
            form = kernel_form(objective.codes)
            effort = ROUGHLY if rough else (self.n_falls, FALL, self.n_trims, 40, 1e-3)
            effort = effort if start is None else (0, 1.0, *effort[2:])
            values = self._by_kernel(X, batch.mask, dictionary, loss, form, start, effort)
        else:
            values = self._reweighted(X, batch.mask, dictionary, squared, inner, start)
        errors = np.abs(X - dictionary.decode(values))
        seen = errors <= loss.thresholds(errors, batch.mask)
        seen = seen if batch.mask is None else seen & batch.mask
        codes = inner.encode(Batch(X, mask=seen), dictionary, squared, accuracy, values)
        if not free:
            return codes
        # What is left of a row may tell nothing of an atom, and codes beyond all bounds cost no
        # more than its threshold. Those of least absolute errors are hardly ever worse than zeros.
        sizes, left = np.abs(X), np.abs(X - dictionary.decode(codes.values))
        if batch.mask is not None:
            sizes, left = sizes * batch.mask, left * batch.mask
        lost = left.sum(axis=1) > sizes.sum(axis=1)
        if lost.any():
            mask = None if batch.mask is None else batch.mask[lost]
            effort = (self.n_falls, FALL, 0, 40, 1e-3)
            codes.values[lost] = self._by_kernel(
                X[lost], mask, dictionary, loss, form, None, effort
            )
        return codes

    def _by_kernel(
        self,
        X: NDArray,
        mask: NDArray | None,
        dictionary: Dictionary,
        loss: Any,
        form: Any,
        start: NDArray | None,
        effort: tuple,
    ) -> NDArray:
        """Return codes of all rows, each by itself, on threads."""
        from atomstream._kernels.reweighted import encode

        atoms = dictionary.atoms().astype(np.float64)
        limits = (*effort, *loss.limits)
        nearest = min(max(0.0, form[2]), form[3])
        codes = np.full((len(X), len(atoms)), nearest) if start is None else start.astype(float)

        def code(block: slice) -> None:
            """Write the codes of a block of rows."""
            rows = X[block].astype(np.float64)
            seen = np.ones(rows.shape, bool) if mask is None else mask[block]
            encode(codes[block], rows, seen, atoms, tuple(map(float, form[:4])), limits)

        over_rows(code, len(X), atoms.size)
        return codes.astype(X.dtype)

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
