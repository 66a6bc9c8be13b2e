"""Callbacks that refuse what the protocol of scikit-learn does not allow."""

import copy
import sys

import pytest

from atomstream.watch.callbacks import Callback

callback = pytest.importorskip(
    "sklearn.callback", reason="scikit-learn before 1.9 has no callbacks"
)


class Recorder(Callback):
    """Refuses what the protocol does not allow, and keeps what it was told."""

    def __init__(self):
        self.fits, self.open = [], None

    def setup(self, estimator, context):
        assert self.open is None
        assert context.parent is None
        self.open, self.task, self.ids = context, None, []

    def teardown(self, estimator, context):
        assert context is self.open
        self.fits.append((context.max_subtasks, self.ids, self.task == "ended"))
        self.open = None

    def on_fit_task_begin(self, estimator, context):
        if context.parent is None:
            assert (context.task_name, self.task) == ("fit", None)
        else:
            assert (context.task_name, self.task) == ("batch", "fit")
            assert context.parent is self.open
            assert self.open.sequential_subtasks
        self.task = context.task_name

    def on_fit_task_end(self, estimator, context):
        assert context.task_name == self.task
        if context.parent is not None:
            assert context.max_subtasks == 0
            self.ids.append(context.task_id)
        self.task = "ended" if context.parent is None else "fit"

    def check(self):
        assert self.fits
        assert self.open is None
        for most, ids, ended in self.fits:
            assert ids == list(range(len(ids)))
            assert most is None or len(ids) <= most
            assert ended
        return [(most, len(ids)) for most, ids, _ in self.fits]


class Bars(callback.ProgressBar):
    """Keeps the threads that draw, and fails where one has ended before its fit."""

    def __init__(self):
        super().__init__()
        self.monitors = []

    def setup(self, estimator, context):
        super().setup(estimator, context)
        self.monitors.append(
            sys.modules[type(self).__mro__[1].__module__]._run_monitors[context.root_uuid]
        )

    def teardown(self, estimator, context):
        alive = self.monitors[-1].is_alive()
        super().teardown(estimator, context)
        assert alive

    def check(self):
        for monitor in self.monitors:
            assert not monitor.is_alive()
            assert all(task.finished for task in monitor.progress_ctx.tasks)
            assert [task.percentage for task in monitor.progress_ctx.tasks] == [100.0]


def followed(model):
    recorder, bars = Recorder(), Bars()
    return copy.deepcopy(model).set_callbacks(recorder, bars), recorder, bars
