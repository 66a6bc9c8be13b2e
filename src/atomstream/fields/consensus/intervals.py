"""Intervals of the atoms of a consensus: what other rows would make of them, what noise adds."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.dictionaries.rows import Rows
from atomstream.fields.consensus.ensemble import Ensemble
from atomstream.fields.consensus.hidden_entries import ACCURACY

PERCENT = 95.0  # of intervals
WIDER = 1.25
MIN_SHARE = 0.5  # of the replicates: fewer that have an atom say nothing of its entries
LOW_ROWS = 0.1  # share of the rows in which a column should hold least
# Mean of normal noise that is cut at zero, over its root mean square: 1 / sqrt(pi), and some room.
CUT = 0.7


def interval(values: NDArray, middle: NDArray, least: float) -> NDArray:
    """Return the ends of intervals around the middles of rows, (2, ...).

    Both ends are as far from the middle as the percentile that is farther from it, and a quarter
    more, as far as the bound allows. What is zero in truth and cannot be negative is estimated too
    large in most replicates, and what is large too small for that: one end alone would miss it. The
    quarter is what all replicates err by together; it was chosen on one half of simulated data.
    """
    ends = np.percentile(values, [50 - PERCENT / 2, 50 + PERCENT / 2], axis=0)
    reach = WIDER * np.abs(ends - middle).max(axis=0)
    return np.array([np.maximum(middle - reach, least), middle + reach])


def honest(agreed: Any, ensemble: Ensemble, index: int) -> Any:
    """Return a consensus without the intervals that mean nothing, and the others wide enough.

    Replicates that differ in their starts alone say nothing of other rows, and the few that have an
    atom look alike because they were chosen for that: there the ends are NaN. Lower ends are moved
    down by what noise may have added to atoms that cannot be negative.

    Parameters
    ----------
    agreed : Consensus
    ensemble : Ensemble
        The replicates that it was made from.
    index : int
        Of the rank.
    """
    unknown = (
        agreed.share < MIN_SHARE if ensemble.draws.bootstrap else np.ones(len(agreed.share), bool)
    )
    low, high = (end.copy() for end in agreed.intervals)
    shares = [np.where(unknown, np.nan, end) for end in agreed.importance_intervals]
    if not unknown.all() and (agreed.atoms >= 0).all():
        low = np.maximum(low - added_by_noise(agreed.atoms, ensemble, index), 0).astype(low.dtype)
    low[unknown] = high[unknown] = np.nan
    return replace(agreed, intervals=(low, high), importance_intervals=(shares[0], shares[1]))


def added_by_noise(atoms: NDArray, ensemble: Ensemble, index: int) -> NDArray:
    """Return by how much noise that is cut at zero may have raised each entry of the atoms.

    Where there is no signal such noise has a mean. All rows share it, so it is the same in every
    replicate, and no percentiles of these show it. Each column has a floor: what it holds on
    average in the rows in which the atoms put least into it, but no more than the noise can make of
    that. An atom takes up as much of a floor as of a constant that is rebuilt by the codes.

    Returns
    -------
    ndarray of shape (n_components, n_features)
    """
    learner = next(each for each in ensemble.learners[index] if each.__sklearn_is_fitted__())
    batch, algorithm = learner._to_batch(ensemble.held), learner.algorithm_
    codes: Any = algorithm.coder.encode(batch, Rows(atoms), algorithm.objective, ACCURACY).values
    X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
    made = codes @ atoms
    X = X if batch.mask is None else np.where(batch.mask, X, made)
    n_least = max(1, int(LOW_ROWS * len(X)))
    rows = np.argpartition(made, n_least - 1, axis=0)[:n_least]
    held, left = (np.take_along_axis(values, rows, axis=0) for values in (X, X - made))
    floor = np.minimum(held.mean(axis=0), CUT * np.sqrt(np.mean(left**2, axis=0)))
    constant, _ = scipy.optimize.nnls(codes.astype(np.float64), np.ones(len(codes)))
    return np.outer(constant, floor)
