"""Real workers: processes, Dask; a death changes no bit or is told."""

import asyncio
import doctest
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_all_start_methods, get_context
from pathlib import Path

import numpy as np
import pytest
from hanging import GUARD, until
from rounds import MODELS, OF_FIELDS, SMALL, bits, fresh, shards_for
from strange import ATOMS, Deadly, Drawn, Slow, Stuck, Wide, leave, planted, stuck

from atomstream import Checkpoint, EngineError, OnlineNMF
from atomstream.cluster import Engine, Rounds, Shards, engines, transform_shards

pytestmark = pytest.mark.slow
HERE = Path(__file__).parents[1]


def drawn(n=6):
    return Shards([Drawn(seed) for seed in range(n)])


@pytest.fixture(scope="module", autouse=True)
def _workers_find_the_tests():
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{before}"
    yield
    os.environ["PYTHONPATH"] = before


FORKS = "forkserver" in get_all_start_methods()


@pytest.fixture(scope="module")
def server():
    """How workers start here: from a process that has loaded all there is, where a system forks."""
    context = get_context("forkserver" if FORKS else "spawn")
    if FORKS:
        context.set_forkserver_preload(["warm", "test_laws_of_rounds", "distributed"])
    return context


@pytest.fixture
def _workers_start_soon(server, monkeypatch):
    monkeypatch.setattr(engines, "get_context", {"spawn": server}.__getitem__)


