"""Law 3: a call that raises leaves the model as it was."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator


class Transaction:
    """A block that changes a model wholly or not at all: if it raises, everything is put back.

    State, memory and dictionary replace their arrays and never write into them, so references to
    the old ones are enough; arrays that are written into are named by `keep`.

    Parameters
    ----------
    model : estimator
        With a `Learner` in ``_learner``, if it learns by itself.
    """

    def __init__(self, model: BaseEstimator) -> None:
        self._model = model
        self._kept: list[tuple[NDArray, Any, NDArray]] = []

    def keep(self, array: NDArray, rows: NDArray) -> None:
        """Put these rows back where the block raises, for they are about to be written into."""
        self._kept.append((array, rows, array[rows]))

    def __enter__(self) -> Self:
        attributes = vars(self._model)
        learner = attributes.get("_learner")
        holders = (self._model,) if learner is None else (self._model, *learner.holders())
        # References suffice: parts replace their arrays and never write into them.
        self._before = [(holder, dict(vars(holder))) for holder in holders]
        rng = attributes.get("_rng") if learner is None else learner.rng
        # Generators change in place, so their states are copied.
        self._sources: list[tuple[Any, Any]] = []
        for source in (rng, attributes.get("random_state")):
            if isinstance(source, np.random.Generator):
                self._sources.append((source.bit_generator, source.bit_generator.state))
            elif isinstance(source, np.random.RandomState):
                self._sources.append((source, source.get_state()))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        # What scikit-learn needs to tear callbacks down was made inside the call and must outlive
        # it.
        teardown = {name: part for name, part in vars(self._model).items() if "_callback" in name}
        for holder, attributes in self._before:
            for name in vars(holder).keys() - attributes.keys():
                del vars(holder)[name]
            vars(holder).update(attributes)
        vars(self._model).update(teardown)
        for array, rows, values in self._kept:
            array[rows] = values
        for source, state in self._sources:
            if isinstance(source, np.random.RandomState):
                source.set_state(state)
            else:
                source.state = state
