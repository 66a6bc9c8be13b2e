"""What a user's type checker sees of networks: checked as `tests/typed` is, never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import NetworkDictionary

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))
assert_type(NetworkDictionary("path:3", 3).fit(X[:6] > 0.5), NetworkDictionary)
