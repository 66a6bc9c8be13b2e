"""Data at hand learned to the end under Kullback-Leibler: entry by entry, exactly."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import are_fixed, memory_there, over_rows
from atomstream.coders import Codes
from atomstream.loop.explaining import CodingOptions, measured, merged_atoms
from atomstream.loop.online import Algorithm, Progress
from atomstream.losses import KullbackLeibler
from atomstream.memory.state import State
from atomstream.problem import Accuracy, Batch, Clock, joined
from atomstream.updates.block_coordinate import _size_is_free
from atomstream.updates.majorise import _excess, _raise

log = logging.getLogger(__name__)

SWEEPS = 10  # over codes and atoms in turn, that make one round
MIN_GAIN = 1e-4  # share of the objective that a round gains at least, unless it is the last one
ROUNDING = 1e-15  # of the sum of the data: an objective below that is rounding
MAX_ROUNDS = 500
ROUGH = Accuracy(violation=0.05)  # of the codes that it begins with
BYTES, MEMORY_SHARE = 40, 0.25  # of an entry that is not zero, and of what the machine has
FIRST_REACH, LONGER = 0.5, 1.1  # of an extrapolation, and how it grows
TINY = float(np.finfo(float).tiny)
MIN_LEFT = 0.1  # of an entry is left by an extrapolation at least


def settles_by_coordinates(batches: Sequence[Batch], algorithm: Algorithm) -> bool:
    """Return whether `coordinate_rounds` minimise what the algorithm does.

    Copies of the data, by rows and by columns, must not take more than a quarter of the memory.
    """
    size = sum(np.count_nonzero(b.X) if isinstance(b.X, np.ndarray) else b.X.nnz for b in batches)
    fits = size * BYTES <= MEMORY_SHARE * memory_there()
    return bool(fits) and minimises_divergence(algorithm)


def minimises_divergence(algorithm: Algorithm) -> bool:
    """Return whether the divergence is all that counts, over codes and atoms of free sizes."""
    objective, updater = algorithm.objective, algorithm.updater
    return bool(
        objective.loss == KullbackLeibler()
        and algorithm.coder.uses_all_atoms
        and objective.codes.nonnegative
        and objective.atoms.nonnegative
        and _size_is_free(objective.codes, objective.atoms, at_most=False)
        # Damping would pull at atoms whose sweeps minimise the divergence alone.
        and not getattr(updater, "damping", 0.0)
    )


class Factors(NamedTuple):
    """Codes and atoms, a column of each for an atom.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_components)
    loads : ndarray of shape (n_features, n_components)
    """

    codes: NDArray
    loads: NDArray

    def beyond(self, before: Factors, reach: float) -> Factors:
        """Return what lies further on the way from ``before``, nothing of it below zero."""
        # Never to zero: there the divergence of an entry that is not zero has its pole.
        parts = zip(self, before, strict=True)
        return Factors(*(np.maximum(a + reach * (a - b), MIN_LEFT * a) for a, b in parts))

    def balanced(self, still: NDArray) -> Factors:
        """Return atoms of sum one, but for those that stay, and codes the other way."""
        # Codes times atoms stay as they are; an atom of zeros has no scale to share.
        sums = self.loads.sum(axis=0)
        scale = np.where((sums > 0) & ~still, sums, 1.0)
        return Factors(self.codes * scale, self.loads / scale)


class Alternation:
    r"""Codes and atoms in turn, each entry at the minimum of the divergence over it alone.

    Over one entry the slope of the divergence is a constant less a sum of poles. One pole with the
    value and the derivative of that sum takes its place (see `plain_sweep`), which gets nearer than
    a Newton step does and costs the same. From one sweep to the next codes and atoms are
    extrapolated, by less after a sweep that raised the objective, which is taken back.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,)
        Above zero.
    shares : ndarray of shape (n_samples, n_features), or None
        Weights of the entries, beside those of the samples; None stands for ones.
    still : ndarray of bool of shape (n_components,)
        Atoms that stay.
    held : ndarray of bool of shape (n_features, n_components), optional
        Entries of the atoms that stay.

    References
    ----------
    Hsieh, Dhillon (2011), "Fast coordinate descent methods with variable selection for non-negative
    matrix factorization", Algorithm 2, with Newton steps. Ang, Gillis (2019), "Accelerating
    nonnegative matrix factorization algorithms using extrapolation", Algorithm 3.
    """

    def __init__(
        self,
        X: NDArray | sp.csr_array,
        weights: NDArray,
        still: NDArray,
        shares: NDArray | None = None,
        held: NDArray | None = None,
    ) -> None:
        rows = sp.csr_array(X, dtype=np.float64)
        # A stored zero costs 0 log 0, which would make the objective NaN.
        rows.eliminate_zeros()
        # A row of weight w adds to the slopes of atoms what w times the row and its code do.
        columns = sp.csr_array((sp.diags_array(weights) @ rows).T)
        self._logs, self._shares, self._weights = columns.data, shares, weights[:, None]
        if shares is not None:
            where = (np.repeat(np.arange(len(shares)), np.diff(rows.indptr)), rows.indices)
            rows.data = rows.data * shares[where]
            columns = sp.csr_array((sp.diags_array(weights) @ rows).T)
        self._rows, self._columns = rows, columns
        self._still, self._moving = still, np.zeros((1, len(still)), bool)
        self._held = still[None] if held is None else still | held
        self.mass = float(columns.sum())

    def _sweep(
        self, codes: NDArray, data: sp.csr_array, atoms: NDArray, totals: NDArray, still: NDArray
    ) -> NDArray:
        """Sweep over the codes of all rows, in place; return what the stored values become."""
        from atomstream._kernels.divergence import sweep

        atoms, fitted = np.ascontiguousarray(atoms), np.empty(data.nnz)

        def part(rows: slice) -> None:
            """Sweep over some of the rows."""
            places = data.indptr[rows.start : rows.stop + 1]
            stored = places, data.indices, data.data
            sums, stay = (each if len(each) == 1 else each[rows] for each in (totals, still))
            sweep(codes[rows], stored, atoms, sums, stay, fitted[places[0] : places[-1]])

        over_rows(part, len(codes), atoms.size)
        return fitted

    def swept(self, found: Factors) -> tuple[Factors, float]:
        """Return codes and atoms after a sweep over both, and their divergence."""
        # The atoms are swept with the new codes (Gauss-Seidel): each sweep is a descent by itself.
        codes, loads = found.codes.copy(), found.loads.copy()
        shares = np.ones((1, len(loads))) if self._shares is None else self._shares
        self._sweep(codes, self._rows, loads.T, shares @ loads, self._moving)
        weighted = self._weights * codes
        totals = weighted.sum(axis=0)[None] if self._shares is None else shares.T @ weighted
        fitted = self._sweep(loads, self._columns, weighted.T, totals, self._held)
        # d(x, y) = x log(x / y) - x + y; all y together are the sums of codes times those of atoms.
        apart = float(self._columns.data @ np.log(self._logs / fitted)) - self.mass
        value = apart + float((totals * loads).sum())
        return Factors(codes, loads).balanced(self._still), value

    def descend(self, found: Factors) -> Iterator[tuple[Factors, float]]:
        """Yield codes, atoms and their divergence after each sweep; it never rises."""
        last = found = found.balanced(self._still)
        value, reach, most = np.inf, 0.0, 1.0
        while True:
            tried, now = self.swept(found.beyond(last, reach) if reach else found)
            # A plain sweep (reach 0) raises the objective by rounding at most: it is taken.
            if now <= value or not reach:
                last, found, value = found, tried, now
                # The bound of the reach grows half as fast as the reach, as in Ang and Gillis.
                most = min(most * (1 + 0.5 * (LONGER - 1)), 1.0)
                reach = min(reach * LONGER, most) if reach else FIRST_REACH
            else:
                # The reach that failed is the new bound, and a plain sweep comes next.
                last, most, reach = found, reach, 0.0
            yield found, value


def coordinate_rounds(
    batches: Sequence[Batch], state: State, algorithm: Algorithm, clock: Clock
) -> Iterator[Progress]:
    """Learn from all of the data in every round, as `atomstream.loop.settling.rounds`.

    A round is ten sweeps of `Alternation`. The last one gains less than 1e-4 of the objective, or
    leaves nothing of it but rounding.

    Parameters
    ----------
    batches, state, algorithm, clock
        As there.

    Yields
    ------
    Progress
        After every round, with the last block.
    """
    still = are_fixed(algorithm.updater.fixed, state.dictionary.shape[0])
    options = CodingOptions(ROUGH)
    codes = [algorithm.explain(batch, state.dictionary, options)[0].values for batch in batches]
    every = np.concatenate(codes).astype(np.float64)
    cuts = np.cumsum([len(part) for part in codes])[:-1]
    whole, given = joined(batches), state.dictionary.atoms()
    weights, features = whole.row_weights, whole.touched
    seen = weights > 0
    shares = None if whole.mask is None else whole.mask[seen].astype(float)
    held, start = _held(algorithm.updater, given.shape), given
    if features is not None:
        # Features without an entry count as one, the last: all that matters of them is their sum.
        whole, start = whole.merged(features), merged_atoms(state.dictionary, features).atoms()
        held = None if held is None else np.vstack([held[features], np.zeros_like(held[:1])])
    alternation = Alternation(whole.X[seen], weights[seen], still, shares, held)
    loads = np.where(False if held is None else held, 0.0, start.T).astype(np.float64)
    sweeps = alternation.descend(Factors(every[seen], loads))
    before = np.inf
    for number in range(1, MAX_ROUNDS + 1):
        found, value = list(islice(sweeps, SWEEPS))[-1]
        atoms = found.loads.T.copy()
        if features is not None:
            atoms = _parted(found.loads, features, given, loads[-1])
        _raise(atoms)
        # What is taken from an atom is given to its codes.
        scale = np.where(still, 1.0, _excess(atoms, algorithm.objective.atoms, free=True))
        atoms = np.where(still[:, None], given, atoms / scale[:, None])
        state.dictionary.assign(atoms)
        every[seen] = found.codes * scale
        yield _taken_in(batches, np.split(every, cuts), state, algorithm)
        log.debug("Round %d by coordinates: objective %.6g.", number, value)
        # Where data can be fitted exactly, shares of the objective are shares of rounding.
        if value <= ROUNDING * alternation.mass or before - value <= MIN_GAIN * abs(value):
            log.info("Settled after %d rounds by coordinates: objective %.6g.", number, value)
            return
        before = value


def _parted(loads: NDArray, features: NDArray, given: NDArray, before: NDArray) -> NDArray:
    """Return atoms on all features; those that counted as one have changed by one factor."""
    atoms: NDArray = given * (loads[-1] / np.maximum(before, TINY))[:, None]
    atoms[:, features] = loads[:-1].T
    return atoms


def _held(updater: Any, shape: tuple[int, ...]) -> NDArray | None:
    """Return which entries of the atoms, (n_features, n_components), belong to other atoms."""
    if not getattr(updater, "owners", ()):
        return None
    held: NDArray = np.zeros(shape[::-1], bool)
    features, others = updater.owned(shape[0])
    held[features] = others
    return held


def _taken_in(
    batches: Sequence[Batch], codes: Sequence[NDArray], state: State, algorithm: Algorithm
) -> Progress:
    """Put into the memory what the codes of all rows add up to, and nothing else."""
    # The residual is infinite: nothing certifies codes that were found entry by entry.
    pairs = [
        (batch, Codes(values.astype(batch.X.dtype), np.full(len(values), np.inf)))
        for batch, values in zip(batches, codes, strict=True)
    ]
    deltas = [measured(batch, found, state.dictionary, algorithm) for batch, found in pairs]
    delta = sum(deltas[1:], start=deltas[0])
    n_components, n_features = state.dictionary.shape
    loss = algorithm.objective.loss
    state.replace_past(algorithm.statistics.start(n_components, n_features, loss), delta)
    return Progress(*pairs[-1], delta, 0)
