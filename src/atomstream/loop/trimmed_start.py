"""The start under a trimmed loss: outliers found on a low rank, atoms learned without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.coders import ActiveSet, ProjectedGradient
from atomstream.dictionaries.rows import Rows
from atomstream.loop.algorithm import Algorithm
from atomstream.loop.explaining import CodingOptions, Whole
from atomstream.loop.online import learn
from atomstream.losses import Squared, robust_scales
from atomstream.losses.robust import NORMAL
from atomstream.memory.state import State
from atomstream.memory.usage import Usage
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy, Clock
from atomstream.schedules import Power
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.reseeding import Reseeding, starting_atoms
from atomstream.updates.trimmed_descent import robust_scale

# Thresholds in robust deviations that the schedules begin with. Large outliers among like rows need
# a narrow one, sparse atoms and few outliers a wide one: no single one serves all data.
WIDE = (40.0, 20.0, 12.0, 8.0, 5.0, 3.5)
N_FALLS, N_LAST = 80, 30  # alternations while the threshold falls, and at its end
N_PASSES, ROWS_PER_BATCH = 50, 32  # over the cleaned rows
MAX_BUFFER = 4096  # rows that a start is made from
ROWS_PER_ATOM = 10  # that a stream keeps before it starts
LOST = 5.0  # times the median scale of the rows: those beyond were not explained by the low rank


def n_warm_up_rows(n_components: int, n_rows: float) -> int:
    """Return how many rows a start is made from, of data of this size or of a stream (inf)."""
    if np.isinf(n_rows):
        return min(ROWS_PER_ATOM * n_components, MAX_BUFFER)
    return min(int(n_rows), MAX_BUFFER)


def joined(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several batches as one, dense."""
    X = [b.X.toarray() if sp.issparse(b.X) else b.X for b in batches]
    weights = [
        np.ones(len(x)) if b.weights is None else b.weights for x, b in zip(X, batches, strict=True)
    ]
    masks = [
        np.ones(x.shape, bool) if b.mask is None else b.mask
        for x, b in zip(X, batches, strict=True)
    ]
    return Batch(np.concatenate(X), np.concatenate(weights), np.concatenate(masks))


class _Cleaned(NamedTuple):
    """Rows as a low rank explains them, and how well.

    Attributes
    ----------
    low : ndarray of shape (n_samples, n_features)
        The low rank.
    outliers : ndarray of bool of shape (n_samples, n_features)
    scale : float
        Robust scale of the errors.
    """

    low: NDArray
    outliers: NDArray
    scale: float


def trimmed_start(
    batch: Batch, n_components: int, algorithm: Algorithm, rng: np.random.Generator
) -> Rows:
    """Return a dictionary, with its scale, made from rows of which some entries are outliers.

    Parameters
    ----------
    batch : Batch
        The rows of a warm-up.
    n_components : int
    algorithm : Algorithm
        What learns from the dictionary.
    rng : numpy.random.Generator
    """
    X = batch.X.toarray() if sp.issparse(batch.X) else batch.X
    deviations = algorithm.objective.loss.deviations  # type: ignore[attr-defined]
    found = clean_rows(X.astype(np.float64), batch.mask, n_components, deviations, rng)
    rows = np.where(found.outliers, found.low, X)
    errors = np.where(found.outliers, 0.0, X - found.low)
    own = robust_scales(errors, None if batch.mask is None else batch.mask & ~found.outliers)[:, 0]
    weights = np.ones(len(X)) if batch.weights is None else batch.weights
    weights = np.where(own <= LOST * max(float(np.median(own)), np.finfo(float).tiny), weights, 0.0)
    low = 0.0 if getattr(algorithm.objective.atoms, "nonnegative", False) else -np.inf
    cleaned = Batch(np.maximum(rows, low).astype(X.dtype), weights)
    dictionary = _learned(cleaned, n_components, algorithm, rng)
    if not algorithm.objective.loss.threshold:  # type: ignore[attr-defined]
        # Rows without outliers at hand are coded in no time, and exactly.
        codes, *_ = Whole().explain(cleaned, dictionary, _plain(algorithm), CodingOptions(EXACT))
        dictionary.scale = robust_scale(replace(batch, X=X), codes, dictionary)
    return dictionary


EXACT = Accuracy(violation=1e-2)


