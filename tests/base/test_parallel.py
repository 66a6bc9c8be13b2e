"""Threads over blocks of rows: all rows once, the same bits, failures at once, one pool."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from atomstream import OnlineNMF
from atomstream.base import machine, over_rows, threads


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 256, 257, 1000, 5000])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.usefixtures("any_work")
def test_every_row_is_covered_once_by_the_same_blocks(n_rows, n_jobs):
    times, blocks = np.zeros(n_rows, int), []

    def visit(block):
        times[block] += 1
        blocks.append((block.start, block.stop))

    with threads(n_jobs):
        over_rows(visit, n_rows, 1)
    assert (times == 1).all()
    alone = []
    with threads(1):
        over_rows(lambda block: alone.append((block.start, block.stop)), n_rows, 1)
    assert sorted(blocks) == alone


@pytest.mark.usefixtures("any_work")
def test_a_small_batch_is_shared_and_threads_are_kept():
    names, both = [], threading.Barrier(2)

    def visit(block):
        names.append(threading.current_thread().name)
        both.wait(10)  # passes only if two blocks run at a time

    with threads(2):
        over_rows(visit, 256, 1)
        over_rows(visit, 256, 1)
    assert len(set(names)) == 2


@pytest.mark.usefixtures("any_work")
def test_a_failure_is_raised_and_the_pool_goes_on():
    def fail(block):
        raise KeyError(block.start)

    rows = np.zeros(1000)
    with threads(2):
        with pytest.raises(KeyError):
            over_rows(fail, 1000, 1)
        over_rows(lambda block: rows.__setitem__(block, 1), 1000, 1)
    assert rows.all()


@pytest.mark.usefixtures("any_work")
def test_calls_from_within_do_not_wait_for_their_own_pool():
    rows = np.zeros(1000)

    def outer(block):
        over_rows(lambda inner: rows.__setitem__(slice(None), 1), 1000, 1)

    with threads(2):
        over_rows(outer, 1000, 1)
    assert rows.all()


def n_threads(work):
    """Return how many threads so much work is done on."""
    names, most = set(), threading.Semaphore(0)

    def visit(block):
        names.add(threading.current_thread().name)
        most.release()
        # Each waits a little for the others, that one thread does not take all of the blocks.
        most.acquire(timeout=0.2) and most.acquire(timeout=0.2) and most.release(2)

    over_rows(visit, 256, work)
    return len(names)


def test_without_a_number_large_work_takes_the_threads_of_blas_and_small_work_one(monkeypatch):
    monkeypatch.setattr(machine, "_n_cores", lambda: 2)
    monkeypatch.setattr(machine, "_blas", lambda: [])
    with threads(None):
        assert n_threads(machine.WORTH) == 2
        assert n_threads(1) == 1
        with threads(1):
            assert n_threads(machine.WORTH) == 1
            with threads(None):  # nobody said a number, so that of the code around holds
                assert n_threads(machine.WORTH) == 1


@pytest.mark.parametrize("alpha", [0.0, 0.2])
@pytest.mark.usefixtures("any_work")
def test_learning_has_the_same_bits_for_any_number_of_threads(alpha):
    X = np.random.default_rng(0).random((700, 30))
    atoms = [
        OnlineNMF(12, alpha=alpha, n_epochs=2, n_jobs=n, random_state=0).fit(X).components_
        for n in (1, 2, 3)
    ]
    assert_array_equal(atoms[0], atoms[1])
    assert_array_equal(atoms[0], atoms[2])


@pytest.mark.usefixtures("any_work")
def test_where_another_thread_fails_this_one_begins_nothing_more():
    here, both, begun = threading.current_thread(), threading.Barrier(2), []

    def visit(block):
        begun.append(block)
        if len(begun) <= 2:  # the first block of each thread
            both.wait(10)
        if threading.current_thread() is not here:
            raise KeyError(block.start)
        time.sleep(0.02)

    with threads(2), pytest.raises(KeyError):
        over_rows(visit, 256 * 50, 1)
    assert len(begun) < 20
