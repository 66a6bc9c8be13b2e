"""What a worker takes with it when it dies says nothing of a task; a task that kills is named."""

from concurrent.futures import BrokenExecutor, Executor, Future

import pytest
from strange import Drawn

from atomstream import EngineError
from atomstream.cluster import engines
from atomstream.cluster.engines import Pool, facts
from atomstream.cluster.gathering import Gathering
from atomstream.cluster.rounds import Job, RoundsReport, Span
from atomstream.cluster.worker import Payload

KilledWorker = type("KilledWorker", (Exception,), {})  # as Dask names it


class Mortal(Executor):
    """One worker after the other; what it does not finish before it dies is lost.

    Parameters
    ----------
    lives : iterator of int
        Tasks that each worker finishes before it is killed from outside.
    deadly : int, optional
        The number of the task that kills every worker.
    loss : type of Exception
    """

    def __init__(self, lives, deadly=None, loss=BrokenExecutor):
        self._left, self._deadly, self._loss = next(lives), deadly, loss
        self._dead = False

    def submit(self, fn, /, *args):
        future = Future()
        if fn is facts:
            future.set_result(facts())
            return future
        self._dead = self._dead or self._left == 0 or args[1].number == self._deadly
        self._left -= 1
        if self._dead:
            future.set_exception(self._loss("dead"))
        else:
            future.set_result(fn(*args))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._dead = True


def task(sent, job):
    return Payload(job.key, sent + b"%d" % job.number, facts())


def gathered(make, n, owned=True):
    """Return the payloads of ``n`` tasks, and how many were given out again."""
    jobs = [Job(0, number, (Span(Drawn(number), 0, 300),)) for number in range(n)]
    report = RoundsReport()
    gathering = Gathering(Pool(make, owned=owned), task, b"sent ", jobs, 600.0, report)
    return [payload.part.decode() for payload in gathering.payloads()], report.n_repeated


def wanted(n):
    return [f"sent {number}" for number in range(n)]


@pytest.mark.parametrize("lives", [1, 2, 5])
def test_workers_killed_again_and_again_lose_nothing_as_long_as_results_come(lives):
    workers = []

    def make():
        workers.append(Mortal(iter([lives])))
        return workers[-1]

    parts, n_repeated = gathered(make, 20)
    assert parts == wanted(20)
    assert len(workers) == -(-20 // lives)  # each lived as long as it could: all tasks at a time
    assert n_repeated == sum(range(20 - lives, 0, -lives))


def test_two_losses_in_a_row_without_a_result_are_no_fault_of_a_task():
    lives = iter([0, 1] * 20)  # of two workers only the second finishes a task before it is killed
    assert gathered(lambda: Mortal(lives), 10)[0] == wanted(10)


@pytest.mark.parametrize("deadly", [0, 3, 9])
@pytest.mark.parametrize("lives", [1, 10**6])
def test_a_task_that_kills_every_worker_is_named_after_a_few_deaths(deadly, lives):
    workers = []

    def make():
        workers.append(Mortal(iter([lives]), deadly))
        return workers[-1]

    named = rf"Workers die[^;]* while they work on drawn\[{deadly}\] \(300 rows\)"
    with pytest.raises(EngineError, match=named):
        gathered(make, 10)
    assert len(workers) <= 5 + 10 // lives


class Scheduler(Executor):
    """As much of Dask as a pool asks for; what a worker has is given up with its deadly task."""

    status = "running"

    def __init__(self, deadly):
        self.deadly, self.given = deadly, []

    def submit(self, fn, /, *args, pure=True):
        if fn is not task:
            assert not pure
            return Sent()
        number, future = args[1].number, Future()
        self.given.append(number)
        alone = len(self.given) > 10  # each task was given out before
        if number == self.deadly or (number == self.deadly - 1 and not alone):
            future.set_exception(KilledWorker(number))
        else:
            future.set_result(fn(*args))
        return future


class Sent(bytes):
    """A future that is done."""

    def exception(self):
        return None


@pytest.mark.parametrize("deadly", [0, 3, 9])
def test_a_task_that_waits_on_the_worker_of_one_that_kills_is_not_blamed(deadly):
    scheduler = Scheduler(deadly)
    jobs = [Job(0, number, (Span(Drawn(number), 0, 300),)) for number in range(10)]
    pool = Pool(lambda: scheduler, client=scheduler)
    with pytest.raises(EngineError, match=rf"while they work on drawn\[{deadly}\] \("):
        list(Gathering(pool, task, b"", jobs, 600.0, RoundsReport()).payloads())
    assert scheduler.given.count(deadly) == 2  # once among others, once alone


def test_an_engine_that_was_given_and_breaks_is_gone():
    with pytest.raises(EngineError, match=r"The engine is gone, or broken.*drawn\[4\]"):
        gathered(lambda: Mortal(iter([4])), 6, owned=False)


def test_workers_that_die_while_they_start_are_started_again_three_times(monkeypatch):
    class Stillborn(Executor):
        def submit(self, fn, /, *args):
            raise BrokenExecutor

        def shutdown(self, wait=True, *, cancel_futures=False):
            ended.append(self)

    ended = []
    with pytest.raises(EngineError, match="Workers died while they started, 3 times in a row"):
        Pool(Stillborn, owned=True)
    assert len(ended) == engines.MAX_STARTS
    makers = iter([Stillborn, Stillborn, lambda: Mortal(iter([6]))])
    assert gathered(lambda: next(makers)(), 6)[0] == wanted(6)


def test_an_interrupt_while_workers_start_leaves_none_behind():
    class Interrupted(Executor):
        def submit(self, fn, /, *args):
            raise KeyboardInterrupt

        def shutdown(self, wait=True, *, cancel_futures=False):
            ended.append(self)

    ended = []
    with pytest.raises(KeyboardInterrupt):
        Pool(Interrupted, owned=True)
    assert len(ended) == 1