def _plain(algorithm: Algorithm) -> Algorithm:
    """Return the algorithm for the same sets under the squared loss."""
    objective = replace(algorithm.objective, loss=Squared())
    n_jobs = getattr(algorithm.coder, "n_jobs", 1)
    kind: Any = ActiveSet if objective.codes.polyhedral else ProjectedGradient
    updater: Any = algorithm.updater
    descent = BlockCoordinate(updater.damping, updater.fixed)
    return Algorithm(objective, kind(n_jobs=n_jobs), descent, Reseeding(descent.patience))


def _learned(
    batch: Batch, n_components: int, algorithm: Algorithm, rng: np.random.Generator
) -> Rows:
    """Return the dictionary that passes over cleaned rows lead to under the squared loss."""
    plain, n_rows = _plain(algorithm), batch.X.shape[0]
    atoms = plain.objective.atoms
    start = Rows(starting_atoms(batch, n_components, "samples", penalty=atoms, rng=rng))
    memory = plain.statistics.start(*start.shape, plain.objective.loss)
    state, clock = State(start, memory, Usage(n_components)), Clock(Power())
    weights: Any = batch.weights
    for epoch in range(N_PASSES):
        clock.horizon = batch.mass if epoch else np.inf
        clock.accuracy = max(0.2 / (1 + epoch), 1e-2)
        order = rng.permutation(n_rows)
        cuts = [order[at : at + ROWS_PER_BATCH] for at in range(0, n_rows, ROWS_PER_BATCH)]
        batches = (Batch(batch.X[cut], weights[cut]) for cut in cuts)
        learn(batches, state, plain, clock, rng)
    return state.dictionary


def clean_rows(
    X: NDArray, mask: NDArray | None, rank: int, deviations: float, rng: np.random.Generator
) -> _Cleaned:
    """Return rows without their outliers, by the schedule that ends with the smallest loss.

    That is the trimmed loss at the smallest scale of all: a scale alone, a median, does not see
    good entries that are dropped.
    """
    rank = min(rank, *X.shape)
    seen = np.ones(X.shape, bool) if mask is None else mask
    first = _one_direction(X, seen)
    seed = rng.integers(2**63)
    tried = [
        _fallen(X, seen, first, rank, (wide, deviations), np.random.default_rng(seed))
        for wide in WIDE
    ]
    limit = deviations * min(one.scale for one in tried)
    return min(tried, key=lambda one: float(np.minimum(np.abs(X - one.low), limit)[seen].sum()))


def _one_direction(X: NDArray, seen: NDArray) -> NDArray:
    """Return multiples of the median row, by medians of ratios: what outliers do not move."""
    holes = np.where(seen, X, np.nan)
    median = np.nan_to_num(np.nanmedian(holes, axis=0)) if seen.any() else np.zeros(X.shape[1])
    large = np.abs(median) >= np.median(np.abs(median))
    if not median.any():
        return np.zeros_like(X)
    large &= median != 0
    ratios = np.where(seen[:, large], X[:, large] / median[large], np.nan)
    some = seen[:, large].any(axis=1)
    sizes = np.zeros(len(X))
    sizes[some] = np.nanmedian(ratios[some], axis=1)
    return np.outer(sizes, median)


def _fallen(
    X: NDArray,
    seen: NDArray,
    low: NDArray,
    rank: int,
    ends: tuple[float, float],
    rng: np.random.Generator,
) -> _Cleaned:
    """Alternate between a low rank and what lies beyond a threshold that falls."""
    wide, narrow = ends
    basis = rng.standard_normal((X.shape[1], rank))
    start = np.where(seen, X - low, 0.0)
    row = np.abs(low).sum(axis=0)
    for _ in range(2):
        basis = start.T @ (start @ basis)
        basis[:, 0] = row if row.any() else basis[:, 0]
        basis, _ = np.linalg.qr(basis)
    for step in range(N_FALLS + N_LAST + 1):
        errors = np.abs(X - low)
        scale = NORMAL * float(np.median(errors[seen])) if seen.any() else 0.0
        wanted = wide * (narrow / wide) ** min(step / N_FALLS, 1.0)
        outliers = errors > wanted * scale
        if step == N_FALLS + N_LAST:
            break
        filled = np.where(seen & ~outliers, X, low)
        basis, _ = np.linalg.qr(filled.T @ (filled @ basis))
        low = (filled @ basis) @ basis.T
    return _Cleaned(low, outliers | ~seen, scale)
