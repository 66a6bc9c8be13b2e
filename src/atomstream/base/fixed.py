"""Which atoms of a dictionary stay as they are."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Fixed: TypeAlias = int | tuple[int, ...]  # the first so many, or those at these places


def are_fixed(fixed: Fixed, n_atoms: int) -> NDArray:
    """Return whether each atom stays, (n_atoms,)."""
    stays = np.zeros(n_atoms, bool)
    stays[slice(fixed) if isinstance(fixed, int) else list(fixed)] = True
    return stays


def fixed_atoms(choice: Any, n_atoms: int) -> Fixed:
    """Return which atoms stay, from a number of first ones, a mask or indices.

    Parameters
    ----------
    choice : int, array-like of bool of shape (n_atoms,), or array-like of int
    n_atoms : int

    Raises
    ------
    ValueError
        For anything else, and for atoms that there are not.
    """
    if isinstance(choice, int | np.integer) and not isinstance(choice, bool):
        if choice < 0:
            raise ValueError(
                f"fixed_components must be a whole number of at least 0, got {choice!r}."
            )
        if choice > n_atoms:
            raise ValueError(
                f"fixed_components must be at most n_components={n_atoms}, got {choice}."
            )
        return int(choice)
    places = np.asarray(choice)
    if places.dtype == bool and places.shape == (n_atoms,):
        places = np.flatnonzero(places)
    if places.ndim != 1 or (len(places) and places.dtype.kind not in "iu"):
        raise ValueError(
            "fixed_components must be a whole number of at least 0, a mask of shape "
            f"({n_atoms},), or indices of atoms, got {choice!r:.80}."
        )
    if len(places) and not (places.min() >= 0 and places.max() < n_atoms):
        raise ValueError(
            f"fixed_components must name atoms from 0 to {n_atoms - 1}, got {choice!r:.80}."
        )
    found = tuple(sorted({int(place) for place in places}))
    # The first so many are the usual case, for which sweeps need no reordering.
    return len(found) if found == tuple(range(len(found))) else found
