"""CP dictionaries: against ALS and TensorLy, the published steps, and on a tensor beyond memory.

``python benchmarks/tensors.py`` writes ``results/tensors.json``. One thread; contenders take turns.
The strongest rival is alternating least squares of the experiments, from uniform starts, its least
squares solved to 1e-8 (as there) or to 1e-2. Nothing was chosen by the errors of the race.
The big tensor needs 4 GB in the folder for temporary files and is removed at the end; ``--small``
makes it 0.2 GB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp
from benchmark_records import save
from tensor_baselines import als

from atomstream import OnlineCPDictionary, online_parafac
from atomstream.fields.tensors.loadings import khatri_rao

RANK, ROUNDS, SEEDS = 5, 5, (1, 2, 3)
BIG, THIN = (1000, 1000, 1000), 20  # float32: 4 GB; slices in a batch


def synthetic(seed: int) -> np.ndarray:
    """Return the synthetic tensor of the thesis, 100 x 100 x 100 of rank 50."""
    rng = np.random.RandomState(seed)
    factors = [rng.rand(100, 50) for _ in range(3)]
    return 0.01 * np.einsum("ir,jr,kr->ijk", *factors, optimize=True)


def error(X: np.ndarray, cp: Any) -> float:
    """Return the relative error of a CP tensor."""
    weights, (first, *others) = cp
    rest = (first * weights) @ khatri_rao(others).T - X.reshape(len(X), -1)
    return float(np.linalg.norm(rest) / np.linalg.norm(X))


def contenders() -> dict[str, Any]:
    """Return what takes part in the race: (tensor, seed) -> CP tensor."""
    from tensorly.decomposition import non_negative_parafac, non_negative_parafac_hals

    def hals(init: str, n: int) -> Any:
        return lambda X, seed: non_negative_parafac_hals(
            X, RANK, n_iter_max=n, init=init, random_state=seed, tol=0
        )

    def ours(n_epochs: int, n_polish: int = 0) -> Any:
        return lambda X, seed: online_parafac(
            X, RANK, n_epochs=n_epochs, n_polish=n_polish, random_state=seed
        )

    def mu(n: int) -> Any:
        return lambda X, seed: non_negative_parafac(X, RANK, n_iter_max=n, random_state=seed, tol=0)

    def squares(n: int, tolerance: float) -> Any:
        return lambda X, seed: als(X, RANK, n, seed, tolerance)

    return {
        **{f"online, {n} passes": ours(n) for n in (1, 3, 5, 10, 20)},
        **{
            f"online, {n} passes, polished {p} times": ours(n, p)
            for n, p in ((3, 5), (5, 5), (5, 10))
        },
        **{f"ALS, {n} rounds": squares(n, 1e-8) for n in (5, 10, 20, 40)},
        **{f"ALS to 1e-2, {n} rounds": squares(n, 1e-2) for n in (5, 10, 20, 40)},
        **{f"TensorLy HALS, {n} rounds": hals("random", n) for n in (10, 30, 100)},
        "TensorLy HALS, SVD start, 100 rounds": hals("svd", 100),
        **{f"TensorLy multiplicative, {n} rounds": mu(n) for n in (10, 30, 100)},
    }


def least(X: np.ndarray) -> float:
    """Return the best relative error that long runs find."""
    from tensorly.decomposition import non_negative_parafac_hals

    theirs = [
        non_negative_parafac_hals(X, RANK, n_iter_max=1000, init="random", random_state=s, tol=0)
        for s in range(4)
    ]
    theirs += [als(X, RANK, 200, s) for s in range(4)]
    ours = online_parafac(X, RANK, n_epochs=60, n_polish=100, random_state=0)
    return min(ours.relative_error, *(error(X, cp) for cp in theirs))


def race() -> dict[str, Any]:
    """Return seconds and errors of all contenders, medians over rounds and seeds."""
    tensors = {seed: synthetic(seed) for seed in SEEDS}
    best = {seed: least(X) for seed, X in tensors.items()}
    runs = contenders()
    measured: dict[str, dict[str, list[float]]] = {
        name: {"seconds": [], "above": []} for name in runs
    }
    for _ in range(ROUNDS):
        for seed, X in tensors.items():
            for name, run in runs.items():
                begin = time.perf_counter()
                cp = run(X, seed)
                measured[name]["seconds"].append(time.perf_counter() - begin)
                measured[name]["above"].append(error(X, cp) / best[seed] - 1)
    table = {
        name: {
            "seconds": float(np.median(m["seconds"])),
            "above best, %": 100 * float(np.mean(m["above"])),
            "worst above best, %": 100 * float(np.max(m["above"])),
        }
        for name, m in measured.items()
    }
    return {"best relative errors": list(best.values()), "table": table}


def published_steps(X: np.ndarray, n: int) -> float:
    """Return seconds per batch of the published steps, written anew in NumPy.

    As there, samples lie along the last axis, batches are drawn from it, atoms are formed as a
    matrix, codes start at random and take 30 rounds of damped steps row by row, and each column of
    each mode takes one damped step.
    """
    rng = np.random.default_rng(0)
    data = np.moveaxis(X, 0, -1).copy()
    shape = data.shape[:-1]
    U = [rng.random((size, RANK)) for size in shape]
    A, B = np.zeros((RANK, RANK)), np.zeros((int(np.prod(shape)), RANK))
    begin = time.perf_counter()
    for t in range(1, n + 1):
        columns = data.take(rng.integers(len(X), size=20), axis=-1).reshape(-1, 20)
        W = np.stack([khatri_rao([u[:, [r]] for u in U])[:, 0] for r in range(RANK)], axis=1)
        gram, linear, H = W.T @ W, W.T @ columns, rng.random((RANK, 20))
        for _ in range(30):
            for r in range(RANK):
                slope, moved = gram[r] @ H - linear[r], H.copy()
                np.linalg.norm(slope)
                moved[r] = np.maximum(H[r] - slope / (gram[r, r] + 1), 0)
                H = moved
        A = (1 - 1 / t) * A + H @ H.T / t
        B = (1 - 1 / t) * B + columns @ H.T / t
        for mode in range(len(shape)):
            others = A.copy()
            for k, u in enumerate(U):
                if k != mode:
                    others *= u.T @ u
            part = np.empty((RANK, shape[mode]))
            for r in range(RANK):
                b = B[:, r].reshape(shape)
                for k in reversed(range(len(shape))):
                    if k != mode:
                        b = np.tensordot(b, U[k][:, r], (k, 0))
                part[r] = b
            for r in range(RANK):
                column = U[mode][:, r] - (U[mode] @ others[:, r] - part[r]) / (others[r, r] + 1)
                column = np.maximum(column, 0)
                U[mode][:, r] = column / max(1.0, float(np.linalg.norm(column)))
    return (time.perf_counter() - begin) / n


def batches() -> dict[str, Any]:
    """Return milliseconds per batch of 20 tensors of several orders, ours and published."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for shape in ((100, 100), (30, 30, 30), (12, 12, 12, 12)):
        X = np.einsum("nr,pr->np", rng.random((20, RANK)), rng.random((int(np.prod(shape)), RANK)))
        X = X.reshape(20, *shape)
        ours, theirs = [], []
        model = OnlineCPDictionary(RANK, random_state=0).partial_fit(X)
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            for _ in range(30):
                model.partial_fit(X)
            ours.append((time.perf_counter() - begin) / 30)
            theirs.append(published_steps(X, 10))
        found[" x ".join(map(str, (20, *shape)))] = {
            "ms": 1e3 * float(np.median(ours)),
            "published steps, ms": 1e3 * float(np.median(theirs)),
            "times faster": float(np.median(np.array(theirs) / np.array(ours))),
        }
    return found


