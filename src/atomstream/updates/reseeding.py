"""Atoms made from rows, seen as a weighted set: starting ones, and new ones for unused ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Fixed, Matrix, are_fixed
from atomstream.coders import Codes
from atomstream.memory.state import UNUSED, State, repeats
from atomstream.penalties.base import directions
from atomstream.problem import Batch, Objective

SAME = 1e-9  # rows whose random projections differ by less (relative) count as one point
EXPLAINED = 1e-10  # no atom is made of a row whose error is below this share of its energy


class AtomSet(Protocol):
    """The set of the atoms: of whole atoms, or of factors that make an atom together."""

    @property
    def nonnegative(self) -> bool:
        """Whether all entries are 0 or more."""

    def normalize(self, rows: NDArray) -> NDArray:
        """Return rows as atoms of the set."""


@dataclass(frozen=True)
class Reseeding:
    """Replace atoms long out of use, or equal to others, by remainders of badly explained rows.

    Not an update (the surrogate may rise): it happens between batches only, and the memory forgets
    the atoms.

    Parameters
    ----------
    patience : float, default=10
        Times n_components: the mass of samples without use after which an atom is replaced; with
        inf none is.
    n_shared : int, optional
        Where the first so many atoms are shared by data sets, replace none but these, and only
        without use. An atom of one data set rests while rows of others come, and one that some rows
        use stays even where it points like another one: two data sets may each need theirs.
    """

    patience: float = 10.0
    n_shared: int | None = None

    @property
    def redraws(self) -> bool:
        """Whether atoms of a start that repeat others are replaced before the first step."""
        return bool(np.isfinite(self.patience)) and self.n_shared is None

    def reseed(
        self,
        batch: Batch,
        codes: Codes,
        state: State,
        objective: Objective,
        fixed: Fixed,
        rng: np.random.Generator,
    ) -> int:
        """Replace idle atoms; rows are drawn in proportion to weight times loss.

        Returns
        -------
        int
            How many atoms were replaced.
        """
        longest = self.patience * len(state.usage.idle)
        # Nearly all steps end here, before anything is computed.
        if state.usage.idle.max() < longest:
            return 0
        idle = np.flatnonzero(state.usage.idle >= longest)
        stays = are_fixed(fixed, len(state.usage.idle))
        if self.n_shared is not None:
            energy = state.memory.atom_energy(state.dictionary)
            stays |= energy > UNUSED * energy.max()
            stays[self.n_shared :] = True
        idle = idle[~stays[idle]]
        if not len(idle):
            return 0
        losses = objective.losses(batch, codes.values, state.dictionary)
        losses[losses <= EXPLAINED * batch.energy] = 0
        # Rows that are explained worst are drawn most often: there an atom is missing.
        rows = _draw(
            losses, losses if batch.weights is None else losses * batch.weights, len(idle), rng
        )
        if not len(rows):
            return 0
        samples, decoded = _dense_rows(batch.X, rows), state.dictionary.decode(codes.values[rows])
        if batch.mask is not None:  # where nothing was observed nothing is lacking
            samples = batch.complete(decoded, rows)
        # Squares are a measure that all losses share. Rows of zeros lack nothing either.
        rest = ((samples - decoded) ** 2).sum(axis=1) > EXPLAINED * batch.energy[rows]
        rest &= batch.energy[rows] > 0
        if not rest.any():
            return 0
        samples, decoded = samples[rest], decoded[rest]
        lacking = objective.atoms.normalize(samples - decoded)
        empty = ~lacking.any(axis=1)  # nonnegative atoms, only excess: take the row itself
        if empty.any():
            lacking[empty] = objective.atoms.normalize(samples[empty])
        if not objective.loss.quadratic:
            lacking = _softened(lacking, batch, objective.atoms)
        # With fewer rows than idle atoms, the others wait for the next batch.
        idle = idle[: len(lacking)]
        state.dictionary.replace(idle, lacking, objective.atoms)
        # What was summed for the old direction would pull the new one back at the next update.
        state.memory.forget(idle)
        state.usage.forget(idle)
        return len(lacking)


def starting_atoms(
    batch: Batch,
    n_components: int,
    how: str,
    penalty: AtomSet,
    rng: np.random.Generator,
    soft: bool = False,
) -> NDArray:
    """Return a starting dictionary, (n_components, n_features), made from the first batch.

    The batch is seen as a weighted set: neither the order of its rows nor whether a row is repeated
    or weighted makes a difference.

    Parameters
    ----------
    batch : Batch
        Missing entries count as the mean of the feature's observed ones.
    n_components : int
        May exceed the number of rows: the rest are rows with each entry scaled at random.
    how : {"samples", "spread", "svd", "random"}
        Rows drawn in proportion to their weights, rows far from each other (k-means++), singular
        vectors (for nonnegative atoms the stronger of their two nonnegative parts), or random
        numbers.
    penalty : Penalty
        On the atoms; they start inside its set.
    rng : numpy.random.Generator
    soft : bool, default=False
        Whether to mix every atom half and half with the mean of the batch: multiplicative updates
        leave zeros as they are.

    References
    ----------
    Boutsidis, Gallopoulos (2008), "SVD based initialization: A head start for nonnegative matrix
    factorization".
    """
    X, points, point_weights = found = different_rows(batch, rng)
    if how == "random" or not len(points):
        noise = rng.standard_normal((n_components, X.shape[1]))
        return penalty.normalize((np.abs(noise) if penalty.nonnegative else noise).astype(X.dtype))
    n_drawn = min(n_components, len(points))
    if how == "svd":
        drawn_rows = _singular(
            X[points], point_weights, min(n_drawn, X.shape[1]), penalty.nonnegative, rng
        )
    elif how == "spread":
        drawn_rows = _dense_rows(X, points[_spread(X[points], point_weights, n_drawn, rng)])
    else:
        chances = point_weights / point_weights.sum()
        drawn_rows = _dense_rows(
            X, points[rng.choice(len(points), n_drawn, replace=False, p=chances)]
        )
        # Atoms start at one length, so parallel rows would be one atom twice.
        fresh = ~_parallel(penalty.normalize(drawn_rows))
        if not fresh.all():
            drawn_rows = drawn_rows[fresh]
            others = drawn_beside(drawn_rows, n_drawn - len(drawn_rows), found, np.asarray, rng)
            drawn_rows = np.concatenate([drawn_rows, others])
    # Too few different rows: repeat them with other proportions, so that no two atoms are equal.
    again = drawn_rows[rng.integers(len(drawn_rows), size=n_components - len(drawn_rows))]
    again *= rng.uniform(0, 2, again.shape).astype(again.dtype)
    rows = penalty.normalize(np.concatenate([drawn_rows, again]))
    return _softened(rows, batch, penalty) if soft else rows


def drawn_beside(
    atoms: NDArray,
    n_wanted: int,
    found: tuple[Matrix, NDArray, NDArray],
    fit: Callable[[NDArray], NDArray],
    rng: np.random.Generator,
) -> NDArray:
    """Return rows drawn as a start is, none of them parallel to another or to one of the atoms.

    Parameters
    ----------
    atoms : ndarray of shape (n_components, n_features)
        None of them parallel to another.
    n_wanted : int
        There may be fewer such rows.
    found : tuple
        What `different_rows` returns.
    fit : callable
        Brings rows into the set of the atoms.
    rng : numpy.random.Generator
    """
    X, points, weights = found
    rows, n_most = atoms, len(atoms) + n_wanted
    if len(points):
        chances = weights / weights.sum()
        points = points[rng.choice(len(points), len(points), replace=False, p=chances)]
    # Mostly the first ones will do.
    for cut in range(0, len(points), n_wanted):
        more = fit(_dense_rows(X, points[cut : cut + n_wanted]))
        rows = np.concatenate([rows, more[more.any(axis=1)]])
        rows = rows[~_parallel(rows)][:n_most]
        if len(rows) == n_most:
            break
    return rows[len(atoms) :]


def _parallel(rows: NDArray) -> NDArray:
    """Return which rows are parallel to an earlier one."""
    rows = directions(rows).astype(np.float64, copy=False)  # of any size
    return repeats(rows @ rows.T, np.zeros(len(rows)))


def different_rows(batch: Batch, rng: np.random.Generator) -> tuple[Matrix, NDArray, NDArray]:
    """Return complete rows, the indices of one of each that differs, and their summed weights."""
    # A row of zeros has no direction to start from.
    weights = np.where(batch.energy > 0, batch.row_weights, 0)
    X = batch.X if batch.mask is None else batch.complete(observed_means(batch, weights))
    # Equal rows have equal projections, and different rows almost never: sorting one number per row
    # finds the repeated ones.
    keys = np.asarray(X @ rng.standard_normal(X.shape[1]).astype(X.dtype))
    return X, *_points(keys, weights)


def _softened(rows: NDArray, batch: Batch, penalty: AtomSet) -> NDArray:
    """Return atoms mixed half and half with the mean of a batch."""
    return penalty.normalize(0.5 * rows + 0.5 * mean_row(batch, penalty))


def mean_row(batch: Batch, penalty: AtomSet) -> NDArray:
    """Return the direction of the mean of a batch, (1, n_features), inside the set of the atoms."""
    weights = batch.row_weights / batch.row_weights.max()
    return penalty.normalize(np.asarray(weights @ batch.X).reshape(1, -1).astype(batch.X.dtype))


def _singular(
    rows: Matrix, weights: NDArray, size: int, nonnegative: bool, rng: np.random.Generator
) -> NDArray:
    """Return the leading right singular vectors of weighted rows, or their stronger parts."""
    from sklearn.utils.extmath import randomized_svd

    # Rows times the roots of their weights have the weighted second moments.
    roots = np.sqrt(weights / weights.max()).astype(rows.dtype)
    weighted = sp.diags_array(roots) @ rows if sp.issparse(rows) else roots[:, None] * rows
    left, _, right = randomized_svd(weighted, size, random_state=int(rng.integers(2**31)))
    if not nonnegative:
        return right
    # The sign of a singular pair is free, so of its two nonnegative halves the heavier one is kept
    # (Boutsidis and Gallopoulos 2008, "SVD based initialization", NNDSVD).
    parts = np.maximum(right, 0), np.maximum(-right, 0)
    # A half weighs as much as the product of its lengths on both sides.
    ahead, behind = (
        np.linalg.norm(np.maximum(side * left, 0), axis=0) * np.linalg.norm(part, axis=1)
        for side, part in zip((1, -1), parts, strict=True)
    )
    return np.where((ahead >= behind)[:, None], *parts)


def observed_means(batch: Batch, weights: NDArray) -> NDArray:
    """Return the mean of the observed entries of each feature, 0 where there is none."""
    total, mass = weights @ batch.seen, weights @ batch.mask
    return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0).astype(batch.X.dtype)


def _points(keys: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    """Return one row of each distinct key, in order, and the summed weight of its rows."""
    # Stable, so that the first of equal rows stands for all of them.
    order = np.argsort(keys, kind="stable")
    order = order[weights[order] > 0]
    if not len(order):
        return order, weights[order]
    sizes = np.abs(keys[order])
    gaps = np.diff(keys[order]) > SAME * np.maximum(sizes[1:], sizes[:-1])
    firsts = np.flatnonzero(np.concatenate([[True], gaps]))
    return order[firsts], np.add.reduceat(weights[order], firsts)


def _spread(rows: Matrix, weights: NDArray, n_drawn: int, rng: np.random.Generator) -> NDArray:
    """Return the indices of rows that point in directions far from each other."""
    from sklearn.cluster import kmeans_plusplus
    from sklearn.preprocessing import normalize

    seed = int(rng.integers(2**31))
    # Scikit-learn takes rows shorter than rounding for zeros. A power of two rounds nothing.
    exponent = min(-int(np.frexp(abs(rows).max())[1]), np.finfo(rows.dtype).maxexp - 2)
    rows = rows * rows.dtype.type(2.0**exponent)
    return kmeans_plusplus(normalize(rows), n_drawn, sample_weight=weights, random_state=seed)[1]


def _draw(keys: NDArray, chances: NDArray, size: int, rng: np.random.Generator) -> NDArray:
    points, mass = _points(keys, chances)
    size = min(size, len(points))
    if size:
        return points[rng.choice(len(points), size, replace=False, p=mass / mass.sum())]
    return points


def _dense_rows(X: Matrix, rows: NDArray) -> NDArray:
    """Return a few rows as a dense array of their own."""
    return X[rows].toarray() if sp.issparse(X) else np.array(X[rows])
