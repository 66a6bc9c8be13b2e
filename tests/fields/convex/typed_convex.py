"""What a type checker sees of atoms made of samples: checked as `tests/typed` is, never run."""

from collections.abc import Iterator
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import OnlineConvexMF

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))


def batches() -> Iterator[NDArray[np.float64]]:
    """Yield batches without end."""
    while True:
        yield X


assert_type(OnlineConvexMF.convergent(3).fit(X), OnlineConvexMF)
assert_type(OnlineConvexMF(3).fit(X), OnlineConvexMF)
assert_type(OnlineConvexMF(3).fit_stream(batches(), n_batches=9), OnlineConvexMF)
