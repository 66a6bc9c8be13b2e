"""What a user's type checker sees: checked by mypy in strict mode and by pyright, never run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import atomstream
from atomstream import (
    NetworkDictionary,
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    RandomWalkFactorization,
    SeriesDictionary,
    TopicModel,
    VideoDictionary,
)

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
assert_type(OnlineConvexMF.convergent(3).fit(X), OnlineConvexMF)
assert_type(OnlineCPDictionary.convergent(3).fit(X), OnlineCPDictionary)
assert_type(OnlineDictionaryLearning(3).fit(X), OnlineDictionaryLearning)
assert_type(OnlineConvexMF(3).fit(X), OnlineConvexMF)
assert_type(OnlineConvexMF(3).fit_stream(batches(), n_batches=9), OnlineConvexMF)
assert_type(OnlineCPDictionary(3).fit(X), OnlineCPDictionary)
assert_type(SeriesDictionary(3).fit(X), SeriesDictionary)
assert_type(TopicModel(3).fit(["one text", "another text"]), TopicModel)
assert_type(VideoDictionary(3).fit(X.reshape(5, 10, 6)), VideoDictionary)
assert_type(NetworkDictionary("path:3", 3).fit(X[:6] > 0.5), NetworkDictionary)
assert_type(RandomWalkFactorization(3, n_states=5).fit(np.zeros(9, int)), RandomWalkFactorization)

# results are arrays, numbers, or what the user asked for
model = OnlineNMF(3, loss="kl", alpha=0.1, random_state=0).fit(X)
atoms: NDArray[Any] = model.components_
steps: int = model.n_steps_
codes: NDArray[Any] = model.transform(X)
again: NDArray[Any] = model.inverse_transform(codes)
labels: NDArray[Any] = RandomWalkFactorization(3, n_states=5).fit(np.zeros(9, int)).partition(2)
ahead: NDArray[Any] = SeriesDictionary(3).fit(X).predict(4)
assert_type(atomstream.load(Path("model.atoms"), kind=OnlineNMF), OnlineNMF)

# mistakes that a checker finds before the program runs
OnlineNMF(loss=3)  # type: ignore[arg-type]
OnlineNMF("twenty")  # type: ignore[arg-type]
OnlineNMF(fixed_components=None)  # type: ignore[arg-type]
OnlineNMF(atom=3)  # type: ignore[call-arg]
