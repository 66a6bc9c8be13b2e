"""Patches of networks as rows: which of them differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct(patches: NDArray) -> tuple[NDArray, NDArray]:
    """Return the patches that differ, and which of them each patch is.

    Patches of one number are taken for one: the number is their sum with random weights, and
    checked.
    """
    numbers = patches @ np.random.default_rng(0).random(patches.shape[1])
    _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    if not np.array_equal(patches[first][places], patches):
        found, places = np.unique(patches, axis=0, return_inverse=True)
        return found, places.ravel()
    return patches[first], places
