"""Names for the kinds of arrays that functions take."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

__all__ = ["Matrix", "Samples", "Shaped"]


class Shaped(Protocol):
    """A frame, a sparse matrix, a labelled array: whatever has a shape."""

    @property
    def shape(self) -> Any:
        """Lengths of the axes."""


Matrix: TypeAlias = "NDArray | sp.sparray"  # dense, or sparse in CSR format; rows are samples
# What people give: checked before use.
Samples: TypeAlias = ArrayLike | Shaped