@pytest.fixture(scope="module")
def cluster(server):
    distributed = pytest.importorskip("distributed")
    import dask

    how = {
        "distributed.worker.multiprocessing-method": server.get_start_method(),
        # A cluster of this kind never replaces a worker that needs longer to start again.
        "distributed.deploy.lost-worker-timeout": GUARD,
    }
    with (
        dask.config.set(how),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as client:
        yield client


@pytest.mark.long
def test_processes_give_the_bits_of_this_process(tmp_path):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name in ("squared", *OF_FIELDS):
            here = fresh(MODELS[name]).fit_stream(shards_for(name, 6), slots=3, rounds=SMALL)
            there = fresh(MODELS[name]).fit_stream(
                shards_for(name, 6), slots=3, rounds=SMALL, engine=pool
            )
            assert bits(there) == bits(here)
        # A pool that was given cannot be started anew: a dead worker ends it, and nothing else.
        killing = Shards([*drawn(), Deadly(9, folder=str(tmp_path)), Drawn(10)])
        model = OnlineNMF(ATOMS, random_state=0)
        with pytest.raises(EngineError, match=r"The engine is gone, or broken.*drawn\[9\]"):
            model.fit_stream(killing, slots=2, rounds=SMALL, engine=pool)
        assert model.n_samples_seen_ == model.rounds_report_.n_rows > 0


@pytest.mark.parametrize("start", ["as here", pytest.param("as users", marks=pytest.mark.long)])
def test_dead_workers_are_replaced_and_change_no_bit(tmp_path, start, request):
    """Each of two deaths takes the pool with it; the second time slots run one by one."""
    if start == "as here":
        request.getfixturevalue("_workers_start_soon")
    listed = [*drawn(), Deadly(9, folder=str(tmp_path), times=2), Drawn(10)]
    shards = Shards(listed)
    model = OnlineNMF(ATOMS, random_state=0)
    model.fit_stream(shards, slots=3, rounds=SMALL, engine="processes:1")
    assert len(list(tmp_path.iterdir())) == 2
    assert model.rounds_report_.n_repeated > 0
    here = OnlineNMF(ATOMS, random_state=0).fit_stream(shards, slots=3, rounds=SMALL)
    assert bits(model) == bits(here)


@contextmanager
def killed_when_stuck(folder, kill):
    """Kill workers whenever some are stuck; yield which were."""
    left, killed = threading.Event(), set()

    def watch():
        while not left.wait(0.02):
            if found := stuck(folder) - killed:
                kill(found)
                killed.update(found)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        left.set()
        thread.join()


def kill(workers):
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def learned_while_workers_are_killed(folder, kill, engine, n):
    """Learn in one round in which each of so many shards loses the first worker that reads it."""
    rounds = Rounds(warmup=256, first=300, most=300, batch=60)  # a shard for each slot
    head = Drawn(n, n_rows=256)
    shards = Shards([head, *(Stuck(seed, folder=str(folder)) for seed in range(n))])
    with killed_when_stuck(folder, kill) as killed:
        model = OnlineNMF(ATOMS, random_state=0)
        model.fit_stream(shards, slots=n, rounds=rounds, engine=engine)
    assert len(killed) == n
    whole = OnlineNMF(ATOMS, random_state=0)
    whole.fit_stream(Shards([head, *drawn(n)]), slots=n, rounds=rounds)
    assert bits(model) == bits(whole)


@pytest.mark.usefixtures("_workers_start_soon")
def test_workers_that_are_killed_again_and_again_change_no_bit(tmp_path):
    learned_while_workers_are_killed(tmp_path, kill, "processes:2", 4)


@pytest.mark.usefixtures("_workers_start_soon")
def test_a_shard_that_kills_every_worker_is_named_and_learning_goes_on_elsewhere(tmp_path):
    deadly, kept = tmp_path / "marks", Checkpoint(tmp_path / "model.atoms")
    deadly.mkdir()
    shards = Shards([*drawn(), Deadly(9, folder=str(deadly), times=3), Drawn(10)])
    model = OnlineNMF(ATOMS, random_state=0)
    options = {"slots": 2, "rounds": SMALL, "checkpoint": kept}
    with pytest.raises(EngineError, match=r"Workers die[^;]* while they work on [^;]*drawn\[9\]"):
        model.fit_stream(shards, engine="processes:1", **options)
    # Its three lives are used up, so the same call goes on to the end.
    resumed = OnlineNMF(ATOMS, random_state=0).fit_stream(shards, **options)
    whole = OnlineNMF(ATOMS, random_state=0).fit_stream(shards, slots=2, rounds=SMALL)
    assert bits(resumed) == bits(whole)
    assert resumed.rounds_report_.n_rounds < whole.rounds_report_.n_rounds


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
def test_a_worker_of_200_megabytes_learns_and_names_the_shard_that_is_too_large(server):
    fitting = Shards([*drawn(), Wide(8, n_bytes=100 << 20)])
    options = {"slots": 2, "rounds": SMALL}
    limits = {"mp_context": server, "initializer": leave, "initargs": (200 << 20,)}
    with ProcessPoolExecutor(1, **limits) as pool:
        there = OnlineNMF(ATOMS, random_state=0).fit_stream(fitting, engine=pool, **options)
        here = OnlineNMF(ATOMS, random_state=0).fit_stream(fitting, **options)
        assert bits(there) == bits(here)
        listed = Shards([*drawn(), Wide(9, n_bytes=300 << 20)])
        model = OnlineNMF(ATOMS, random_state=0)
        with pytest.raises(EngineError, match=r"Workers run out of memory while [^;]*drawn\[9\]"):
            model.fit_stream(listed, engine=pool, **options)
        assert model.n_samples_seen_ == model.rounds_report_.n_rows > 0
        assert pool.submit(abs, -1).result() == 1  # the worker lives


@pytest.mark.usefixtures("_workers_start_soon")
def test_silence_ends_and_leaves_no_process_behind():
    listed = Shards([*drawn(), Slow(9)])
    with pytest.raises(EngineError, match=r"No result came for 3 seconds, twice; missing.*drawn"):
        OnlineNMF(ATOMS, random_state=0).fit_stream(
            listed, slots=2, rounds=SMALL, engine=Engine("processes:1", round_timeout=3)
        )
    until(lambda: not active_children())


@pytest.mark.long
def test_a_killed_driver_goes_on_from_its_last_round(tmp_path):
    code = (
        "from strange import ATOMS, Drawn\n"
        "from rounds import SMALL\n"
        "from atomstream import Checkpoint, OnlineNMF\n"
        "from atomstream.cluster import Shards\n"
        "import os, signal\n"
        "class Killing(Checkpoint):\n"
        "    def save(self, *given):\n"
        "        super().save(*given)\n"
        "        if given[2].round == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"kept = Killing({str(tmp_path / 'model.atoms')!r})\n"
        "shards = Shards([Drawn(seed) for seed in range(6)])\n"
        "OnlineNMF(ATOMS, random_state=0).fit_stream(\n"
        "    shards, slots=3, rounds=SMALL, engine='threads', checkpoint=kept)\n"
    )
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    there = dict(os.environ) | {"PYTHONPATH": paths}
    ended = subprocess.run([sys.executable, "-c", code], check=False, env=there)
    assert ended.returncode == -signal.SIGKILL
    kept = Checkpoint(tmp_path / "model.atoms")
    model = OnlineNMF(ATOMS, random_state=0)
    model.fit_stream(drawn(), slots=3, rounds=SMALL, checkpoint=kept)
    whole = OnlineNMF(ATOMS, random_state=0).fit_stream(drawn(), slots=3, rounds=SMALL)
    assert bits(model) == bits(whole)
    assert model.rounds_report_.n_rounds == whole.rounds_report_.n_rounds - 3


# -- Dask


def test_dask_gives_the_bits_of_this_process(client, tmp_path):
    for name in ("squared", "kl"):
        here = fresh(MODELS[name]).fit_stream(drawn(), slots=3, rounds=SMALL)
        there = fresh(MODELS[name]).fit_stream(drawn(), slots=3, rounds=SMALL, engine=client)
        assert bits(there) == bits(here)
    files = transform_shards(there, drawn(2), tmp_path / "codes", engine=client)
    np.testing.assert_allclose(
        np.concatenate([np.load(file) for file in files]),
        there.transform(np.concatenate([planted(300, 0), planted(300, 1)])),
    )


def test_dask_replaces_a_worker_that_dies(cluster, client, tmp_path):
    listed = Shards([*drawn(), Deadly(9, folder=str(tmp_path)), Drawn(10)])
    address = cluster.scheduler_address.replace("tcp", "dask")
    there = OnlineNMF(ATOMS, random_state=0)
    there.fit_stream(listed, slots=3, rounds=SMALL, engine=address)
    here = OnlineNMF(ATOMS, random_state=0).fit_stream(listed, slots=3, rounds=SMALL)
    assert bits(there) == bits(here)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.long
@pytest.mark.parametrize("which", [pytest.param("one", marks=pytest.mark.weekly), "all"])
def test_workers_of_dask_that_are_killed_again_and_again_change_no_bit(
    cluster, client, tmp_path, which
):
    """With all of them everything that was sent to the workers is gone."""

    def workers():  # a nanny gives a worker up that dies while it starts
        started = [nanny.process for nanny in cluster.workers.values() if nanny.process]
        return {worker.pid for worker in started if worker.status.name == "running"}

    how = kill if which == "one" else lambda found: kill(found | workers())
    learned_while_workers_are_killed(tmp_path, how, client, 4)


@pytest.mark.long
def test_dask_replaces_a_worker_that_dies_while_it_prepares(client, tmp_path):
    listed = Shards([Deadly(9, folder=str(tmp_path)), *drawn()])
    there = OnlineNMF(ATOMS, random_state=0)
    there.fit_stream(listed, slots=3, rounds=SMALL, engine=client)
    assert len(list(tmp_path.iterdir())) == 1
    here = OnlineNMF(ATOMS, random_state=0).fit_stream(listed, slots=3, rounds=SMALL)
    assert bits(there) == bits(here)


@pytest.mark.long
def test_dask_without_a_worker_ends_in_a_sentence(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    listed = Shards([Deadly(9, folder=str(tmp_path), times=99), *drawn()])
    model, how = OnlineNMF(ATOMS, random_state=0), {"n_workers": 1, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(dashboard_address=":0", **how) as cluster,
        distributed.Client(cluster) as client,
    ):
        monkeypatch.setattr(cluster.workers[0], "instantiate", asyncio.Event().wait)  # for ever
        with pytest.raises(EngineError, match=r"gone or has no workers.*drawn\[9\]"):
            model.fit_stream(listed, rounds=SMALL, engine=Engine(client, round_timeout=3))


@pytest.mark.long
def test_dask_names_the_shard_that_kills_its_workers(client, tmp_path):
    listed = Shards([*drawn(2), Deadly(9, folder=str(tmp_path), times=99)])
    with pytest.raises(EngineError, match=r"Workers die[^;]* while they work on [^;]*drawn\[9\]"):
        OnlineNMF(ATOMS, random_state=0).fit_stream(listed, rounds=SMALL, engine=client)


@pytest.mark.long
def test_a_scheduler_that_is_gone_is_told_and_the_model_stays(tmp_path):
    distributed = pytest.importorskip("distributed")
    with pytest.raises(EngineError, match="There is no Dask scheduler at"):
        OnlineNMF(ATOMS).fit_stream(drawn(1), engine="dask://127.0.0.1:1")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=False
    )
    client, model = distributed.Client(cluster), OnlineNMF(ATOMS, random_state=0)
    closing = threading.Timer(1.0, cluster.close)
    listed = Shards([*drawn(3), Slow(9, seconds=4.0)])
    closing.start()
    try:
        with pytest.raises(EngineError):
            model.fit_stream(listed, rounds=SMALL, engine=Engine(client, round_timeout=5))
    finally:
        closing.join()
        client.close()
    assert model.n_samples_seen_ == model.rounds_report_.n_rows > 0


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_how_to_runs_with_a_real_cluster():
    """Its lines on Dask are left out where pages are tested, for not everybody has Dask."""
    pytest.importorskip("distributed")
    page = HERE.parent / "docs/how-to/from-a-laptop-to-a-cluster.md"
    text = page.read_text(encoding="utf-8").partition("On the command line:")[0]
    text = text.replace("# doctest: +SKIP", "")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    lines = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    assert any("LocalCluster" in each.source for each in lines.examples)
    said = []
    doctest.DocTestRunner(optionflags=flags).run(lines, out=said.append)
    assert "".join(said) == ""
