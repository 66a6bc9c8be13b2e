"""What a user's type checker sees of walks: checked as `tests/typed` is, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import RandomWalkFactorization

model = RandomWalkFactorization(3, n_states=5).fit(np.zeros(9, int))
assert_type(model, RandomWalkFactorization)
labels: NDArray[Any] = model.partition(2)
