"""Names for the kinds of arrays that functions take."""

from __future__ import annotations

from typing import TypeAlias

import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Matrix"]

Matrix: TypeAlias = "NDArray | sp.sparray"  # dense, or sparse in CSR format; rows are samples
