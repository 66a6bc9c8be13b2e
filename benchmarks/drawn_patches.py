"""Grey patches of two photographs that are drawn where they are read: a stream of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.datasets import load_sample_images

SIZE = 20


@dataclass(frozen=True)
class DrawnPatches:
    """A shard of patches; who reads it draws them, from the number of the shard.

    Attributes
    ----------
    number : int
    n_rows : int, default=65536
    shift : float, default=0.0
        Added to every entry, for divergences.
    """

    number: int
    n_rows: int = 65_536
    shift: float = 0.0
    version: str = "1"

    @property
    def name(self) -> str:
        """Number of the shard."""
        return f"patches {self.number}"

    def read(self, first: int = 0, last: int | None = None) -> Iterator[np.ndarray]:
        """Yield some rows, float32 (n_rows, 400), 4096 at a time."""
        windows = _windows()
        rng = np.random.default_rng([11, self.number])
        which = rng.integers(0, len(windows), self.n_rows)
        tops, lefts = (rng.integers(0, n, self.n_rows) for n in windows.shape[1:3])
        for start in range(first, self.n_rows if last is None else last, 4096):
            some = slice(start, min(start + 4096, self.n_rows if last is None else last))
            rows = windows[which[some], tops[some], lefts[some]]
            yield rows.reshape(-1, SIZE * SIZE) + np.float32(self.shift)


@lru_cache
def _windows() -> np.ndarray:
    """Return a view of all patches of both photographs, (2, n_tops, n_lefts, 20, 20)."""
    grey = np.stack([p @ [0.2989, 0.5870, 0.1140] / 255 for p in load_sample_images().images])
    return np.lib.stride_tricks.sliding_window_view(grey.astype(np.float32), (SIZE, SIZE), (1, 2))
