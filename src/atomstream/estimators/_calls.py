"""What surrounds a call of a user: who is blamed, what is put back, and who is notified."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from atomstream.base import tell
from atomstream.base.chosen import log
from atomstream.loop import Progress

_inside: ContextVar[bool] = ContextVar("inside", default=False)  # whether a model is learning
_called: ContextVar[BaseEstimator | None] = ContextVar("blame", default=None)


@contextmanager
def blame(model: BaseEstimator) -> Iterator[None]:
    """Let complaints about data in the body name this model; of nested ones the outermost."""
    before = _called.get()
    try:  # around the first line already: an interrupt may come anywhere
        _called.set(blamed_model(model))
        yield
    finally:
        _called.set(before)


def blamed_model(model: BaseEstimator) -> BaseEstimator:
    """Return the model that complaints about the data of a model name."""
    outermost = _called.get()
    return model if outermost is None else outermost


class Transaction:
    """A block that changes a model wholly or not at all: if it raises, everything is put back.

    State, memory and dictionary replace their arrays and never write into them, so references to
    the old ones are enough; arrays that are written into are named by `keep`.

    Where the model learns its first samples, what was chosen for it is logged at the end.

    Parameters
    ----------
    model : estimator
        With a `Learner` in ``_learner``, if it learns by itself.
    anew : bool, default=False
        Whether it learns from scratch, whatever it has learned before.
    """

    def __init__(self, model: Any, *, anew: bool = False) -> None:
        self._model = model
        self._kept: list[tuple[NDArray, Any, NDArray]] = []
        # Of models in models the outermost tells; nobody is asked where nobody listens.
        self._tells = log.isEnabledFor(logging.INFO) and not _inside.get()
        self._begins = self._tells and (anew or not model.__sklearn_is_fitted__())

    def keep(self, array: NDArray, rows: NDArray) -> None:
        """Put these rows back where the block raises, for they are about to be written into."""
        self._kept.append((array, rows, array[rows]))

    def __enter__(self) -> Self:
        self._around = _inside.get()
        _inside.set(True)
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
        _inside.set(self._around)
        if kind is None:
            if self._begins and self._model.__sklearn_is_fitted__():
                tell(type(self._model).__name__, self._model._choices())
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


class Notifier:
    """What follows each step of a fit: callbacks are notified, and the time is watched.

    Parameters
    ----------
    model : estimator
        With a `Learner`, and the parameter ``max_time``.
    n_batches : int, optional
        How many steps are expected, where that is known; of a stream more may come.
    """

    def __init__(self, model: Any, n_batches: int | None = None) -> None:
        limit = model.max_time
        self._deadline = np.inf if limit is None else time.monotonic() + limit
        self._model = model
        self._context: Any = None
        if getattr(model, "_skl_callbacks", None):
            self._context = model._init_callback_context(max_subtasks=n_batches)
            # A context keeps every task it has had: on an endless stream that would grow without
            # bound (law 7).
            self._context._children_map = _Counted()
            self._context.call_on_fit_task_begin(estimator=model)

    def __call__(self, progress: Progress | None) -> bool:
        """Return whether a callback or the time ends learning."""
        stopped = progress is not None and self._context is not None and self._follow(progress)
        return stopped or self.late

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._deadline

    @property
    def remaining(self) -> float | None:
        """Seconds that are left; None where there is no limit."""
        return None if self._deadline == np.inf else self._deadline - time.monotonic()

    def close(self) -> None:
        """Tell the callbacks that the fit has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._model)

    def notify(self, X: Any, attributes: Callable[[], dict[str, Any]] = dict) -> bool:
        """Notify the callbacks of a learned batch; return whether one of them wants to stop."""
        if self._context is None:
            return False
        # A stream may be longer than it said, which is no reason to fail.
        if len(self._context._children_map) == self._context.max_subtasks:
            self._context.max_subtasks = None
        task = self._context.subcontext(task_name="batch")
        # Scorers are called with X and y only; the target of a dictionary is the data themselves.
        offer = {"estimator": self._model, "X": X, "y": X}
        task.call_on_fit_task_begin(**offer)
        return bool(task.call_on_fit_task_end(**offer, reconstruction_attributes=attributes))

    def _follow(self, progress: Progress) -> bool:
        """Notify the callbacks of a step of the learner."""
        model, batch = self._model, progress.batch
        model._progress = progress  # what our own callbacks look at
        X = model._samples(batch.complete(np.array(np.nan, batch.X.dtype)))
        stop = self.notify(X, lambda: {"_learner": copy(model._learner)})
        del model._progress
        return stop


class _Counted(dict[int, Any]):
    """The tasks of a context by their numbers: it knows how many there were, and the newest."""

    _n_tasks = 0

    def __setitem__(self, number: int, task: Any) -> None:
        self.clear()
        self._n_tasks += 1
        super().__setitem__(number, task)

    def __len__(self) -> int:
        return self._n_tasks
