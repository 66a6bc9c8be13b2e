"""Measure against the peers in one interleaved run, one thread each; write ``results.json``."""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import json
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import contenders
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


def peak_memory(name):
    """Return the peak memory in MB that one pass takes beyond the data, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "memory.py"), name], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def imports():
    """Return seconds of imports and first fits, each in processes of their own, medians."""

    def median(code, n=7):
        """Return the median seconds that runs of ``code`` print."""
        took = []
        for _ in range(n):
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            took.append(float(done.stdout))
        return statistics.median(took)

    timed = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    fit = (
        "import sklearn.base, numpy as np; from atomstream import OnlineNMF; import time; "
        "t = time.perf_counter(); "
        "OnlineNMF(5).fit(np.random.rand(50, 8).astype('f4')); print(time.perf_counter() - t)"
    )
    cold = "import numba.core.caching as c; c.CacheImpl._locator_classes = []; " + fit
    above = timed.format("from atomstream import OnlineNMF").replace(
        "import time", "import sklearn.base, time"
    )
    return {
        "import atomstream": median(timed.format("import atomstream")),
        "OnlineNMF above sklearn.base": median(above),
        "first fit, warm": median(fit),
        "first fit, compiling": median(cold, 1),
    }


def processor():
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def main():
    """Run every comparison and write ``results.json``."""
    X, held = patches()
    first = start(X)
    contenders.atomstream(X[:2000], first, n_samples=2000)  # compile before the clock runs
    results = {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "versions": {
            p: version(p)
            for p in ("atomstream", "numpy", "scipy", "scikit-learn", "numba", "spams-bin")
        },
    }
    results["imports"] = imports()
    print("imports", results["imports"], flush=True)
    results["memory"] = {name: peak_memory(name) for name in ("atomstream", "spams")}
    print("memory beyond the data, MB", results["memory"], flush=True)
    print("one pass at equal alpha", flush=True)
    results["one_pass"] = one_pass(X, held, first)
    print("equal samples", flush=True)
    results["equal_samples"] = equal_samples(X, held, first)
    print("the same 6 seconds", flush=True)
    results["same_time"] = same_time(X, held, first)
    spams_end = min(
        error for name, error in results["same_time"].items() if name.startswith("SPAMS")
    )
    best = min((e, n) for n, e in results["same_time"].items() if n.startswith("SPAMS"))[1]
    alpha, batch = (part.split("=")[1] for part in best.split()[1:])
    settings = {"alpha": float(alpha), "batch": int(batch), "whole": True}
    ours, _ = time_to(contenders.atomstream, 1.01 * spams_end, X, held, first, 6)
    theirs, _ = time_to(contenders.spams, 1.01 * spams_end, X, held, first, 6, **settings)
    results["time_to_best_peer"] = {
        "target": 1.01 * spams_end,
        "ours": ours,
        "spams": theirs,
        "ratio": theirs / ours,
    }
    results["time_to_sklearn"] = {}
    for name in ("MiniBatchNMF", "MiniBatchDictionaryLearning", "batch NMF"):
        end = min(error for entry, error in results["same_time"].items() if entry.startswith(name))
        ours, _ = time_to(contenders.atomstream, end, X, held, first, 6)
        results["time_to_sklearn"][name] = {
            "target": end,
            "ours": ours,
            "sklearn": 6,
            "ratio": 6 / ours,
        }
    print(results["time_to_best_peer"], results["time_to_sklearn"], flush=True)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
