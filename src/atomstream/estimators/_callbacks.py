"""Callbacks around the loop: scikit-learn's protocol, or ours where scikit-learn has none yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar, cast

import numpy as np

from atomstream.loop.online import Progress

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9
    from atomstream.estimators._plain_callbacks import CallbackSupportMixin as CallbackSupportMixin
    from atomstream.estimators._plain_callbacks import with_callbacks as _with_callbacks


Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Call callbacks before and after a method that learns, whose type stays as it is."""
    return cast(Method, _with_callbacks(method))


class Notifier:
    """What follows each step of a fit: callbacks are notified, and the time is watched.

    Parameters
    ----------
    model : estimator
        With a `Learner`, and the parameter ``max_time``.
    n_batches : int, optional
        How many steps there will be at most, where that is known.
    """

    def __init__(self, model: Any, n_batches: int | None = None) -> None:
        limit = model.max_time
        self._deadline = np.inf if limit is None else time.monotonic() + limit
        self._model = model
        self._context: Any = None
        if getattr(model, "_skl_callbacks", None):
            settings = {"max_subtasks": n_batches, "sequential_subtasks": False}
            self._context = model._init_callback_context(**settings)
            self._context.call_on_fit_task_begin(estimator=model)

    def __call__(self, progress: Progress | None) -> bool:
        """Return whether a callback or the time ends learning."""
        stopped = progress is not None and self._context is not None and self._notify(progress)
        return stopped or time.monotonic() >= self._deadline

    def close(self) -> None:
        """Tell the callbacks that the fit has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._model)

    def _notify(self, progress: Progress) -> bool:
        """Notify the callbacks of a learned batch; return whether one of them wants to stop."""
        model, batch, context = self._model, progress.batch, self._context
        model._progress = progress  # what our own callbacks look at
        task = context.subcontext(task_name="batch", task_id=model.clock_.step - 1)
        # Scorers are called with X and y only; the target of a dictionary is the data themselves.
        X = model._samples(batch.complete(np.array(np.nan, batch.X.dtype)))
        offer = {"estimator": model, "X": X, "y": X}
        task.call_on_fit_task_begin(**offer)
        stop = task.call_on_fit_task_end(
            **offer, reconstruction_attributes=lambda: {"_learner": copy(model._learner)}
        )
        # A context keeps every task it has had: on an endless stream that would grow without bound
        # (law 7).
        getattr(context, "_children_map", {}).clear()
        del model._progress
        return bool(stop)
