"""Profiles that are known, exactly or within ranges, among those that are found."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.domains.sources import SpeciesTable
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
    patience: ClassVar[float] = inf  # a new atom in place of an idle one would leave the ranges

    def update(self, state: Any, objective: Any, clock: Any, latest: Any = ()) -> None:
        """Sweep over the atoms."""
        grams, cross = state.memory.grams, np.asarray(state.memory.cross)
        grams = state.memory.gram[None] if grams is None else grams  # None: all weigh the same
        atoms = np.clip(state.dictionary.atoms().astype(float), self.low, self.high)
        which = np.arange(atoms.shape[1]) // features_per_block(len(grams), atoms.shape[1])
        for _ in range(N_SWEEPS):
            for j, atom in enumerate(atoms):
                curvature = grams[which, j, j]
                slope = cross[j] - np.einsum("fk,kf->f", grams[which, j], atoms)
                step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
                atoms[j] = np.clip(atom + step, self.low[j], self.high[j])
        state.dictionary.assign(atoms)


def in_ranges(
    table: SpeciesTable, n_factors: int, anchors: ArrayLike, a_value: float
) -> tuple[NDArray, _InRanges]:
    """Return known profiles as atoms of the scaled table, and what keeps all in their ranges."""
    given = np.atleast_2d(np.asarray(anchors, float))
    if given.shape[1] != len(table.used) or len(given) > n_factors or not a_value >= 0:
        raise InputError(
            f"anchors have the shape {given.shape} and an a_value of {a_value!r}; needed are at "
            f"most {n_factors} profiles of the {len(table.used)} species that are fitted, and 0 or "
            "more."
        )
    if not ((given >= 0) | np.isnan(given)).all() or not (given > 0).any(axis=1).all():
        raise InputError("anchors must be 0 or more, or NaN where free, and not 0 everywhere.")
    given = given / table.scale
    given /= np.sqrt(np.nansum(given**2, axis=1, keepdims=True))
    low, high = np.zeros((n_factors, given.shape[1])), np.full((n_factors, given.shape[1]), inf)
    known = ~np.isnan(given)
    low[: len(given)][known] = max(1 - a_value, 0) * given[known]
    high[: len(given)][known] = (1 + a_value) * given[known]
    return np.nan_to_num(given), _InRanges(low, high)
