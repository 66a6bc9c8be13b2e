"""Tasks that callbacks are told of: scikit-learn's protocol, kept by every model."""

import copy
import itertools
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import zoo

from atomstream import OnlineCPDictionary, OnlineNMF, cluster, streams
from atomstream.estimators import _calls, _plain_callbacks
from atomstream.estimators.topics import TopicModel
from atomstream.watch.callbacks import Callback


callback = pytest.importorskip(
    "sklearn.callback", reason="scikit-learn before 1.9 has no callbacks"
)

FOLLOWED = sorted(name for name in zoo.ZOO if hasattr(zoo.ZOO[name][0], "set_callbacks"))
X = zoo.rows()
LOSSES = ("squared", "kl", "is", "huber", "l2", "l1", "trimmed")


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
        self.monitors.append(sys.modules[type(self).__mro__[1].__module__]._run_monitors[
            context.root_uuid
        ])

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


@pytest.mark.parametrize("name", FOLLOWED)
def test_tasks_of_every_model(name):
    model, recorder, bars = followed(zoo.ZOO[name][0])
    model.fit(zoo.ZOO[name][1]())
    recorder.check()
    bars.check()


@pytest.mark.parametrize("n_epochs", [None, 1, 3, 12])
@pytest.mark.parametrize("loss", LOSSES)
def test_tasks_to_the_end_of_a_fit(loss, n_epochs):
    rows = np.tile(X, (3, 1)) + 0.1
    settings = {"loss": loss, "batch_size": 25, "n_epochs": n_epochs, "random_state": 0}
    model, recorder, bars = followed(OnlineNMF(3, **settings))
    model.fit(rows)
    ((most, n_tasks),) = recorder.check()
    bars.check()
    n_steps = model.n_steps_
    # A pass has eight batches; rounds over all rows are a task each.
    assert n_steps == 8 * min(n_epochs or 10, 10) or loss in ("huber", "l2", "l1", "trimmed")
    assert n_tasks == n_steps + model.n_iter_ - n_steps // 8
    assert (most is None) == (n_epochs is None)
    assert most is None or n_tasks <= most
