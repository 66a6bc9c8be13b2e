"""What a step of learning costs: by rows, on two cores, of many atoms, from several starts.

``python benchmarks/learning.py`` writes ``results/learning-*.json``; names of parts run these alone
(``rows``, ``threads``, ``many``, ``starts``). 16,384 atoms take 12 GB. Times of ``threads`` are
wall-clock times of a quiet machine with two cores, all others of the processor, one thread;
contenders in turns. Speeds of ``rows`` stand beside errors on rows held out, and beside batch NMF
of all its rows; nothing is chosen by them.
"""

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import contextlib
import statistics
import sys
import time
import warnings

import contenders
import numpy as np
from benchmark_records import save
from sklearn.decomposition import NMF, MiniBatchDictionaryLearning, MiniBatchNMF
from threadpoolctl import threadpool_limits
from workload import N_ATOMS, held_out_error, patches, start

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.coders import multiplicative, quadratic
from atomstream.penalties import TopK

TURNS, STEPS = 5, 200
BATCH = "scikit-learn's NMF, all rows at once"
NAMES = {1: "one", 2: "two", None: "default"}  # numbers of threads


def by_rows(model, rows):
    """Return the microseconds of a ``partial_fit`` with one row."""
    began = time.process_time()
    for row in rows:
        model.partial_fit(row)
    return (time.process_time() - began) / len(rows) * 1e6


def by_stream(model, rows):
    """Return the microseconds of a step of ``fit_stream`` with one row."""
    began = time.process_time()
    model.fit_stream(list(rows))
    return (time.process_time() - began) / len(rows) * 1e6


