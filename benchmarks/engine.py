"""Rounds over slots: quality at equal rows, and what a round costs.

``python benchmarks/engine.py quality`` writes ``results/engine-quality.json``: errors on held-out
samples against serial learning for 4, 8, 16 and 64 slots, each model with rounds of both kinds, all
slots played one after the other in one process, with the default `Rounds` for 131,072 rows and
fewer rows a slot where there are fewer. Two longer streams are learned with 16, 64 and 256 slots.
Beside each stands one worker alone, which takes steps of 32, 128 or 256 of the same rows for as
long as the rounds take where each slot has a worker: processor time of the driver, and in each
round that of the slowest slot. ``python benchmarks/engine.py cost`` writes
``results/engine-cost.json``: rows per second, overhead and bytes of a round, for this process, two
processes and a Dask cluster of two. ``engine_scale.py`` has many workers, and a stream of a
terabyte.
"""

import json
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import workload
from benchmark_records import save
from drawn_patches import DrawnPatches
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from atomstream import OnlineConvexMF, OnlineCPDictionary, OnlineNMF
from atomstream.cluster import Rounds, Shards, shards
from atomstream.cluster.worker import learn_slot
from atomstream.fields.networks.motifs import Motif
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.rebuilding import resolve_chain

SLOTS = (4, 8, 16, 64)
MANY_SLOTS = (16, 64, 256)
SEEDS = (0, 1)
STEPS, START = (32, 128, 256), 256  # rows of a step of one worker alone, and at least of the first
workload.N_HELD_OUT = 400


class Rows:
    """Rows in memory as one shard."""

    version = "1"

    def __init__(self, X, name="rows"):
        self.X, self.name, self.n_rows = X, name, len(X)

    def read(self, first, last):
        """Yield some rows."""
        yield self.X[first:last]


class Chain:
    """A chain of its own on a network as a shard: it begins anew, from a seed of its own."""

    version = "1"

    def __init__(self, network, motif, seed, n_rows):
        self.network, self.motif, self.seed, self.n_rows = network, motif, seed, n_rows
        self.name = f"chain {seed}"

    def read(self, first, last):
        """Yield the patches of some steps of the chain."""
        chain, rng = (
            resolve_chain("pivot")(self.network, self.motif),
            np.random.default_rng([7, self.seed]),
        )
        states, _ = chain.run(rng, chain.init(rng), self.n_rows, 1)
        yield chain.patches(states)[first:last]


def squared(seed):
    """Return a model, shards and held-out rows: patches under the squared loss."""
    workload.N_TRAIN = 131_072
    X, held = workload.patches(seed)
    return OnlineNMF(100, random_state=seed), Shards([Rows(X)]), held


def divergence(seed):
    """Return the same under the Kullback-Leibler divergence, with fewer atoms and rows."""
    workload.N_TRAIN = 32_768
    X, held = workload.patches(seed)
    return OnlineNMF(40, loss="kl", random_state=seed), Shards([Rows(X + 0.01)]), held + 0.01


def convex(seed):
    """Return atoms in the hulls of patches."""
    workload.N_TRAIN = 16_384
    X, held = workload.patches(seed)
    model = OnlineConvexMF(10, n_representatives=200, codes="nonnegative", random_state=seed)
    return model, Shards([Rows(X.astype(float))]), held.astype(float)


def tensors(seed):
    """Return patches as tensors of two modes, 20 x 20."""
    workload.N_TRAIN = 32_768
    X, held = workload.patches(seed)
    model = OnlineCPDictionary(25, random_state=seed)
    return model, Shards([Rows(X.reshape(-1, 20, 20))]), held.reshape(-1, 20, 20)


def chains(seed):
    """Return patches of a network along chains, one for each shard of 512 steps."""
    rng, n = np.random.default_rng(seed), 600
    groups = np.arange(n) % 6
    chances = np.where(groups[:, None] == groups, 0.09, 0.004)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 3
    A = np.triu((rng.random((n, n)) < chances) | near, 1)
    network, motif = Network.of((A | A.T).astype(float)), Motif.of("path:15")
    listed = Shards([Chain(network, motif, number, 512) for number in range(128)])
    held = np.concatenate([*Chain(network, motif, 999, 1000).read(0, 1000)])
    return OnlineNMF(16, random_state=seed), listed, held


