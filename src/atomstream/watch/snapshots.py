"""The atoms of a model at a few moments of the stream: bounded, and thinned as it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 1 << 23  # of all snapshots of a model together
FULL = np.iinfo(np.int16).max  # entries are kept as shares of the largest one of their atom


class Snapshots:
    """Atoms of a model along the stream, at steps that are evenly spaced.

    When there are more than ``most``, every second one is dropped. Atoms are kept without their
    lengths, in 16 bits an entry: enough for cosines, within 1e-4, and for pictures. Of a dictionary
    so large that three do not fit into 8 MB none is kept.

    Parameters
    ----------
    most : int, default=16

    Attributes
    ----------
    n_samples : list of int
        Number of samples learned from at each snapshot.
    steps : list of int
        Number of batches.
    """

    def __init__(self, most: int = 16) -> None:
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Forget all snapshots."""
        self.every = 1
        self.n_samples: list[int] = []
        self.steps: list[int] = []
        self._kept: list[NDArray] = []

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def atoms(self) -> list[NDArray]:
        """Snapshots of shape (n_components, n_features), the largest entry of an atom 1 or -1."""
        return [kept.astype(np.float64) / FULL for kept in self._kept]

    def due(self, step: int) -> bool:
        """Return whether one is to be taken at this step, from 1."""
        return (step - 1) % self.every == 0

    def take(self, atoms: NDArray, step: int, n_samples: int) -> None:
        """Take a snapshot; atoms of another shape than before begin anew."""
        flat = np.asarray(atoms).reshape(len(atoms), -1)
        most = min(self.most, MOST_BYTES // (2 * max(flat.size, 1)))
        if self._kept and self._kept[0].shape != flat.shape:
            self.clear()
        if most < 3:
            return
        largest = np.abs(flat).max(axis=1, keepdims=True)
        shares = np.divide(flat, largest, out=np.zeros(flat.shape), where=largest > 0)
        self._kept.append(np.round(FULL * shares).astype(np.int16))
        self.steps.append(int(step))
        self.n_samples.append(int(n_samples))
        if len(self) > most:
            self._kept, self.steps = self._kept[::2], self.steps[::2]
            self.n_samples = self.n_samples[::2]
            self.every *= 2

    def saved(self) -> dict[str, Any]:
        """Return all of it, as numbers and arrays."""
        kept = np.array(self._kept) if self._kept else np.zeros((0, 0, 0), np.int16)
        return {
            "atoms": kept,
            "steps": np.array(self.steps, np.int64),
            "n_samples": np.array(self.n_samples, np.int64),
            "every": self.every,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what `saved` returned.

        Raises
        ------
        ValueError, KeyError, TypeError
            Where it does not fit together.
        """
        kept = np.asarray(saved["atoms"])
        steps, n_samples = (np.asarray(saved[name]) for name in ("steps", "n_samples"))
        good = kept.ndim == 3 and kept.dtype == np.int16
        if not good or not len(kept) == len(steps) == len(n_samples) or saved["every"] < 1:
            raise ValueError(f"snapshots of {kept.shape} at {steps.shape} steps")
        self._kept, self.every = list(kept), int(saved["every"])
        self.steps, self.n_samples = steps.astype(int).tolist(), n_samples.astype(int).tolist()
