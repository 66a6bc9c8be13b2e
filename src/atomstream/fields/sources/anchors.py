"""Profiles that are known, exactly or within ranges, among those that are found."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.memory.by_feature import features_per_block
from atomstream.memory.gram import GramSums
from atomstream.updates.base import Updater

N_SWEEPS = 5  # over the profiles, as `BlockCoordinate` makes where features have sums of their own


@dataclass(frozen=True, eq=False)
class _InRanges(Updater[Any]):
    """Minimise the surrogate over one entry of an atom at a time, between its ends.

    Parameters
    ----------
    low, high : ndarray of shape (n_components, n_features)
    """

    low: NDArray
    high: NDArray
    statistics: ClassVar[GramSums] = GramSums(by_feature=True)
    weighs_entries: ClassVar[bool] = True
    descends_on_full_data: ClassVar[bool] = True
    patience: ClassVar[float] = np.inf  # a new atom in place of an idle one would leave the ranges

    def update(self, state: Any, objective: Any, clock: Any, latest: Any = ()) -> None:
        """Sweep over the atoms."""
        grams, cross = state.memory.grams, np.asarray(state.memory.cross)
        grams = state.memory.gram[None] if grams is None else grams  # None: all weigh the same
        atoms = np.clip(state.dictionary.atoms().astype(float), self.low, self.high)
        which = np.arange(atoms.shape[1]) // features_per_block(len(grams), atoms.shape[1])
        for _ in range(N_SWEEPS):
            for j, atom in enumerate(atoms):
                slope = cross[j] - np.einsum("fk,kf->f", grams[which, j], atoms)
                step = slope / np.maximum(grams[which, j, j], 1e-300)  # 0 where no code is above 0
                atoms[j] = np.clip(atom + step, self.low[j], self.high[j])
        state.dictionary.assign(atoms)


class ScaledTable(Protocol):
    """What is asked of a table of species: which are fitted, and what scales them."""

    @property
    def used(self) -> NDArray:
        """Places of the species that are fitted."""

    @property
    def scale(self) -> NDArray:
        """What each is divided by."""


def in_ranges(
    table: ScaledTable, n_factors: int, given: NDArray, a_value: float
) -> tuple[NDArray, _InRanges]:
    """Return profiles of `by_species` as atoms of the scaled table, and what keeps their ranges."""
    fits = given.shape[1] == len(table.used) and len(given) <= n_factors and a_value >= 0
    if not fits or (given < 0).any() or not (given > 0).any(axis=1).all():
        raise InputError(
            f"anchors are at most {n_factors} profiles of the {len(table.used)} species that are "
            "fitted, 0 or more but not 0 everywhere, NaN where free, with an a_value of 0 or more; "
            f"got the shape {given.shape} and {a_value!r}."
        )
    given = given / table.scale
    given /= np.sqrt(np.nansum(given**2, axis=1, keepdims=True))
    low, high = np.zeros((n_factors, given.shape[1])), np.full((n_factors, given.shape[1]), np.inf)
    low[: len(given)] = np.nan_to_num(max(1 - a_value, 0) * given)
    high[: len(given)] = np.nan_to_num((1 + a_value) * given, nan=np.inf)
    return np.nan_to_num(given), _InRanges(low, high)
