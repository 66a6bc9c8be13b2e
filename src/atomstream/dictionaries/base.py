"""The interface of a dictionary, and products that do not depend on other rows."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Matrix
from atomstream.dictionaries.low_rank import Sums

TILE = 8  # rows that BLAS kernels handle together
# share of an atom's square that must be observed for a difference of products to be exact enough
LEFT = 0.01


class Dictionary(Protocol):
    """The products that coders and statistics need; not all dictionaries form their atoms."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of atoms and of features."""

    @property
    def dtype(self) -> np.dtype:
        """Type of the atoms' entries."""

    def atoms(self) -> NDArray:
        """Return the atoms as rows, (n_components, n_features), read-only."""

    def gram(self) -> NDArray:
        """Return the inner products of the atoms, (n_components, n_components), in float64."""

    def gram_on(self, observed: NDArray) -> NDArray:
        """Return the inner products of the atoms over the observed features, in float64."""

    def correlate(self, X: Matrix) -> NDArray:
        """Return the inner products of samples and atoms, (n_samples, n_components)."""

    def decode(self, codes: NDArray) -> NDArray:
        """Return the reconstructions, (n_samples, n_features)."""

    def overlap(self, cross: Sums) -> float:
        """Return the sum of the inner products of every row of ``cross`` with its atom."""

    def replace(self, index: NDArray, rows: NDArray, atoms: Any) -> None:
        """Put rows in the places of some atoms, as near as the set ``atoms`` allows."""


def same_in_any_company(X: NDArray, matrix: NDArray) -> NDArray:
    """Return ``X @ matrix``, each row's product the same whatever rows are beside it.

    BLAS takes other paths for one row or for the rows left over from its tiles: these few are
    padded to a tile (law 5).
    """
    n_left = X.shape[0] % TILE
    if not n_left:
        return X @ matrix
    tile = np.zeros((TILE, X.shape[1]), X.dtype)
    tile[:n_left] = X[-n_left:]
    if X.shape[0] == n_left:
        return (tile @ matrix)[:n_left]
    return np.concatenate([X[:-n_left] @ matrix, (tile @ matrix)[:n_left]])
