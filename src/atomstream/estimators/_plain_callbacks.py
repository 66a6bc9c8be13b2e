"""Callbacks for releases of scikit-learn before 1.9: the same hooks, called in the same order."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from inspect import signature
from typing import Any


class CallbackSupportMixin:
    """Holds callbacks and makes the context of a fit."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set the callbacks of the next fits; none removes them."""
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def _init_callback_context(self, task_name: str = "fit", **settings: Any) -> PlainContext:
        self._callback_fit_ctx = PlainContext(
            getattr(self, "_skl_callbacks", []), task_name, **settings
        )
        for callback in getattr(self, "_skl_callbacks", []):
            callback.setup(estimator=self, context=self._callback_fit_ctx)
        return self._callback_fit_ctx


class PlainContext:
    """One task: the fit, or a batch of it."""

    def __init__(
        self,
        callbacks: list[Any],
        task_name: str,
        task_id: int = 0,
        max_subtasks: int | None = 0,
        sequential_subtasks: bool = True,
        parent: PlainContext | None = None,
    ) -> None:
        self._callbacks = callbacks
        self.task_name, self.task_id, self.max_subtasks = task_name, task_id, max_subtasks
        self.sequential_subtasks, self.parent = sequential_subtasks, parent
        self.root_uuid: uuid.UUID = uuid.uuid4() if parent is None else parent.root_uuid
        self._children_map: dict[int, PlainContext] = {}

    def subcontext(
        self, task_name: str = "", task_id: int | None = None, **settings: Any
    ) -> PlainContext:
        """Return the context of a task inside this one, by default the next of a sequence."""
        number = len(self._children_map) if task_id is None else task_id
        task = PlainContext(self._callbacks, task_name, number, parent=self, **settings)
        self._children_map[number] = task
        return task

    def call_on_fit_task_begin(self, *, estimator: object, **offered: Any) -> PlainContext:
        """Tell the callbacks that the task begins."""
        self._call("on_fit_task_begin", estimator, offered)
        return self

    def call_on_fit_task_end(self, *, estimator: object, **offered: Any) -> bool:
        """Tell the callbacks that the task has ended; true if one of them wants to stop."""
        return self._call("on_fit_task_end", estimator, offered)

    def _call(self, hook: str, estimator: object, offered: dict[str, Any]) -> bool:
        stop = False
        for callback in self._callbacks:
            method = getattr(callback, hook)
            wanted = {
                p.name for p in signature(method).parameters.values() if p.kind is p.KEYWORD_ONLY
            }
            stop |= bool(
                method(estimator, self, **{k: v for k, v in offered.items() if k in wanted})
            )
        return stop


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a fit so that callbacks are always torn down."""

    @functools.wraps(method)
    def managed(estimator: object, *args: Any, **kwargs: Any) -> Any:
        """Run the fit between the callbacks' setup and teardown."""
        try:
            return method(estimator, *args, **kwargs)
        finally:
            context = estimator.__dict__.pop("_callback_fit_ctx", None)
            for callback in getattr(estimator, "_skl_callbacks", []) if context is not None else []:
                callback.teardown(estimator=estimator, context=context)

    return managed
