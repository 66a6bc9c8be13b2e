"""Measure against the peers in one interleaved run, one thread each: ``results/peers.json``."""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import statistics
import subprocess
import sys
import time
from pathlib import Path

import contenders
from benchmark_records import save
from workload import held_out_error, patches, start

HERE = Path(__file__).parent
ROUNDS = 3


def clock(function, *args, **settings):
    began = time.perf_counter()
    result = function(*args, **settings)
    return time.perf_counter() - began, result


def same_time(X, held, first, seconds=6):
    """Every contender trains for the same seconds; error at the end, medians over rounds."""
    entries = {
        "atomstream, defaults": (contenders.atomstream, {}),
        "atomstream, alpha=0.03": (contenders.atomstream, {"alpha": 0.03}),
        "MiniBatchNMF batch=1024": (contenders.minibatch_nmf, {}),
        "MiniBatchNMF batch=256": (contenders.minibatch_nmf, {"batch": 256}),
        "MiniBatchDictionaryLearning alpha=0.03": (contenders.minibatch_dictionary_learning, {}),
        "MiniBatchDictionaryLearning alpha=0.1": (
            contenders.minibatch_dictionary_learning,
            {"alpha": 0.1},
        ),
        "batch NMF": (contenders.batch_nmf, {}),
    }
    for alpha in (0.03, 0.1):
        for batch in (64, 128, 256):
            entries[f"SPAMS lambda={alpha} batch={batch}"] = (
                contenders.spams,
                {"alpha": alpha, "batch": batch},
            )
    errors = {name: [] for name in entries}
    for _ in range(ROUNDS):
        for name, (train, settings) in entries.items():
            took, (atoms, _) = clock(train, X, first, seconds=seconds, **settings)
            errors[name].append(held_out_error(atoms, held))
            print(f"  {name:36s} {took:6.1f} s  {errors[name][-1]:.5f}", flush=True)
    return {name: statistics.median(values) for name, values in errors.items()}


def time_to(train, target, X, held, first, limit, **settings):
    """Return the least seconds (in steps of 1/8) after which the error is at most ``target``."""
    low, high = 0.0, float(limit)
    tried = {}
    while high - low > max(0.05, 0.08 * high):
        middle = (low + high) / 2
        if settings.get("whole"):
            middle = max(1, round(middle))
        atoms, _ = train(
            X, first, seconds=middle, **{k: v for k, v in settings.items() if k != "whole"}
        )
        tried[middle] = held_out_error(atoms, held)
        low, high = (low, middle) if tried[middle] <= target else (middle, high)
        if settings.get("whole") and high - low <= 1:
            break
    return high, tried


