"""No wait without end: dead workers, silent schedulers, and what is said where none is left."""

import threading

import pytest
from hanging import in_time
from rounds import SMALL, bits
from strange import ATOMS, Drawn, Forgetful

from atomstream import EngineError, OnlineNMF
from atomstream.cluster import Engine, Shards, engines

ALL = 10**9
LIVING, DYING = "tcp://living:1", "tcp://dying:2"


class Client:
    """A client of Dask whose workers die as soon as they are asked what they are."""

    status = "running"

    def __init__(self, workers=(LIVING, DYING), dying=(DYING,), answers=ALL):
        self._workers, self._dying, self._answers = list(workers), set(dying), answers

    def _answer(self):
        self._answers -= 1
        if self._answers < 0:
            threading.Event().wait()

    def nthreads(self):
        self._answer()
        return dict.fromkeys(self._workers, 1)

    def scatter(self):
        raise AssertionError("what is scattered is lost with its worker")

    def submit(self, fn, part, *, pure):
        assert not pure
        self._answer()
        return Sent(fn(part), self._workers)

    def get_executor(self, pure, workers=(), allow_other_workers=False):
        assert not pure
        dies = bool(self._dying & {*workers})
        if dies:
            self._workers = [name for name in self._workers if name not in workers]
        works = self._workers and (allow_other_workers or not dies)
        return Forgetful(0 if works else ALL)


class Sent(bytes):
    """A future of Dask with bytes, which come as soon as there is a worker."""

    def __new__(cls, value, workers):
        self = super().__new__(cls, value)
        self.workers = workers
        return self

    def exception(self):
        if not self.workers:
            threading.Event().wait()


def learned(engine=None):
    model = OnlineNMF(ATOMS, random_state=0)
    shards = Shards([Drawn(seed) for seed in range(4)])
    return model.fit_stream(shards, slots=2, rounds=SMALL, engine=engine)


def test_a_worker_that_dies_while_it_prepares_changes_no_bit():
    assert bits(in_time(learned, Client())) == bits(learned())


def test_no_worker_left_after_preparing_is_one_sentence():
    engine = Engine(Client([DYING]), round_timeout=0.1)
    with pytest.raises(EngineError, match=r"or has no workers \(TimeoutError\), next were drawn"):
        in_time(learned, engine)


@pytest.mark.parametrize("answers", [0, 1, 2])
def test_a_scheduler_that_does_not_answer_is_given_up(answers):
    engine = Engine(Client(answers=answers), round_timeout=0.1)
    with pytest.raises(EngineError, match="The engine is gone or has no workers"):
        in_time(learned, engine)


def test_every_wait_for_results_has_a_limit(monkeypatch):
    monkeypatch.setattr("atomstream.cluster.learning.ROUND_LIMIT", 0.05)
    words = r"No result came for 0.05 seconds, twice; .* set a longer round_timeout"
    with pytest.raises(EngineError, match=words):
        in_time(learned, Forgetful(ALL))


def test_workers_that_do_not_start_are_given_up(monkeypatch):
    class Stuck(Forgetful):
        def shutdown(self, wait=True, *, cancel_futures=False):
            assert not wait

    monkeypatch.setattr(engines, "START_LIMIT", 0.05)
    monkeypatch.setattr(engines, "ThreadPoolExecutor", lambda _: Stuck(ALL))
    with pytest.raises(EngineError, match=r"No worker started within 0\.05 seconds"):
        in_time(learned, "threads:2")


def test_threads_at_work_are_not_waited_for_at_the_end():
    free, begun = threading.Event(), threading.Event()

    def work():
        begun.set()
        free.wait()

    def left():
        with engines.opened("threads:1") as pool:
            pool.submit(work)
            begun.wait()

    try:
        in_time(left)
    finally:
        free.set()
