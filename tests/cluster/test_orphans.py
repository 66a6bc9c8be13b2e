"""No worker outlives the process that started it, however that process ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hanging import GUARD, until
from strange import ATOMS, Bad, Drawn, Stuck, stuck

from atomstream import BadShardError, OnlineNMF
from atomstream.cluster import Rounds, Shards

pytestmark = pytest.mark.slow
HERE = Path(__file__).parents[1]
LEARN = """
import os, signal, sys, time
from strange import ATOMS, Drawn, Stuck
from atomstream import Checkpoint, OnlineNMF
from atomstream.cluster import Rounds, Shards

class Forking(Checkpoint):
    def save(self, *given):
        super().save(*given)
        if given[2].round == 1 and os.fork() == 0:
            os.close(1)
            open(sys.argv[1] + "/fork", "w").write(str(os.getpid()))
            time.sleep(float(sys.argv[2]))

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background ignores
how = {"checkpoint": Forking(sys.argv[1] + "/model.atoms")} if "fork" in sys.argv else {}
stuck = [Stuck(n, folder=sys.argv[1]) for n in (4, 5, 6)]
shards = Shards([Drawn(0, n_rows=256), *map(Drawn, (1, 2, 3)), *stuck])
rounds = Rounds(warmup=256, first=300, most=300, batch=60)  # a shard for each slot
OnlineNMF(ATOMS, random_state=0).fit_stream(
    shards, slots=3, rounds=rounds, engine="processes:3", **how)
"""


def driver(folder, *words):
    """Start a process with three workers; return it when all are stuck in a round."""
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LEARN, str(folder), str(GUARD), *words],
        stdout=subprocess.PIPE,  # which workers inherit: its end is that of the last of them
        env=dict(os.environ) | {"PYTHONPATH": paths},
    )
    until(lambda: len(stuck(folder)) == 3 or process.poll() is not None)
    assert process.poll() is None
    return process


@pytest.mark.parametrize("end", ["killed", "terminated", "interrupted"])
def test_workers_end_with_their_driver(tmp_path, end):
    process = driver(tmp_path)
    if end == "interrupted":
        if os.name == "nt":
            pytest.skip("an interrupt of one process alone needs signals")
        process.send_signal(signal.SIGINT)
    elif end == "terminated":
        process.terminate()
    else:
        process.kill()
    process.communicate(timeout=GUARD)
    assert process.returncode
    until(lambda: not stuck(tmp_path))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_workers_end_though_a_fork_of_their_driver_lives_on(tmp_path):
    """The fork holds all pipes of the driver."""
    process = driver(tmp_path, "fork")
    fork = int((tmp_path / "fork").read_text())
    try:
        process.kill()
        process.wait(timeout=GUARD)
        process.stdout.close()
        until(lambda: not stuck(tmp_path))
        os.kill(fork, 0)
    finally:
        os.kill(fork, signal.SIGKILL)


def children():
    """Return the processes that this one has started, those that nobody has waited for too."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_an_error_leaves_no_worker_and_no_zombie(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    OnlineNMF(ATOMS, random_state=0).fit_stream(Shards([Drawn(0)]), engine="processes:1")
    before = children()  # with the tracker of shared memory, which stays
    shards = Shards(
        [Drawn(0, n_rows=256), *(Stuck(n, folder=str(tmp_path)) for n in (1, 2)), Bad(3)]
    )
    rounds = Rounds(warmup=256, first=300, most=300, batch=60)  # a shard for each slot
    with pytest.raises(BadShardError, match=r"drawn\[3\]"):
        OnlineNMF(ATOMS, random_state=0).fit_stream(
            shards, slots=3, rounds=rounds, engine="processes:3"
        )
    until(lambda: not stuck(tmp_path))
    until(lambda: not children() - before)
