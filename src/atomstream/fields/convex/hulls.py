"""A dictionary whose atoms lie in the hulls of representative samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, dense
from atomstream.base.saved_fields import ANY, array, count
from atomstream.dictionaries.rows import Derived, Rows
from atomstream.penalties.base import Penalty


class NamedRows(NamedTuple):
    """Rows of the stream, and where they come from.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, n_features)
        Without gaps.
    places : ndarray of int of shape (n,)
        Their places in the stream, from 0.
    ids : ndarray of shape (n,)
        What the caller calls them.
    observed : ndarray of bool of shape (n, n_features), or None
        False where an entry was missing and has been filled in; None where all were observed.
    """

    X: Any
    places: NDArray
    ids: NDArray
    observed: NDArray | None = None

    def first(self, n: int) -> NamedRows:
        """Return the first so many rows."""
        marks = None if self.observed is None else self.observed[:n]
        return NamedRows(self.X[:n], self.places[:n], self.ids[:n], marks)


class Hulls(Derived):
    """Atoms in the convex hulls of their representatives.

    Parameters
    ----------
    samples : ndarray or csr_array of shape (n_representatives, n_features)
        The representatives of all atoms, those of the first atom first; float32 or float64.
    weights : ndarray of shape (n_components, n_representatives)
        Nonnegative, each row of sum one and zero outside the atom's own representatives.
    sizes : ndarray of int of shape (n_components,), or None
        Numbers of representatives of each atom; None where all atoms share one region.
    indices : ndarray of int of shape (n_representatives,)
        Places of the representatives in the stream, from 0.
    ids : ndarray of shape (n_representatives,)
        What the caller calls them.
    observed : ndarray of bool of shape (n_representatives, n_features), or None
        False where an entry of a representative was missing and has been filled in; None where
        all were observed.
    """

    SAVED = (
        *(array("samples", "n d", finite=True), array("weights", "r n", np.float64, at_least=0)),
        *(array("sizes", "r", "iu", at_least=1, optional=True), array("indices", "n", "iu")),
        *(array("ids", "n", ANY), count("n_swaps"), count("begun")),
        array("observed", "n d", bool, optional=True),
    )

    def __init__(
        self,
        samples: Matrix,
        weights: NDArray,
        sizes: NDArray | None,
        indices: NDArray,
        ids: NDArray,
        observed: NDArray | None = None,
    ) -> None:
        self.samples: Any = samples
        self.weights, self.sizes = weights, sizes
        self.indices, self.ids, self.observed = indices, ids, observed
        self.n_swaps = 0
        # Rows before this place were representatives from the start.
        self.begun = int(indices.max()) + 1

    _known: Rows | None = None

    def check_saved(self, **sizes: int) -> None:
        """Refuse weights outside of an atom's region, or that are no shares: sums and places."""
        (r, n), outside = self.weights.shape, np.ones(self.weights.shape, bool)
        for atom in range(r):
            outside[atom, self.region(atom)] = False
        good = self.sizes is None or self.sizes.sum() == n
        if not (
            good and np.allclose(self.weights.sum(axis=1), 1) and not self.weights[outside].any()
        ):
            raise ValueError("weights of representatives that are no shares of an atom's own")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of atoms and of features."""
        return len(self.weights), self.samples.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the representatives' entries."""
        return self.samples.dtype

    @property
    def rows(self) -> Rows:
        """The atoms as a dictionary of rows, formed once per change."""
        if self._known is None:
            atoms = np.asarray(self.weights @ self.samples.astype(np.float64))
            self._known = Rows(atoms.astype(self.dtype, copy=False))
        return self._known

    def region(self, atom: int) -> slice:
        """Return which representatives an atom may use."""
        if self.sizes is None:
            return slice(0, self.samples.shape[0])
        ends = np.cumsum(self.sizes)
        return slice(int(ends[atom] - self.sizes[atom]), int(ends[atom]))

    def places(self) -> tuple[NDArray, NDArray]:
        """Return the representatives of all atoms in one array, and where those of each begin."""
        n, r = self.samples.shape[0], len(self.weights)
        regions = [np.arange(*self.region(j).indices(n)) for j in range(r)]
        return np.concatenate(regions), np.cumsum([0, *map(len, regions)])

    def replace(self, index: NDArray, rows: NDArray, atoms: Penalty) -> None:
        """Refuse: an atom is made of samples, not of what they lack."""
        raise TypeError("Atoms in hulls are not replaced by rows.")

    def swap(self, weights: NDArray, source: NDArray, rows: NamedRows, n_swaps: int) -> None:
        """Put other weights in place, and rows of a batch in the places of representatives.

        Parameters
        ----------
        weights : ndarray of shape (n_components, n_representatives)
        source : ndarray of int of shape (n_representatives,)
            n for the representative n as it is, N + t for row t of the batch.
        rows : NamedRows
            The batch.
        n_swaps : int
            How many swaps led there.
        """
        # Sources below N are samples that stay, the others rows of the batch.
        new = np.flatnonzero(source >= len(source))
        known = {"weights": weights, "n_swaps": self.n_swaps + n_swaps, "_known": None}
        if len(new):
            taken = source[new] - len(source)
            places, (ids, names) = self.indices.copy(), alike(self.ids.copy(), rows.ids)
            places[new] = rows.places[taken]
            ids[new] = names[taken]
            X = rows.X
            if sp.issparse(self.samples):
                both = sp.vstack([self.samples, sp.csr_array(X)], format="csr")
                samples = both[source].astype(self.dtype)
            else:
                samples = self.samples.copy()
                samples[new] = dense(X[taken])
            known |= {"samples": samples, "indices": places, "ids": ids}
            known["observed"] = self._marks(new, taken, rows)
        vars(self).update(known)

    def _marks(self, new: NDArray, taken: NDArray, rows: NamedRows) -> NDArray | None:
        """Return which entries were observed once these rows are in these places."""
        if self.observed is None and rows.observed is None:
            return None
        marks = np.ones(self.samples.shape, bool) if self.observed is None else self.observed.copy()
        marks[new] = True if rows.observed is None else rows.observed[taken]
        return None if marks.all() else marks


def alike(*names: NDArray) -> tuple[NDArray, ...]:
    """Return names of rows as they are, or all as texts where their kinds differ."""
    if len({part.dtype.kind for part in names}) == 1:
        return names
    return tuple(np.array([str(name) for name in part], dtype=object) for part in names)
