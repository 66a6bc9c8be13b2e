"""Callbacks around the loop: scikit-learn's protocol, or our plain one where scikit-learn has none yet."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from atomstream.core.clock import Clock
from atomstream.core.loop import Progress
from atomstream.core.state import State

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    from atomstream.estimators._plain_callbacks import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "Watched", "with_callbacks"]


class Watched(CallbackSupportMixin):
    """What a model does for those who watch it learn."""

    state_: State
    clock_: Clock

    @abstractmethod
    def _give_out(self, rows: Any) -> Any:
        """Return rows as the samples that they are."""

    def _watching(self, n_batches: int | None) -> Any:
        """Open the callbacks' context of a run; None where nobody watches."""
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = self._init_callback_context(max_subtasks=n_batches, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self)
        return context

    def _tell(self, context: Any, progress: Progress) -> bool:
        """Tell the callbacks that a batch has been learned; return whether one of them wants to stop."""
        if context is None:
            return False
        batch, self._progress = progress.batch, progress  # what our own callbacks look at
        task = context.subcontext(task_name="batch", task_id=self.clock_.step - 1)
        # Scorers are called with X and y only; the target of a dictionary is the data themselves.
        X = self._give_out(batch.complete(np.array(np.nan, batch.X.dtype)))
        offer = {"estimator": self, "X": X, "y": X}
        task.call_on_fit_task_begin(**offer)
        stop = task.call_on_fit_task_end(
            **offer, reconstruction_attributes=lambda: {"state_": self.state_.snapshot()}
        )
        # A context keeps every task it has had: on an endless stream that would grow without bound
        # (law 7).
        getattr(context, "_children_map", {}).clear()
        del self._progress
        return bool(stop)
