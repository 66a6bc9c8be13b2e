"""Tasks that callbacks are told of: scikit-learn's protocol, kept by every model."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import zoo
from followed import Bars, Recorder, followed

from atomstream import OnlineNMF, cluster, streams
from atomstream.base import Counted
from atomstream.estimators import _calls, _plain_callbacks
from atomstream.watch.callbacks import Callback

FOLLOWED = sorted(name for name in zoo.ZOO if hasattr(zoo.ZOO[name][0], "set_callbacks"))
X = zoo.rows()
LOSSES = ("squared", "kl", "is", "huber", "l2", "l1", "trimmed")


@pytest.mark.parametrize("name", FOLLOWED)
def test_tasks_of_every_model(name):
    model, recorder, bars = followed(zoo.ZOO[name][0])
    model.fit(zoo.ZOO[name][1]())
    recorder.check()
    bars.check()


@pytest.mark.filterwarnings("ignore:The entries are not a few outliers")
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
    assert n_steps == 8 * (n_epochs or 10)
    assert n_tasks == n_steps + model.n_iter_ - n_steps // 8
    assert most == (n_tasks if n_epochs in (1, 3) else None)


def pieces(n=None):
    return (X[i % 3 * 20 : i % 3 * 20 + 20] for i in (itertools.count() if n is None else range(n)))


class Stop(Callback):
    """Ends a fit after some batches."""

    def __init__(self, after):
        self.left = after

    def on_batch_end(self, estimator):
        self.left -= 1
        return self.left == 0


STREAMS = {
    "list": (lambda: list(pieces(7)), {}, (7, 7)),
    "generator": (lambda: pieces(7), {}, (None, 7)),
    "part": (pieces, {"n_batches": 5}, (5, 5)),
    "short": (lambda: pieces(3), {"n_batches": 5}, (5, 3)),
    "without rows": (lambda: [X[:20], (X[:20], np.zeros(20)), X[20:40]], {}, (3, 2)),
    "sparse": (lambda: [sp.csr_array(X[:20])] * 4, {}, (4, 4)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_tasks_of_streams(name):
    make, how, expected = STREAMS[name]
    model, recorder, bars = followed(OnlineNMF(3, random_state=0))
    model.fit_stream(make(), **how)
    assert recorder.check() == [expected]
    bars.check()
    model.fit_stream(make(), **how)  # another fit has numbers of its own
    assert recorder.check() == [expected] * 2


def test_tasks_of_rounds_over_shards(tmp_path):
    np.save(tmp_path / "rows.npy", np.tile(X, (20, 1)))
    rows = cluster.shards(str(tmp_path / "rows.npy"), rows=200)
    model, recorder, bars = followed(OnlineNMF(3, random_state=0))
    model.fit_stream(rows, slots=2, rounds=cluster.Rounds(first=200, warmup=0, batch=50))
    ((most, n_tasks),) = recorder.check()
    assert most is None
    assert n_tasks == model.rounds_report_.n_rounds > 1
    bars.check()


def test_an_endless_stream_keeps_no_tasks():
    sizes = []

    class Size(Callback):
        def on_batch_end(self, estimator):
            sizes.append(sum(1 for _ in estimator._callback_fit_ctx))

    recorder = Recorder()
    model = OnlineNMF(3, random_state=0).set_callbacks(recorder, Size(), Stop(300))
    model.fit_stream(pieces())
    assert recorder.check() == [(None, 300)]
    assert set(sizes) == {2}  # the fit and its newest batch


def test_a_stream_may_be_longer_than_it_said():
    model, recorder, bars = followed(OnlineNMF(3, random_state=0))
    model.fit_stream(Counted(pieces(7), 4))
    assert recorder.check() == [(None, 7)]
    bars.check()


def test_batches_that_waited_for_a_start_are_tasks_too():
    model, recorder, bars = followed(OnlineNMF(3, loss="trimmed", random_state=0))
    model.set_callbacks().partial_fit(X[:5]).partial_fit(X[5:9])
    assert model._learner.waiting
    rows = np.tile(X, (4, 1)) + 0.1 * np.random.default_rng(0).random((240, 8))
    model.set_callbacks(recorder, bars).fit_stream([rows])
    assert recorder.check() == [(None, 3)]
    bars.check()


@pytest.mark.parametrize("after", [3, 102])
def test_a_fit_that_a_callback_ends_is_complete(after):
    recorder, bars = Recorder(), Bars()
    model = OnlineNMF(3, batch_size=6, random_state=0).set_callbacks(recorder, bars, Stop(after))
    model.fit(X)
    assert recorder.check() == [(None, after)]
    bars.check()


def test_a_fit_that_fails_is_torn_down():
    model, recorder, bars = followed(OnlineNMF(3, random_state=0))
    with pytest.raises(ValueError, match="features"):
        model.fit_stream([X[:20], X[:20, :5]])
    assert recorder.open is None
    assert not bars.monitors[0].is_alive()
    assert "_callback_fit_ctx" not in vars(model)


def test_tasks_of_rounds_over_all_rows():
    model, recorder, bars = followed(OnlineNMF(3, random_state=0).fit_stream(pieces(6)))
    model.settle(X)
    for _ in range(2):
        model.settle_stream(list(pieces(3))).end_round()
    ((most, n_rounds), *streamed) = recorder.check()
    assert most is None
    assert n_rounds > 2
    assert streamed == [(3, 3)] * 2
    bars.check()


def test_tasks_of_rows_on_disk():
    model, recorder, bars = followed(OnlineNMF(3, batch_size=20, random_state=0))
    model.fit(streams.OnDisk(X))
    ((_, n_tasks),) = recorder.check()
    # A round whose atoms are put back is none of `n_iter_`.
    assert n_tasks > 30
    bars.check()


def test_without_callbacks_of_scikit_learn_tasks_are_the_same():
    class Plain(_plain_callbacks.CallbackSupportMixin):
        max_time = None

    recorder = Recorder()
    plain = Plain().set_callbacks(recorder)

    @_plain_callbacks.with_callbacks
    def fit(estimator, n):
        notifier = _calls.Notifier(estimator, n)
        for _ in range(3):
            notifier.notify(X)
        notifier.close()

    fit(plain, 3)
    fit(plain, 2)
    assert recorder.check() == [(3, 3), (None, 3)]
