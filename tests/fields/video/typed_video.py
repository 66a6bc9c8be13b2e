"""What a user's type checker sees of videos: checked as `tests/typed` is, never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import VideoDictionary

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))
assert_type(VideoDictionary(3).fit(X.reshape(5, 10, 6)), VideoDictionary)