def rows():
    """Return microseconds of steps of one row each, and errors: 144 features, 20 atoms.

    All learn from the same 200 rows at once and then from the same rows one by one, which alone is
    timed. Judges are as many new rows as a tenth. ``NMF`` has all rows at once, 500 rounds.
    """
    rng = np.random.default_rng(0)
    first = rng.random((200, 144))
    models = {
        "ours, partial_fit": (OnlineNMF(20, random_state=0), by_rows),
        "ours, a step of fit_stream": (OnlineNMF(20, random_state=0), by_stream),
        "scikit-learn's MiniBatchNMF": (MiniBatchNMF(20, random_state=0), by_rows),
        "scikit-learn's MiniBatchDictionaryLearning": (
            MiniBatchDictionaryLearning(20, random_state=0),
            by_rows,
        ),
    }
    times, seen = {name: [] for name in models}, [first]
    for model, _ in models.values():
        model.partial_fit(first)
    for _ in range(TURNS):
        data = rng.random((STEPS, 1, 144))
        seen.append(data[:, 0])
        for name, (model, way) in models.items():
            times[name].append(way(model, data))
    X, whole = np.concatenate(seen), NMF(20, max_iter=500, tol=0, random_state=0)
    held, began = rng.random((len(X) // 10, 144)), time.process_time()
    whole.fit(X)
    times[BATCH] = [(time.process_time() - began) / len(X) * 1e6]
    atoms = {name: model.components_ for name, (model, _) in models.items()}
    atoms |= {BATCH: whole.components_, "the mean row": X.mean(axis=0, keepdims=True)}
    return {
        name: {
            "us": statistics.median(times[name]) if name in times else None,
            "error": held_out_error(rows, held),
            "error, signed codes": signed_error(rows, held),
        }
        for name, rows in atoms.items()
    }


def signed_error(atoms, X):
    """Return ||X - HD|| / ||X|| with the codes of least squares, which may be negative."""
    return np.linalg.norm(X - X @ np.linalg.pinv(atoms) @ atoms) / np.linalg.norm(X)


def threads():
    """Return seconds of a pass and of coding with one and two threads, and by the default.

    144 features, 100 atoms. ``serial`` is the share of a pass on one thread in which no blocks of
    rows are coded; by it ``predicted`` says how much faster more cores would be (Amdahl).
    """
    rng, found = np.random.default_rng(0), {}
    X = (rng.random((30_000, 10)) ** 4 @ rng.random((10, 144))).astype(np.float32)
    X += 0.1 * rng.random(X.shape, dtype=np.float32)
    for size, loss in [(256, "squared"), (1_024, "squared"), (256, "kl"), (1_024, "kl")]:
        settings = {"batch_size": size, "n_epochs": 1, "random_state": 0, "loss": loss}
        times, coding, atoms, inside = ({1: [], 2: [], None: []} for _ in range(4))
        for _ in range(TURNS):
            for n_jobs, spent in times.items():
                model = OnlineNMF(100, n_jobs=n_jobs, **settings)
                with watched([quadratic, multiplicative]) as blocks, threadpool_limits(2, "blas"):
                    began = time.perf_counter()
                    atoms[n_jobs] = model.fit(X).components_
                    spent.append(time.perf_counter() - began)
                inside[n_jobs].append(sum(blocks))
                with threadpool_limits(2, "blas"):
                    began = time.perf_counter()
                    model.transform(X[:3_000])
                    coding[n_jobs].append(time.perf_counter() - began)
        serial = 1 - min(inside[1]) / min(times[1])
        found[f"{loss}, batches of {size}"] = {
            **{NAMES[n]: min(spent) for n, spent in times.items()},
            "coding": {NAMES[n]: min(spent) for n, spent in coding.items()},
            "serial": serial,
            "predicted": {n: 1 / (serial + (1 - serial) / n) for n in (2, 4, 8, 16)},
            "same bits": all(np.array_equal(atoms[1], other) for other in atoms.values()),
        }
    return found


@contextlib.contextmanager
def watched(modules):
    """Yield a list that gets the seconds of each call of ``over_rows`` from these modules."""
    seconds, shared = [], modules[0].over_rows

    def timed(*arguments):
        began = time.perf_counter()
        shared(*arguments)
        seconds.append(time.perf_counter() - began)

    for module in modules:
        module.over_rows = timed
    try:
        yield seconds
    finally:
        for module in modules:
            module.over_rows = shared


def sparse_rows(n_rows, n_atoms):
    """Return centred rows, float32, each with 32 of the atoms."""
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((n_atoms, 768)).astype(np.float32) / np.sqrt(768)
    X = np.zeros((n_rows, 768), np.float32)
    for row in X:
        row += rng.standard_normal(32) @ atoms[rng.choice(n_atoms, 32, replace=False)]
    return X - X.mean(axis=0)


def many():
    """Return milliseconds a row of learning 32 of many atoms, signed and centred, float32.

    SPAMS codes by orthogonal matching pursuit, as ours does.
    """
    cases = [(n_atoms, size, {}) for n_atoms in (1_024, 2_048) for size in (256, 2_048)]
    cases += [(2_048, 2_048, {"atoms": "unit_sphere"}), (4_096, 2_048, {}), (16_384, 2_048, {})]
    found = {}
    for n_atoms, size, settings in cases:
        X = sparse_rows(max(8_192, n_atoms + 3 * size), n_atoms)
        model = OnlineDictionaryLearning(
            n_atoms, codes=TopK(32), alpha=0, random_state=0, **settings
        )
        first, times = max(2_048, n_atoms), []
        model.partial_fit(X[:first])
        for row in range(first, first + 3 * size, size):
            began = time.process_time()
            model.partial_fit(X[row : row + size])
            times.append((time.process_time() - began) / size * 1e3)
        on = ", on the sphere" if settings else ""
        found[f"{n_atoms} atoms{on}, batches of {size}"] = min(times)
        if size == 2_048 and not settings and n_atoms <= 4_096:
            found[f"SPAMS, {n_atoms} atoms, batches of {size}"] = spams_row(X, n_atoms, size)
    return found


def spams_row(X, n_atoms, size, n_iter=3):
    """Return milliseconds a row of SPAMS's steps with 32 atoms a row."""
    import spams

    first = X[:n_atoms] / np.linalg.norm(X[:n_atoms], axis=1, keepdims=True)
    data, first = np.asfortranarray(X.T), np.asfortranarray(first.T)
    settings = {"mode": 3, "lambda1": 32, "batchsize": size, "numThreads": 1, "verbose": False}
    began = time.process_time()
    spams.trainDL(data, D=first, iter=n_iter, **settings)
    return (time.process_time() - began) / size / n_iter * 1e3


def starts():
    """Return what a pass over the reference patches does from samples and from random numbers."""
    X, held = patches()
    drawn = np.random.default_rng(0).random((N_ATOMS, X.shape[1]), dtype=np.float32)
    begins = {
        "samples": start(X),
        "random numbers": drawn / np.linalg.norm(drawn, axis=1, keepdims=True),
    }
    learners = {"atomstream": contenders.atomstream, "SPAMS": contenders.spams}
    times, found = {}, {}
    for _ in range(3):
        for name, first in begins.items():
            for who, learn in learners.items():
                began = time.process_time()
                atoms, n_samples = learn(X, first, n_samples=len(X), alpha=0.03)
                key, seconds = f"{who} from {name}", time.process_time() - began
                times[key] = min(seconds / n_samples, times.get(key, np.inf))
                gram = atoms.astype(float) @ atoms.T
                found[key] = {"condition": np.linalg.cond(gram)}
                found[key]["error"] = held_out_error(atoms, held)
    for key, seconds in times.items():
        found[key]["samples per second"] = 1 / seconds
    return found


PARTS = {part.__name__: part for part in (rows, threads, many, starts)}


def main(names):
    """Run the parts and write a record of each."""
    for name in names:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measured = PARTS[name]()
        print(name, measured, flush=True)
        save(f"learning-{name}", measured, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main(sys.argv[1:] or PARTS)