def long_stream(n_rows, loss, n_atoms, shift):
    """Return a maker of a model, of patches that are drawn where they are read, and held-out ones.

    Parameters
    ----------
    n_rows : int
    loss : str
    n_atoms : int
    shift : float
        Added to every entry.
    """

    def make(seed):
        drawn = [DrawnPatches(number, 8192, shift) for number in range(n_rows // 8192)]
        held = np.concatenate([*DrawnPatches(10**6, workload.N_HELD_OUT, shift).read()])
        return OnlineNMF(n_atoms, loss=loss, random_state=seed), Shards(drawn), held

    return make


LONG = {
    "squared, long": long_stream(1 << 20, "squared", 100, 0.0),
    "kl, long": long_stream(1 << 18, "kl", 40, 0.01),
}
CASES = {
    "squared": squared,
    "kl": divergence,
    "convex": convex,
    "tensors": tensors,
    "chains": chains,
    **LONG,
}


def error(model, held):
    """Return the mean loss of a divergence, or the relative error, on held-out samples."""
    if getattr(model, "loss", "squared") != "squared":
        return -float(model.score(held))
    rest = held - model.inverse_transform(model.transform(held))
    return float(np.linalg.norm(rest) / np.linalg.norm(held))


class InTurn(Executor):
    """Plays slots one after the other, and takes the time as if each had a worker."""

    _max_workers = 1  # one that is made ready before the clock runs

    def __init__(self):
        self.began, self.slots = None, defaultdict(list)

    def submit(self, task, sent, slot):
        """Return what a task returns, as a future that is done."""
        future, began = Future(), time.process_time()
        future.set_result(task(sent, slot))
        if task is learn_slot:
            self.began = began if self.began is None else self.began
            self.slots[slot.round].append(time.process_time() - began)
        return future

    def side_by_side(self):
        """Return the seconds since the first task, but of each round those of its slowest slot."""
        spared = sum(sum(each) - max(each) for each in self.slots.values())
        return time.process_time() - self.began - spared


def alone(model, listed, size, seconds):
    """Return a model after one worker has learned alone for so long, or from all rows."""

    def batches():
        """Yield rows in steps until the time is over."""
        ends, wanted = time.process_time() + seconds, max(size, START)
        for shard in listed:
            for rows in shard.read(0, shard.n_rows):
                while len(rows):
                    if time.process_time() > ends:
                        return
                    yield rows[:wanted]
                    rows, wanted = rows[wanted:], size

    with threadpool_limits(1):
        return clone(model).fit_stream(batches())


def alone_errors(model, listed, held, seconds):
    """Return the error of one worker alone for each size of steps."""
    return {str(n): error(alone(model, listed, n, seconds), held) for n in STEPS}


def quality():
    """Yield one line of the table after the other."""
    for name, make in CASES.items():
        for seed in SEEDS if name == "squared" else SEEDS[:1]:
            model, listed, held = make(seed)
            few = listed.n_rows < 100_000
            base = {"first": 256, "warmup": 2048} if few else {}
            if name in LONG:
                shared = [(n, "local", 128) for n in MANY_SLOTS]
            else:
                shared = [(n, mode, 128) for n in SLOTS for mode in ("local", "frozen")]
            for slots, mode, batch in [(1, "local", 256), (1, "local", 128), *shared]:
                if name == "convex" and mode == "frozen":
                    continue
                began = time.perf_counter()
                rounds = Rounds(mode=mode, batch=batch, **base)
                model, engine = clone(model), InTurn()
                with threadpool_limits(1):
                    model.fit_stream(listed, engine=engine, slots=slots, rounds=rounds)
                seconds = engine.side_by_side()
                line = {
                    "case": name,
                    "seed": seed,
                    "slots": slots,
                    "mode": mode if slots > 1 else "serial",
                    "batch": batch,
                    "rows": listed.n_rows,
                    "rounds": model.rounds_report_.n_rounds,
                    "error": error(model, held),
                    "seconds": round(time.perf_counter() - began, 1),
                }
                if slots > 1:
                    line["side by side, s"] = round(seconds, 3)
                    line["one worker"] = alone_errors(model, listed, held, seconds)
                yield line


def cost():
    """Yield what a round costs for each engine."""
    workload.N_TRAIN = 131_072
    X, _ = workload.patches(0)
    rounds = Rounds(warmup=4096, first=16_384, growth=1.0)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", X)
        listed = shards(f"{folder}/rows.npy", rows=16_384)
        for name, engine in engines():
            with engine as pool:
                for again in ("warm", "measured"):
                    model = OnlineNMF(100, alpha=0.03, random_state=0)
                    model.fit_stream(listed, engine=pool, slots=2, rounds=rounds)
                    report = model.rounds_report_
                    if again == "warm":
                        continue
                    n = report.n_rounds
                    busy = report.seconds["reading"] + report.seconds["coding"]
                    yield {
                        "engine": name,
                        "rounds": n,
                        "rows per second": round(report.rows_per_second),
                        "seconds": {k: round(v, 3) for k, v in report.seconds.items()},
                        "adding a round, ms": round(1e3 * report.seconds["adding"] / n, 1),
                        "serialising a round, ms": round(
                            1e3 * report.seconds["serialising"] / n, 1
                        ),
                        "busy over whole": round(busy / report.seconds["whole"], 2),
                        "bytes sent a round": report.bytes_sent // n,
                        "bytes returned a round": report.bytes_returned // n,
                    }


def engines():
    """Yield names and context managers of engines."""
    import contextlib

    yield "this process", contextlib.nullcontext(None)
    yield "processes:2", ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    try:
        import distributed
    except ImportError:
        return
    import dask

    # Dask makes glibc return the memory of every array at once; see the how-to.
    keep = {"MALLOC_TRIM_THRESHOLD_": 1 << 28, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
    kept = {f"distributed.nanny.pre-spawn-environ.{name}": size for name, size in keep.items()}
    for name, settings in (("dask, 2 workers", {}), ("dask, memory kept", kept)):
        with (
            dask.config.set(settings),
            distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        ):
            yield name, distributed.Client(cluster)


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "quality"
    lines = []
    for line in {"quality": quality, "cost": cost}[kind]():
        print(json.dumps(line), flush=True)
        lines.append(line)
        save(f"engine-{kind}", lines)
