"""Codes of float32 samples from products in float32, certified in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream._kernels.single import certify
from atomstream.coders.certificates import DualBound
from atomstream.dictionaries.base import Dictionary, same_in_any_company
from atomstream.dictionaries.rows import Rows
from atomstream.penalties.base import Penalty
from atomstream.problem import Batch

MIN_FEATURES, PER_ATOM = 256, 2  # with fewer, the products are too small a part of coding
# Between these l1 float32 holds the products of sparse rows: what it takes for zero is no part of
# l1, and nothing overflows.
LEAST_L1, MOST_L1 = 1e-30, 1e37


def pays(batch: Batch, dictionary: Dictionary, l1: float) -> bool:
    """Return whether products in float32 are exact enough for sparse rows, and save time."""
    n_atoms, n_features = dictionary.shape
    return (
        isinstance(batch.X, np.ndarray)
        and isinstance(dictionary, Rows)
        and batch.X.dtype == dictionary.dtype == np.float32
        and batch.mask is None
        and n_features >= max(MIN_FEATURES, PER_ATOM * n_atoms)
        and LEAST_L1 < l1 < MOST_L1
    )


def coder(
    dictionary: Dictionary, penalty: Penalty, form: tuple[float, ...], gap: float
) -> Callable[..., tuple[NDArray, NDArray]]:
    """Return what gives the codes of sparse rows, and their gaps, infinite where too large."""
    atoms, gram = dictionary.atoms(), np.ascontiguousarray(dictionary.gram())
    problem = (gram, form[:4], tuple(DualBound.of(gram, penalty)))
    rounding = 1.1 * atoms.shape[1] * 2.0**-24  # however BLAS adds

    def code(solve: Any, start: Any, X: NDArray, energy: NDArray, known: Any = None) -> Any:
        """Return codes by ``solve``, and their gaps; ``known`` are products formed before."""
        # Read-only, as atoms are: for other arrays the kernel would be compiled anew.
        X = np.ascontiguousarray(X).view()
        X.flags.writeable = False
        linear = same_in_any_company(X, atoms.T).astype(np.float64) if known is None else known
        codes, gaps = solve(start, linear, energy)
        certify(codes, gaps, (linear, energy), problem, (X, atoms, rounding))
        gaps[~(gaps <= gap)] = np.inf
        late = np.flatnonzero(gaps == np.inf)
        if known is None and len(late):  # by products that are exact now where it matters
            some = X[late], energy[late], linear[late]
            codes[late], gaps[late] = code(solve, codes[late], *some)
        return codes, gaps

    return code
