"""Sets that bound every entry by itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.penalties.base import ElasticNetOnSet, Shape


@dataclass(frozen=True)
class Free(ElasticNetOnSet):
    """The whole space; with ``l1`` the lasso penalty, with ``l1`` and ``l2`` the elastic net."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"

    def _project(self, rows: NDArray) -> NDArray:
        return rows


@dataclass(frozen=True)
class Nonnegative(ElasticNetOnSet):
    """Rows without negative entries."""

    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"
    _shape: ClassVar[Shape] = Shape(low=0.0)

    def _project(self, rows: NDArray) -> NDArray:
        return np.maximum(rows, 0)


@dataclass(frozen=True)
class Box(ElasticNetOnSet):
    """Rows with every entry between ``low`` and ``high``."""

    low: float = 0.0
    high: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    couples: ClassVar[str] = "entries"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"Box needs low < high, got low={self.low!r} and high={self.high!r}.")

    @property
    def shape(self) -> Shape:
        """The interval."""
        return Shape(low=self.low, high=self.high)

    def _project(self, rows: NDArray) -> NDArray:
        return np.clip(rows, self.low, self.high)