def sparse() -> dict[str, Any]:
    """Return milliseconds of the parts of a step on sparse tensors, by number of stored entries."""
    shape, found = (20, 400, 400), {}
    rng = np.random.default_rng(0)
    for n_stored in (1_000, 10_000, 100_000):
        places = tuple(rng.integers(0, size, n_stored) for size in shape)
        X = sp.coo_array((rng.random(n_stored), places), shape=shape)
        model = OnlineCPDictionary(RANK, init="random", random_state=0).partial_fit(X)
        model.partial_fit(X)
        batch, algorithm = model._batch(X), model.algorithm_
        times: dict[str, list[float]] = {"code": [], "accumulate": [], "sweep": []}
        for _ in range(20):
            t = [time.perf_counter()]
            model.state_.dictionary.correlate(batch.X)
            t.append(time.perf_counter())
            codes = algorithm.coder.encode(
                batch, model.state_.dictionary, algorithm.objective, model.clock_.tolerance
            )
            t.append(time.perf_counter())
            batch.X.T @ codes.values  # the products of a batch; absorbing them is one pass over B
            t.append(time.perf_counter())
            algorithm.updater.update(model.state_, algorithm.objective, model.clock_)
            t.append(time.perf_counter())
            for name, spent in zip(times, (t[1] - t[0], t[3] - t[2], t[4] - t[3]), strict=True):
                times[name].append(1e3 * spent)
        found[f"{n_stored:,} stored"] = {
            name: float(np.median(spent)) for name, spent in times.items()
        }
    return found


