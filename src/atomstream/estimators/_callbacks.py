"""Callbacks around the loop: scikit-learn's protocol, or ours where scikit-learn has none yet."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, TypeVar, cast

import numpy as np

from atomstream.core.loop import Progress
from atomstream.estimators._run_state import RunState

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9
    from atomstream.estimators._plain_callbacks import CallbackSupportMixin
    from atomstream.estimators._plain_callbacks import with_callbacks as _with_callbacks

__all__ = ["CallbackNotifier", "CallbackSupportMixin", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Call callbacks before and after a method that learns, whose type stays as it is."""
    return cast(Method, _with_callbacks(method))


class CallbackNotifier(CallbackSupportMixin):
    """A model that notifies callbacks while it learns."""

    _run: RunState
    _samples: Any

    def _open_callbacks(self, n_batches: int | None) -> Any:
        """Open the callbacks' context of a run; None where there are no callbacks."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = self._init_callback_context(max_subtasks=n_batches, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self)
        return context

    def _notify(self, context: Any, progress: Progress) -> bool:
        """Notify the callbacks of a learned batch; return whether one of them wants to stop."""
        batch = progress.batch
        self._progress = progress  # what our own callbacks look at
        task = context.subcontext(task_name="batch", task_id=self._run.clock.step - 1)
        # Scorers are called with X and y only; the target of a dictionary is the data themselves.
        X = self._samples(batch.complete(np.array(np.nan, batch.X.dtype)))
        offer = {"estimator": self, "X": X, "y": X}
        task.call_on_fit_task_begin(**offer)
        stop = task.call_on_fit_task_end(
            **offer, reconstruction_attributes=lambda: {"_run": copy(self._run)}
        )
        # A context keeps every task it has had: on an endless stream that would grow without bound
        # (law 7).
        getattr(context, "_children_map", {}).clear()
        del self._progress
        return bool(stop)
