"""The start under a trimmed loss: outliers found on a low rank, atoms learned without them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.coders import ActiveSet, ProjectedGradient
from atomstream.coders.tolerances import RootTolerance
from atomstream.dictionaries.rows import Rows
from atomstream.loop.explaining import CodingOptions, Whole
from atomstream.loop.online import Algorithm, learn
from atomstream.losses import Squared, robust_scales
from atomstream.losses.robust import NORMAL, STAYS, UNTRIMMED
from atomstream.memory.state import State, Usage
from atomstream.problem import Accuracy, Batch, Clock
from atomstream.problem.batch import judged_rows
from atomstream.schedules import Power
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.reseeding import Reseeding, starting_atoms
from atomstream.updates.trimmed_descent import (
    MAX_TRIMMED,
    PRECISION,
    robust_scale,
    spread,
    stop_trimming,
)

# Robust deviations at which an entry counts a quarter, while a low rank is found: from one fit to
# the next they fall. Rows that are alike need a narrow beginning, sparse codes a wide one.
BEGINNINGS, NARROW = (3.0, 10.0), 1.5
N_FALLS, N_LAST = 20, 5  # fits with falling weights, and with trimmed entries
N_DELETED = 10  # of the falls: what was learned with errors that leave the entry out stays
MIN_FREE = 1e-9  # share of an error that a fit to the entry itself leaves at least
MAX_NUMBERS = 2**22  # held at a time for the Gram matrices of rows
RIDGE = 1e-6  # of the mean diagonal of a Gram matrix
TINY = np.finfo(float).tiny
N_PASSES, ROWS_PER_BATCH = 50, 64  # over the cleaned rows
MIN_ROWS, ROWS_PER_ATOM, MAX_ROWS = 1024, 10, 4096  # that a start is made from
MAX_JUDGED = 512  # rows by which it is judged whether to trim at all
CLEARLY, MIN_LEFT = 1.1, 0.01  # times the mean error of least squares; share of a mean entry
LOST = 5.0  # times the median scale of the rows: those beyond were not explained by the low rank


def n_warm_up_rows(n_components: int, n_rows: float) -> int:
    """Return how many rows a start is made from, of data of this size or of a stream (inf)."""
    wanted = ROWS_PER_ATOM * n_components
    if np.isfinite(n_rows):
        wanted = min(int(n_rows), max(wanted, MIN_ROWS))
    return min(wanted, MAX_ROWS)


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
    X = dense(batch.X)
    deviations = algorithm.objective.loss.deviations  # type: ignore[attr-defined]
    found = clean_rows(X.astype(np.float64), batch.mask, n_components, deviations, rng)
    rows = np.where(found.outliers, found.low, X)
    errors = np.where(found.outliers, 0.0, X - found.low)
    own = robust_scales(errors, None if batch.mask is None else batch.mask & ~found.outliers)[:, 0]
    weights = batch.row_weights
    weights = np.where(own <= LOST * max(float(np.median(own)), np.finfo(float).tiny), weights, 0.0)
    low = 0.0 if getattr(algorithm.objective.atoms, "nonnegative", False) else -np.inf
    cleaned = Batch(np.maximum(rows, low).astype(X.dtype), weights)
    dictionary = _learned(cleaned, n_components, algorithm, rng, N_PASSES)
    if not algorithm.objective.loss.threshold:  # type: ignore[attr-defined]
        # Rows without outliers at hand are coded in no time, and exactly.
        codes, *_ = Whole().explain(cleaned, dictionary, _plain(algorithm), CodingOptions(EXACT))
        dictionary.scale = robust_scale(replace(batch, X=X), codes, dictionary)
        whole = np.where(found.outliers & ~_seen(batch), found.low, X).astype(X.dtype)
        plain = _learned(Batch(whole, batch.weights), n_components, algorithm, rng, N_PASSES // 5)
        plain.scale = UNTRIMMED
        if _explains_less(replace(batch, X=X), dictionary, plain, algorithm):
            stop_trimming(plain, stacklevel=10)  # the caller of fit
            return plain
    return dictionary


def _seen(batch: Batch) -> NDArray:
    """Return which entries were observed."""
    return np.ones(batch.X.shape, bool) if batch.mask is None else batch.mask


def _explains_less(batch: Batch, trimmed: Rows, plain: Rows, algorithm: Algorithm) -> bool:
    """Return whether most entries are trimmed, or the mean absolute error of all is clearly raised.

    Where outliers are few and large it falls below that of least squares, for these
    follow outliers in vain. It rises where entries that are alike, such as zeros, are explained
    exactly and the rest counts as outliers.
    """
    some = batch.of(slice(None, None, max(1, len(batch.X) // MAX_JUDGED)))
    (ours, _, share), (theirs, *_) = (left(some, each, algorithm) for each in (trimmed, plain))
    theirs /= _freedom(plain, len(batch.X))
    # What most entries are is no outlier, and errors that are nothing beside the data tell nothing.
    least = MIN_LEFT * float(np.abs(some.X)[_seen(some)].mean())
    return share > 0.5 or ours > max(CLEARLY * theirs, least)


def _freedom(atoms: Rows, n_rows: int) -> float:
    """Return the share of the rows' freedom that atoms leave.

    With atoms for most rows least squares follow outliers after all.
    """
    return max(1 - atoms.shape[0] / n_rows, TINY)


def left(batch: Batch, dictionary: Rows, algorithm: Algorithm) -> tuple[float, float, float]:
    """Return mean absolute and squared errors of observed entries, and the share trimmed."""
    codes = algorithm.coder.encode(batch, dictionary, algorithm.objective, EXACT).values
    loss: Any = algorithm.objective.loss.at(dictionary)
    errors, seen = np.abs(batch.X - dictionary.decode(codes)), _seen(batch)
    trimmed = errors > loss.thresholds(errors, batch.mask)
    errors, trimmed = errors[seen], trimmed[seen]
    return float(errors.mean()), float(np.square(errors).mean()), float(trimmed.mean())


def end_as_squares(
    blocks: Sequence[Batch], state: State, algorithm: Algorithm, squares: State
) -> bool:
    """Take the atoms of least squares where trimming explains the rows no better; return whether.

    Where nothing is trimmed the loss is the squared one, and so its end has to be that one's, too.

    Parameters
    ----------
    blocks : sequence of Batch
        All rows.
    state : State
        What trimming has learned.
    algorithm : Algorithm
    squares : State
        What the squared loss has learned of the same rows.
    """
    untrimmed = Rows(squares.dictionary.atoms().copy(), UNTRIMMED)
    if (state.dictionary.scale or 0.0) < STAYS:
        judged = judged_rows(blocks)
        (ours, own_square, share), (theirs, square, _) = (
            left(judged, each, algorithm) for each in (state.dictionary, untrimmed)
        )
        theirs /= _freedom(untrimmed, blocks[0].X.shape[0])
        if (ours <= theirs) if share else (own_square <= square):
            return False
    deltas = [algorithm.explain(block, untrimmed, CodingOptions(EXACT))[1] for block in blocks]
    memory = algorithm.statistics.start(*untrimmed.shape, algorithm.objective.loss)
    memory.absorb(sum(deltas[1:], start=deltas[0]), 1.0)
    state.dictionary, state.memory, state.usage = untrimmed, memory, squares.usage
    return True


EXACT = Accuracy(violation=1e-2)


def _plain(algorithm: Algorithm) -> Algorithm:
    """Return the algorithm for the same sets under the squared loss."""
    objective = replace(algorithm.objective, loss=Squared())
    kind: Any = ActiveSet if objective.codes.polyhedral else ProjectedGradient
    updater: Any = algorithm.updater
    descent = BlockCoordinate(updater.damping, updater.fixed)
    return Algorithm(objective, kind(), descent, Reseeding(descent.patience))


def _learned(
    batch: Batch, n_components: int, algorithm: Algorithm, rng: np.random.Generator, n_passes: int
) -> Rows:
    """Return the dictionary that passes over rows lead to under the squared loss."""
    plain, n_rows = _plain(algorithm), batch.X.shape[0]
    atoms = plain.objective.atoms
    start = Rows(starting_atoms(batch, n_components, "samples", penalty=atoms, rng=rng))
    memory = plain.statistics.start(*start.shape, plain.objective.loss)
    state, clock = State(start, memory, Usage(n_components)), Clock(Power(), RootTolerance())
    clock.horizon, weights = batch.mass, np.asarray(batch.weights)
    for _ in range(n_passes):
        order = rng.permutation(n_rows)
        cuts = [order[at : at + ROWS_PER_BATCH] for at in range(0, n_rows, ROWS_PER_BATCH)]
        batches = (Batch(batch.X[cut], weights[cut]) for cut in cuts)
        learn(batches, state, plain, clock, rng)
    return state.dictionary


def clean_rows(
    X: NDArray, mask: NDArray | None, rank: int, deviations: float, rng: np.random.Generator
) -> _Cleaned:
    """Return a low rank of rows, and which of their entries are not of it.

    Of the beginnings it is the one that ends with the smallest trimmed loss, at the smallest scale
    of all: a scale alone does not see good entries that are dropped. Where rows are explained
    exactly the rows are tried once more with noise of a hundredth of their spread.
    """
    seen = np.ones(X.shape, bool) if mask is None else mask
    found = _cleaned(X, seen, rank, deviations, rng)
    if not seen.any():
        return found
    noise = PRECISION * spread(found.low)
    if found.scale >= noise and found.outliers[seen].mean() <= MAX_TRIMMED:
        return found
    # A low rank explains half of the entries exactly, whichever: with a little noise it cannot.
    rough = X + noise * rng.standard_normal(X.shape)
    tried = found, _cleaned(rough, seen, rank, deviations, rng)
    return min(tried, key=lambda one: float(one.outliers[seen].mean()))


def _cleaned(
    X: NDArray, seen: NDArray, rank: int, deviations: float, rng: np.random.Generator
) -> _Cleaned:
    """Return the low rank that the better of the beginnings ends with."""
    rank = min(rank, *X.shape)
    low = _one_direction(X, seen)
    basis = _first_basis(np.where(seen, X - low, 0.0), low, rank, rng)
    tried = [_fallen(X, seen, low, basis, (wide, deviations)) for wide in BEGINNINGS]
    limit = deviations * min(one.scale for one in tried)
    return min(tried, key=lambda one: float(np.minimum(np.abs(X - one.low), limit)[seen].sum()))


def _fallen(
    X: NDArray, seen: NDArray, low: NDArray, basis: NDArray, ends: tuple[float, float]
) -> _Cleaned:
    r"""Fit codes and basis in turn, each row and each feature by weights of its own.

    These are :math:`(1 + e^2/c^2)^{-2}` (Geman, McClure), c falling, then 1 within the threshold
    and 0 beyond. Filling in what weighs less, instead of solving, stays where outliers led to.

    A direction of a single feature would fit the outliers of this feature, and so hide them. In
    the first half of the falls the error of an entry is therefore that of its prediction from the
    other entries, :math:`e / (1 - h)` with h the leverage of the feature in the basis. Later h
    would take good entries of features that few others speak of for outliers.
    """
    (first, deviations), scale = ends, 0.0
    outliers = np.zeros(X.shape, bool)
    for step in range(N_FALLS + N_LAST + 1):
        errors = np.abs(X - low)
        if 0 < step < N_DELETED:
            errors /= np.maximum(1 - (basis**2).sum(axis=0), MIN_FREE)
        scale = float(robust_scales(errors[seen][None])[0, 0]) if seen.any() else 0.0
        outliers = seen & (errors > deviations * scale)
        if step == N_FALLS + N_LAST:
            break
        weights = np.where(seen & ~outliers, 1.0, 0.0)
        if step < N_FALLS:
            wide = first * (NARROW / first) ** (step / N_FALLS) * max(scale, TINY)
            with np.errstate(over="ignore"):  # weights of 0, where rows of zeros leave no scale
                weights = np.where(seen, 1 / (1 + (errors / wide) ** 2) ** 2, 0.0)
        codes = _fitted(X, weights, basis)
        basis = _fitted(X.T, weights.T, codes.T).T
        low, basis = codes @ basis, np.linalg.qr(basis.T)[0].T
    return _Cleaned(low, outliers | ~seen, scale)


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


def _first_basis(errors: NDArray, low: NDArray, rank: int, rng: np.random.Generator) -> NDArray:
    """Return orthonormal rows near the first direction and those of the clipped errors."""
    basis = rng.standard_normal((errors.shape[1], rank))
    limit = BEGINNINGS[0] * NORMAL * float(np.median(np.abs(errors)))
    clipped, row = np.clip(errors, -limit, limit), np.abs(low).sum(axis=0)
    for _ in range(2):
        basis = clipped.T @ (clipped @ basis)
        basis[:, 0] = row if row.any() else basis[:, 0]
        basis, _ = np.linalg.qr(basis)
    return basis.T


def _fitted(X: NDArray, weights: NDArray, rows: NDArray) -> NDArray:
    """Return the codes of weighted least squares, each row of X by its own weights."""
    rank, width = rows.shape
    codes, size = np.empty((len(X), rank)), max(1, MAX_NUMBERS // (rank * max(rank, width)))
    for cut in range(0, len(X), size):
        block = slice(cut, cut + size)
        grams = (weights[block, None, :] * rows) @ rows.T
        # Fewer entries than atoms may be left of a row.
        least = RIDGE * np.trace(grams, axis1=1, axis2=2) / rank + TINY
        grams[:, range(rank), range(rank)] += least[:, None]
        sides = (weights[block] * X[block]) @ rows.T
        codes[block] = np.linalg.solve(grams, sides[:, :, None])[:, :, 0]
    return codes
