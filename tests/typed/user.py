"""What a user's type checker sees: checked by mypy in strict mode and by pyright, never run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF

X: NDArray[np.float64] = np.random.default_rng(0).random((50, 6))


def batches() -> Iterator[NDArray[np.float64]]:
    """Yield batches without end."""
    while True:
        yield X


# what learns returns itself
assert_type(OnlineNMF(3).fit(X), OnlineNMF)
assert_type(OnlineNMF(3).partial_fit(X), OnlineNMF)
assert_type(OnlineNMF(3).fit_stream(batches(), n_batches=9), OnlineNMF)
assert_type(OnlineNMF.convergent(3).fit(X), OnlineNMF)
assert_type(OnlineDictionaryLearning(3).fit(X), OnlineDictionaryLearning)

# results are arrays, numbers, or what the user asked for
model = OnlineNMF(3, loss="kl", alpha=0.1, random_state=0).fit(X)
atoms: NDArray[Any] = model.components_
steps: int = model.n_steps_
codes: NDArray[Any] = model.transform(X)
again: NDArray[Any] = model.inverse_transform(codes)
assert_type(atomstream.load(Path("model.atoms"), kind=OnlineNMF), OnlineNMF)

# mistakes that a checker finds before the program runs
OnlineNMF(loss=3)  # type: ignore[arg-type]
OnlineNMF("twenty")  # type: ignore[arg-type]
OnlineNMF(fixed_components=None)  # type: ignore[arg-type]
OnlineNMF(atom=3)  # type: ignore[call-arg]