def one_pass(X, held, first):
    """One pass at equal alpha: samples per second and error, interleaved rounds, medians."""
    rows = []
    for alpha in (0.03, 0.1):
        ours, theirs = [], {batch: [] for batch in (64, 128, 256)}
        for _ in range(ROUNDS):
            took, (atoms, _) = clock(contenders.atomstream, X, first, n_samples=len(X), alpha=alpha)
            ours.append((len(X) / took, held_out_error(atoms, held)))
            for batch, got in theirs.items():
                took, (atoms, _) = clock(
                    contenders.spams, X, first, n_samples=len(X), alpha=alpha, batch=batch
                )
                got.append((len(X) // batch * batch / took, held_out_error(atoms, held)))
        rate, error = (statistics.median(v) for v in zip(*ours, strict=True))
        for batch, got in theirs.items():
            their_rate, their_error = (statistics.median(v) for v in zip(*got, strict=True))
            rows.append(
                {"alpha": alpha, "spams_batch": batch, "ours": rate, "spams": their_rate,
                 "ratio": rate / their_rate,
                 "our_error": error, "spams_error": their_error}
            )  # fmt: skip
            print("  ", rows[-1], flush=True)
    return rows


def equal_samples(X, held, first):
    """Error after equal numbers of samples, SPAMS at its best batch."""
    rows = []
    for n in (5_000, 20_000, 50_000, 100_000):
        ours = held_out_error(contenders.atomstream(X, first, n_samples=n)[0], held)
        best = min(
            held_out_error(contenders.spams(X, first, n_samples=n, alpha=a, batch=b)[0], held)
            for a in (0.03, 0.1)
            for b in (64, 128, 256)
        )
        rows.append({"n_samples": n, "ours": ours, "spams_best": best})
        print("  ", rows[-1], flush=True)
    return rows


def longer(X, held, first):
    """Return errors of ours and of batch NMF after longer times, for six seconds end neither."""
    learners = {"atomstream, defaults": contenders.atomstream, "batch NMF": contenders.batch_nmf}
    return {
        name: {
            seconds: held_out_error(learn(X, first, seconds=seconds)[0], held)
            for seconds in (20, 60)
        }
        for name, learn in learners.items()
    }


def peak_memory(name):
    """Return the peak memory in MB that one pass takes beyond the data, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), name], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


TIMED = "import {}time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
FIT = TIMED.format(
    "sklearn.base, numpy as np; from atomstream import OnlineNMF; import ",
    "OnlineNMF(5).fit(np.random.rand(50, 8).astype('f4'))",
)
COLD = "import numba.core.caching as c; c.CacheImpl._locator_classes = []; " + FIT


def seconds_of(code, n=7):
    """Return the median seconds that runs of code print, each in a process of its own."""
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(n)]
    return statistics.median(float(run.stdout) for run in runs)


def imports():
    """Return seconds of imports and first fits."""
    return {
        "import atomstream": seconds_of(TIMED.format("", "import atomstream")),
        "OnlineNMF above sklearn.base": seconds_of(
            TIMED.format("sklearn.base, ", "from atomstream import OnlineNMF")
        ),
        "first fit, warm": seconds_of(FIT),
        "first fit, compiling": seconds_of(COLD, 1),
    }


def time_to_spams(same, X, held, first):
    """Return seconds until the error of SPAMS's best setting at its end and 1 %, ours and its."""
    end, best = min((error, name) for name, error in same.items() if name.startswith("SPAMS"))
    alpha, batch = (part.split("=")[1] for part in best.split()[1:])
    settings = {"alpha": float(alpha), "batch": int(batch), "whole": True}
    ours, _ = time_to(contenders.atomstream, 1.01 * end, X, held, first, 6)
    theirs, _ = time_to(contenders.spams, 1.01 * end, X, held, first, 6, **settings)
    return {"target": 1.01 * end, "ours": ours, "spams": theirs, "ratio": theirs / ours}


def time_to_sklearn(same, X, held, first):
    """Return seconds until we have the error that a learner of scikit-learn has after 6."""
    found = {}
    for name in ("MiniBatchNMF", "MiniBatchDictionaryLearning", "batch NMF"):
        end = min(error for entry, error in same.items() if entry.startswith(name))
        ours, _ = time_to(contenders.atomstream, end, X, held, first, 6)
        found[name] = {"target": end, "ours": ours, "sklearn": 6, "ratio": 6 / ours}
    return found


def main():
    """Run every comparison and write the record."""
    X, held = patches()
    first = start(X)
    contenders.atomstream(X[:2000], first, n_samples=2000)  # compile before the clock runs
    results = {"imports": imports()}
    results["memory"] = {name: peak_memory(name) for name in ("atomstream", "spams")}
    print(results, flush=True)
    for part in (one_pass, equal_samples, same_time, longer):
        print(part.__name__, flush=True)
        results[part.__name__] = part(X, held, first)
    same = results["same_time"]
    results["time_to_best_peer"] = time_to_spams(same, X, held, first)
    results["time_to_sklearn"] = time_to_sklearn(same, X, held, first)
    save("peers", results)


if __name__ == "__main__":
    main()
