"""Exact codes of 50,000 patches under a learned dictionary: speed and worst gap."""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import multiprocessing
import statistics
import time
import warnings

import numpy as np
from benchmark_records import save
from workload import patches, start

N_SAMPLES, N_SLOW, ROUNDS = 50_000, 500, 5
ADMITTED = 1e-4


def atomstream(X, atoms, alpha, n_jobs=1, sparse_output=False):
    """Ours."""
    from atomstream import sparse_encode

    return sparse_encode(X, atoms, alpha=alpha, n_jobs=n_jobs, sparse_output=sparse_output)


def spams(X, atoms, alpha):
    """SPAMS ``lasso``: nonnegative LARS by Cholesky; columns are laid out off the clock."""
    import spams as library

    return library.lasso(X, D=atoms, lambda1=alpha, mode=2, pos=True, numThreads=1).T


def sklearn_lars(X, atoms, alpha):
    """Scikit-learn's ``sparse_encode`` as it comes, by ``lasso_lars``."""
    from sklearn.decomposition import sparse_encode

    return sparse_encode(
        X, atoms, algorithm="lasso_lars", alpha=alpha, positive=True, max_iter=2000
    )


def sklearn_cd(X, atoms, alpha):
    """Scikit-learn's ``sparse_encode`` by ``lasso_cd``."""
    from sklearn.decomposition import sparse_encode

    return sparse_encode(X, atoms, algorithm="lasso_cd", alpha=alpha, positive=True, max_iter=2000)


def alpha_for(density, X, atoms):
    """Return the alpha that leaves this share of our codes nonzero, by bisection on 2,000 rows."""
    low, high = 1e-4, 10.0
    for _ in range(30):
        alpha = np.sqrt(low * high)
        low, high = (
            (alpha, high)
            if np.mean(atomstream(X[:2000], atoms, alpha) > 0) > density
            else (low, alpha)
        )
    return float(f"{alpha:.3g}")


def lower_bounds(X, atoms, alpha):
    """Return a dual value for every row, below which no code can get."""
    codes = atomstream(X, atoms, alpha)
    rest = X - codes @ atoms
    scale = np.minimum(1.0, alpha / (rest @ atoms.T).max(axis=1))
    return scale * np.einsum("ij,ij->i", X, rest) - 0.5 * scale**2 * np.einsum(
        "ij,ij->i", rest, rest
    )


def gaps(codes, X, atoms, alpha, bounds):
    """Return (objective - dual) / objective of every row, in float64."""
    codes = np.asarray(codes.todense() if hasattr(codes, "todense") else codes, dtype=np.float64)
    objective = 0.5 * ((X - codes @ atoms) ** 2).sum(axis=1) + alpha * codes.sum(axis=1)
    return (objective - bounds) / objective


def contenders(X, atoms):
    """Return name -> (function, data, dictionary), each in the layout it likes."""
    entries = {}
    for dtype in (np.float32, np.float64):
        rows, kept = X.astype(dtype), atoms.astype(dtype)
        columns = np.asfortranarray(rows.T), np.asfortranarray(kept.T)
        name = np.dtype(dtype).name
        entries[f"atomstream {name}"] = (atomstream, rows, kept)
        entries[f"SPAMS lasso {name}"] = (spams, *columns)
    entries["scikit-learn lasso_lars float64"] = (
        sklearn_lars,
        X[:N_SLOW].astype(np.float64),
        atoms,
    )
    entries["scikit-learn lasso_cd float64"] = (sklearn_cd, X[:N_SLOW].astype(np.float64), atoms)
    return entries


def compare(X, atoms, alpha):
    """Time every contender in interleaved rounds and certify its codes."""
    exact = X.astype(np.float64)
    bounds, rows = lower_bounds(exact, atoms, alpha), {}
    entries = contenders(X, atoms)
    times = {name: [] for name in entries}
    for round_ in range(ROUNDS):
        for name, (encode, data, kept) in entries.items():
            slow = name.startswith("scikit")
            if slow and round_ > 2:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                began = time.perf_counter()
                codes = encode(data, kept, alpha)
                took = time.perf_counter() - began
            n = N_SLOW if slow else len(X)
            times[name].append(1e6 * took / n)
            if round_ == 0:
                gap = gaps(codes, exact[:n], atoms, alpha, bounds[:n])
                rows[name] = {
                    "worst_gap": float(gap.max()),
                    "share_above": float((gap > ADMITTED).mean()),
                }
    for name, values in times.items():
        rows[name]["us_per_row"] = statistics.median(values)
    return rows


def burn(stop):
    """Keep one core busy."""
    x = np.random.default_rng(0).random((200, 200))
    while not stop.is_set():
        x = x @ x
        x /= np.abs(x).max()


def threads(X, atoms, alpha):
    """Time one and two threads in turns, on an idle machine and with one core kept busy."""

    def turns():
        """Return the median seconds of one and of two threads."""
        took = {1: [], 2: []}
        for _ in range(ROUNDS):
            for n_jobs, values in took.items():
                began = time.perf_counter()
                atomstream(X, atoms, alpha, n_jobs=n_jobs)
                values.append(time.perf_counter() - began)
        return {n: statistics.median(values) for n, values in took.items()}

    idle = turns()
    stop = multiprocessing.Event()
    busy = [
        multiprocessing.Process(target=burn, args=(stop,))
        for _ in range(max(1, (os.cpu_count() or 2) - 1))
    ]
    for process in busy:
        process.start()
    loaded = turns()
    stop.set()
    for process in busy:
        process.join()
    return {"idle": idle[1] / idle[2], "other core busy": loaded[1] / loaded[2]}


def main():
    """Measure and write ``results/coding.json``."""
    from atomstream import OnlineNMF
    from atomstream.coders import Auto

    X, _ = patches()
    model = OnlineNMF(100, init=start(X), coder=Auto(tol=0.1), random_state=0, n_epochs=3).fit(X)
    atoms, X = model.components_.astype(np.float64), X[:N_SAMPLES]
    results = {"condition": float(np.linalg.cond(atoms @ atoms.T)), "densities": {}}
    for density in (0.1, 0.3):
        alpha = alpha_for(density, X, atoms)
        print(f"density {density}, alpha {alpha}", flush=True)
        rows = compare(X, atoms, alpha)
        for name, row in rows.items():
            print(
                f"  {name:34s} {row['us_per_row']:8.2f} us  worst gap {row['worst_gap']:.1e}",
                flush=True,
            )
        results["densities"][str(density)] = {
            "alpha": alpha,
            "rows": rows,
            "threads": threads(X, atoms, alpha),
        }
        print(" ", results["densities"][str(density)]["threads"], flush=True)
    save("coding", results)


if __name__ == "__main__":
    main()
