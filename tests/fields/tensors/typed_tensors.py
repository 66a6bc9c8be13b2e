"""What a user's type checker sees of tensors: checked as `tests/typed` is, never run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import OnlineCPDictionary

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))
assert_type(OnlineCPDictionary.convergent(3).fit(X), OnlineCPDictionary)
assert_type(OnlineCPDictionary(3).fit(X), OnlineCPDictionary)
