"""What a user's type checker sees of series: checked as `tests/typed` is, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from atomstream import SeriesDictionary

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))
assert_type(SeriesDictionary(3).fit(X), SeriesDictionary)
ahead: NDArray[Any] = SeriesDictionary(3).fit(X).predict(4)