def big(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return speed and peak memory on a tensor in a file, against reading it alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.npy"
        rng = np.random.default_rng(0)
        factors = [rng.random((size, 8), np.float32) for size in shape]
        X = np.lib.format.open_memmap(path, "w+", np.float32, shape)
        rest = khatri_rao(factors[1:]).T
        for start in range(0, shape[0], 10):
            part = factors[0][start : start + 10] @ rest
            X[start : start + 10] = (part + rng.random(part.shape, np.float32)).reshape(
                -1, *shape[1:]
            )
        X.flush()
        del X
        found: dict[str, Any] = {"GB": float(np.prod(shape)) * 4 / 1e9}
        for where in ("from the disk", "from the system's cache"):
            runs = []
            for _ in range(3):
                pair = []
                for job in ("read", "learn"):
                    if where == "from the disk":
                        _forget(path)
                    pair.append(_child(job, path))
                runs.append(pair)
            reading, learning = (
                float(np.median([pair[k]["seconds"] for pair in runs])) for k in (0, 1)
            )
            found[where] = {
                "one pass with one product, s": reading,
                "one learning pass, s": learning,
                "speed, share of that pass": reading / learning,
                "one pass, then all slices coded, s": float(
                    np.median([pair[1]["whole"] for pair in runs])
                ),
                "peak memory, MB": max(pair[1]["peak"] for pair in runs),
            }
    return found


def _child(job: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, job, str(path)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def child(job: str, path: str) -> None:
    """Do one job on the file in a process of its own, and tell seconds and peak memory (MB)."""
    X = np.load(path, mmap_mode="r")
    if job == "read":
        matrix = np.random.default_rng(0).random((int(np.prod(X.shape[1:])), RANK), np.float32)
        begin = time.perf_counter()
        for start in range(0, len(X), THIN):
            part = np.array(X[start : start + THIN])
            part.reshape(len(part), -1) @ matrix
        print(json.dumps({"seconds": time.perf_counter() - begin}))
        return
    peak = _Peak()
    model = OnlineCPDictionary(RANK, random_state=0)
    model.partial_fit(np.array(X[:THIN]))
    begin = time.perf_counter()
    for start in range(0, len(X), THIN):
        model.partial_fit(np.array(X[start : start + THIN]))
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    online_parafac(X, RANK, fraction=THIN / len(X), n_epochs=1, random_state=0)
    whole = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "whole": whole, "peak": peak.stop()}))


class _Peak:
    """Watches the memory of this process from a thread, without pages of files."""

    def __init__(self) -> None:
        self._most, self._going = 0.0, True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while self._going:
            status = Path("/proc/self/status").read_text()
            fields = {line.split(":")[0]: line.split()[1:2] for line in status.splitlines()}
            self._most = max(self._most, int(fields["RssAnon"][0]) / 1e3)
            time.sleep(0.002)

    def stop(self) -> float:
        """Return the peak in MB."""
        self._going = False
        self._thread.join()
        return self._most


def _forget(path: Path) -> None:
    """Ask the system to drop what it holds of a file, so that it is read from the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    """Measure everything and write the numbers."""
    measured: dict[str, Any] = {"batches": batches(), "sparse": sparse()}
    print(json.dumps(measured, indent=1), flush=True)
    measured["big"] = big(tuple(size // (3 if "--small" in sys.argv else 1) for size in BIG))
    print(json.dumps(measured["big"], indent=1), flush=True)
    measured["race"] = race()
    print(json.dumps(measured["race"], indent=1), flush=True)
    save("tensors", measured)


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["learn"]):
        child(sys.argv[1], sys.argv[2])
    else:
        main()
