"""Rounds over slots with many workers, and over a terabyte: a model, and an extrapolation.

``python benchmarks/engine_scale.py`` writes ``results/engine-scale.json``.

Replay. What a slot and the driver do is timed here, in seconds of the processor. A discrete-event
model then plays rounds of 4 to 1,024 workers with these times: the driver packs the state, sends it
down a tree, gives a task to each worker, receives results over one link, and merges them in the
order of the slots. Link, latency and what giving out a task costs are assumed (`Network`). It is a
model: no cluster of that size was there.

Terabyte. A list of 10^9 rows of 400 float32 (1.6 TB), drawn by the workers where they read them, is
learned by two processes for a bounded time, which is extrapolated. One process alone learns from
the same list for as long, in steps of 32, 128 or 256 rows.
"""

import json
import math
import pickle
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from benchmark_records import save
from drawn_patches import DrawnPatches
from engine import alone_errors, error

from atomstream import OnlineNMF
from atomstream.cluster import Rounds, Shards
from atomstream.cluster.rounds import Span
from atomstream.cluster.worker import Slot, learn_slot
from atomstream.estimators._slots import SlotLearner

ROWS, RECORDED = 16_384, 16  # rows of a slot, and slots that are timed
WORKERS = [2**power for power in range(2, 11)]
BOUND = 60.0  # seconds of the terabyte that are played
HELPS = 1.1  # twice the workers help where they learn this much faster


@dataclass(frozen=True)
class Network:
    """What is assumed of a cluster.

    Attributes
    ----------
    bandwidth : float
        Bytes a second of a link: 10 Gbit/s.
    latency : float
        Seconds of a message.
    giving : float
        Seconds of the driver for giving out a task.
    """

    bandwidth: float = 1.25e9
    latency: float = 1e-3
    giving: float = 1e-3

    def takes(self, n_bytes):
        """Return the seconds that a message takes."""
        return self.latency + n_bytes / self.bandwidth


def spent(function, *arguments):
    """Return what a function returns, and its seconds of the processor."""
    began = time.process_time()
    found = function(*arguments)
    return found, time.process_time() - began


def recorded():
    """Return the times of slots, and of the driver, and the sizes of what is sent."""
    shards = [DrawnPatches(number, ROWS) for number in range(RECORDED + 1)]
    model = OnlineNMF(100, alpha=0.03, random_state=0)
    model.fit_stream(Shards(shards[:1]), rounds=Rounds())
    (sent, seed), packing = spent(SlotLearner(model).packed)
    slots, parts = [], []
    for number, shard in enumerate(shards[1:]):
        how = {"multiplicity": float(RECORDED), "seed": [seed, number], "before": number * ROWS}
        how |= {"frozen": False, "keep_latest": number == 0}
        slot = Slot(1, number, (Span(shard, 0, ROWS),), 128, how)
        payload, seconds = spent(learn_slot, sent, slot)
        slots.append(seconds)
        parts.append(payload.part)
    merging = {}
    for n in (1, RECORDED):
        twin = deepcopy(model)
        _, merging[n] = spent(
            lambda m, n=n: m.take_in(map(pickle.loads, parts[:n])), SlotLearner(twin)
        )
    each = (merging[RECORDED] - merging[1]) / (RECORDED - 1)
    return {
        "slots": slots,
        "packing": packing,
        "merging a slot": each,
        "improving": max(merging[1] - each, 0.0),
        "bytes sent": len(sent),
        "bytes returned": int(np.mean([len(part) for part in parts])),
    }


def round_time(known, n_workers, scale, network, rng):
    """Return how long a round of as many slots as workers takes, and how long the driver works.

    Parameters
    ----------
    known : dict
        As `recorded` returns it.
    n_workers : int
    scale : float
        Rows of a slot over those that were timed.
    network : Network
    rng : numpy.random.Generator
        Draws the times of slots from those that were recorded.
    """
    depth = math.ceil(math.log2(n_workers + 1))
    begun = known["packing"] + depth * network.takes(known["bytes sent"])
    given = begun + network.giving * np.arange(1, n_workers + 1)
    ready = given + scale * rng.choice(known["slots"], n_workers)
    arrived, free = np.empty(n_workers), 0.0
    for slot in np.argsort(ready):  # one link into the driver
        free = max(free, ready[slot]) + network.takes(known["bytes returned"])
        arrived[slot] = free
    merged = given[-1]
    for when in arrived:  # in the order of the slots
        merged = max(merged, when) + known["merging a slot"]
    busy = known["packing"] + n_workers * (network.giving + known["merging a slot"])
    return merged + known["improving"], busy + known["improving"]


def replay(known):
    """Yield rows per second of the model for each number of workers, and where they stop to help.

    Parameters
    ----------
    known : dict
        As `recorded` returns it.
    """
    for rows in (4096, ROWS, 65_536):
        rng, rates = np.random.default_rng(0), {}
        for n_workers in WORKERS:
            times = [round_time(known, n_workers, rows / ROWS, Network(), rng) for _ in range(20)]
            whole, busy = np.mean(times, axis=0)
            rates[n_workers] = n_workers * rows / whole
            yield {
                "kind": "model",
                "workers": n_workers,
                "rows of a slot": rows,
                "round, s": round(float(whole), 3),
                "driver at work": round(float(busy / whole), 2),
                "rows per second": round(float(rates[n_workers])),
            }
        more = (n for n in WORKERS[:-1] if rates[2 * n] < HELPS * rates[n])
        yield {"kind": "model", "rows of a slot": rows, "more stop to help after": next(more, None)}


def terabyte(known):
    """Return what a bounded time over a list of 10^9 rows comes to, and what all would take."""
    shards = Shards([DrawnPatches(number) for number in range(math.ceil(1e9 / 65_536))])
    model = OnlineNMF(100, alpha=0.03, max_time=BOUND, random_state=0)
    rounds = Rounds(first=ROWS, most=65_536)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        model.fit_stream(shards, engine=pool, slots=2, rounds=rounds)
    report = model.rounds_report_
    held = np.concatenate([*DrawnPatches(10**6, 400).read()])
    return {
        "kind": "terabyte, extrapolated",
        "rows": shards.n_rows,
        "terabytes": round(shards.n_rows * 1600 / 1e12, 2),
        "shards": len(shards),
        "rows learned": report.n_rows,
        "seconds": round(report.seconds["whole"], 1),
        "rows per second": round(report.rows_per_second),
        "held-out error": round(error(model, held), 4),
        "memory of the driver, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "shares": {name: round(part, 3) for name, part in report.shares().items()},
        "processor hours of all rows": round(
            shards.n_rows * float(np.mean(known["slots"])) / ROWS / 3600, 1
        ),
        "hours of all rows on two processes": round(
            shards.n_rows / report.rows_per_second / 3600, 1
        ),
        "held-out error of one process": alone_errors(model, shards, held, report.seconds["whole"]),
    }


def main():
    """Record, replay, and play the terabyte."""
    known = recorded()
    lines = [{"kind": "recorded", **known}, *replay(known)]
    if "--no-terabyte" not in sys.argv:
        lines.append(terabyte(known))
    for line in lines:
        print(json.dumps(line))
    save("engine-scale", lines)


if __name__ == "__main__":
    main()
