"""Divergences: sparse counts against two libraries, the paper's dense data against batch updates.

``python benchmarks/divergences.py`` writes ``results/divergences.json``, and ``python
benchmarks/divergences.py batch`` writes ``results/divergences-batch.json``: courses of batch
methods that go on for longer, multiplicative updates on the counts and, on the dense data,
coordinate descent of the squared loss, which is judged by Itakura-Saito and Kullback-Leibler too,
where multiplicative updates of these losses go on from its end; ``python benchmarks/divergences.py
one-atom`` writes ``results/divergences-one-atom.json``: one atom, the median of every feature over
the dense rows with their noise. Nothing of these rivals is chosen by what is reported. Under robust
losses the batch has 200 rounds, and no other rival but the atom is run. One thread each. Every
contender's dictionaries are judged by one exact coder on held-out samples, under robust losses by
the distance from the same samples without outliers; its clock runs while it learns only. Times to a
value are those of snapshots along one training.
"""

from __future__ import annotations

import json
import os
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from baselines import weighted_mu_steps
from benchmark_records import save
from exp_004_1_outliers import ROBUST, clean_error, weights
from synthetic import LOSSES, N_ATOMS, noisy_and_clean

from atomstream import OnlineNMF

N_TOPICS, N_WORDS, N_DOCUMENTS, N_HELD_OUT = 20, 5000, 20_000, 2000
N_DENSE, N_DENSE_HELD_OUT, N_ROUNDS = 20_000, 500, 200
BETAS = {"is": 0.0, "kl": 1.0, "squared": 2.0}
Snapshots = list[tuple[float, np.ndarray]]


def documents(seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return counts of words, CSR float32: 20 topics, two or three in each document of 80 words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(N_WORDS, 0.02), N_TOPICS)
    shares = rng.dirichlet(np.full(N_TOPICS, 0.1), N_DOCUMENTS + N_HELD_OUT)
    lengths = rng.poisson(80, len(shares)) + 5
    rows = [
        sp.csr_array(rng.multinomial(n, p / p.sum())[None])
        for n, p in zip(lengths, shares @ topics, strict=True)
    ]
    return sp.vstack(rows, format="csr").astype(np.float32), topics


def watched(
    steps: Iterator[Any], atoms: Callable[[], np.ndarray], every: int, limit: float = np.inf
) -> Snapshots:
    """Run through steps, keeping (seconds, atoms) at times; the copies are not on the clock."""
    seconds, found, begin = 0.0, [], time.perf_counter()
    for number, _ in enumerate(steps, start=1):
        if number % every == 0:
            seconds += time.perf_counter() - begin
            found.append((seconds, atoms().copy()))
            if seconds > limit:
                break
            begin = time.perf_counter()
    return found


def ours(
    X: Any, loss: Any, n_components: int, n_epochs: int, every: int, **settings: Any
) -> Snapshots:
    """Learn with defaults, in shuffled passes."""
    settings = {"batch_size": 256, "random_state": 0} | settings
    size = settings["batch_size"]
    model, order = OnlineNMF(n_components, loss=loss, **settings), np.random.default_rng(0)

    def steps() -> Iterator[None]:
        """Make the steps that ``fit`` makes."""
        for epoch in range(n_epochs):
            rows = order.permutation(X.shape[0])
            for start in range(0, len(rows), size):
                batch = X[rows[start : start + size]]
                model.fit_stream([batch], horizon=np.inf if not epoch else float(X.shape[0]))
                yield

    return watched(steps(), lambda: model.components_, every)


def minibatch_nmf(
    X: Any, beta: float, n_components: int, n_epochs: tuple[int, ...], batch: int, init: str | None
) -> Snapshots:
    """Scikit-learn's MiniBatchNMF by ``fit``, once for each number of passes."""
    from sklearn.decomposition import MiniBatchNMF

    found = []
    for epochs in n_epochs:
        model = MiniBatchNMF(
            n_components,
            beta_loss=beta,
            batch_size=batch,
            init=init,
            random_state=0,
            max_iter=epochs,
            tol=0,
            max_no_improvement=None,
        )
        begin = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - begin
        found.append((seconds, model.components_))
    return found


def gensim_nmf(X: Any, passes: int) -> Snapshots:
    """Learn by Nmf of gensim (squared loss) on the same documents, a snapshot after each pass."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models.nmf import Nmf

    corpus = Sparse2Corpus(sp.csc_matrix(X.T), documents_columns=True)
    names = {i: str(i) for i in range(X.shape[1])}
    model = Nmf(
        num_topics=N_TOPICS,
        id2word=names,
        chunksize=2000,
        passes=1,
        eval_every=None,
        random_state=0,
    )
    return watched((model.update(corpus) for _ in range(passes)), model.get_topics, 1)


def batch_updates(X: np.ndarray, loss: str) -> Snapshots:
    """Batch multiplicative updates: scikit-learn's where it has the loss, else our own."""
    if loss in BETAS:
        from sklearn.decomposition import NMF

        model = NMF(
            N_ATOMS,
            solver="mu",
            beta_loss=BETAS[loss],
            init="random",
            max_iter=N_ROUNDS,
            tol=0,
            random_state=0,
        )
        begin = time.perf_counter()
        model.fit(X)
        return [(time.perf_counter() - begin, model.components_)]
    steps = weighted_mu_steps(X, N_ATOMS, weights(loss, X), seed=0)
    last: list[np.ndarray] = []

    def run() -> Iterator[None]:
        """Make the rounds, holding on to the newest dictionary."""
        for _, (_, atoms) in zip(range(N_ROUNDS), steps, strict=False):
            last[:] = [atoms]
            yield

    return watched(run(), lambda: last[0], N_ROUNDS)


def judged(found: Snapshots, loss: Any, held_out: Any) -> list[tuple[float, float]]:
    """Return (seconds, mean divergence of held-out samples at exact codes) of every snapshot."""
    values = []
    for seconds, atoms in found:
        rows = np.maximum(atoms, 1e-9 * atoms.mean(axis=1, keepdims=True)).astype(held_out.dtype)
        values.append((seconds, -OnlineNMF.from_components(rows, loss=loss).score(held_out)))
    return values


def judged_clean(
    found: Snapshots, loss: str, noisy: np.ndarray, clean: np.ndarray
) -> list[tuple[float, float]]:
    """Return (seconds, error against clean rows of codes found on noisy ones)."""
    return [(seconds, clean_error(atoms, loss, noisy, clean)) for seconds, atoms in found]


def traced(run: Callable[[], Any]) -> float:
    """Return the peak in MB that Python traces while something runs."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def sparse() -> dict[str, Any]:
    """Sparse counts: held-out Kullback-Leibler along the trainings, and our memory."""
    X, topics = documents()
    X, held_out = X[:N_DOCUMENTS], X[N_DOCUMENTS:]
    ours(X[:2000], "kl", N_TOPICS, 1, 1)  # compiles
    told: dict[str, Any] = {"truth": judged([(0.0, topics)], "kl", held_out)[0][1]}
    for size in (256, 1024):
        every = max(1, N_DOCUMENTS // size // 4)
        told[f"ours, batches of {size}"] = judged(
            ours(X, "kl", N_TOPICS, 6, every, batch_size=size), "kl", held_out
        )
        told[f"MiniBatchNMF, batches of {size}"] = judged(
            minibatch_nmf(X, 1.0, N_TOPICS, (1, 2, 4, 8, 16, 32), size, None), "kl", held_out
        )
    try:
        told["gensim Nmf"] = judged(gensim_nmf(X, 5), "kl", held_out)
    except ImportError:
        told["gensim Nmf"] = []
    told["memory_mb"] = traced(lambda: ours(X, "kl", N_TOPICS, 1, 1000, batch_size=1024))
    return told


def dense(loss: str) -> dict[str, Any]:
    """Learn from the data of the paper under one loss: curves, speed and memory."""
    noisy, clean, truth = noisy_and_clean(loss, N_DENSE + N_DENSE_HELD_OUT)
    X, held_out = noisy[:N_DENSE], noisy[N_DENSE:]
    part = LOSSES[loss]
    ours(X[:1000], part, N_ATOMS, 1, 1)  # compiles

    def values(found: Snapshots) -> list[tuple[float, float]]:
        """Judge by what counts under the loss."""
        if loss in ROBUST:
            return judged_clean(found, loss, held_out, clean[N_DENSE:])
        return judged(found, part, held_out)

    told: dict[str, Any] = {"truth": values([(0.0, truth)])[0][1]}
    found = ours(X, part, N_ATOMS, 10, 10)
    told["ours"] = values([snapshot for i, snapshot in enumerate(found) if i < 8 or i % 8 == 7])
    told["samples_per_second"] = 10 * N_DENSE / found[-1][0]
    told["batch"] = values(batch_updates(X, loss))
    if loss in BETAS:
        told["MiniBatchNMF"] = values(
            minibatch_nmf(X, BETAS[loss], N_ATOMS, (10, 100, 300), 1024, "random")
        )
    told["memory_mb"] = traced(lambda: ours(X, part, N_ATOMS, 1, 1000))
    return told


def rounds_of(X: Any, rank: int, *courses: tuple[tuple[int, ...], dict[str, Any]]) -> Snapshots:
    """Return (processor seconds, atoms) of scikit-learn's NMF after rounds of kinds in turn."""
    from sklearn.decomposition import NMF

    seconds, found, start = 0.0, [], {}
    for ends, settings in courses:
        for before, end in pairwise((0, *ends)):
            how = settings | ({"init": "custom"} if start else {})
            model = NMF(rank, max_iter=end - before, tol=0, random_state=0, **how)
            begin = time.process_time()
            codes = model.fit_transform(X, **start)
            seconds += time.process_time() - begin
            start = {"W": codes, "H": model.components_}
            found.append((seconds, model.components_.copy()))
        # Where multiplicative updates follow, a zero would stay one.
        start = {name: np.maximum(part, 1e-3 * part.mean()) for name, part in start.items()}
    return found


def batch() -> dict[str, Any]:
    """Return held-out losses along batch methods that go on for longer."""
    counts, _ = documents()
    updates = {"solver": "mu", "beta_loss": 1.0, "init": "nndsvda"}
    sparse = rounds_of(counts[:N_DOCUMENTS], N_TOPICS, ((10, 30, 100, 300), updates))
    told: dict[str, Any] = {"sparse": judged(sparse, "kl", counts[N_DOCUMENTS:])}
    for loss, beta in BETAS.items():
        X, _, _ = noisy_and_clean(loss, N_DENSE + N_DENSE_HELD_OUT)
        courses: list[tuple] = [((50, 500, 1000, 2000, 4000), {"solver": "cd", "init": "random"})]
        if loss != "squared":
            courses.append(((300,), {"solver": "mu", "beta_loss": beta}))
        told[loss] = judged(rounds_of(X[:N_DENSE], N_ATOMS, *courses), loss, X[N_DENSE:])
    return told


def one_atom(loss: str) -> dict[str, float]:
    """Return the end of one atom, the medians of features, by exact codes and by median ratios."""
    noisy, clean, _ = noisy_and_clean(loss, N_DENSE + N_DENSE_HELD_OUT)
    atom, held_out = np.median(noisy[:N_DENSE], axis=0), noisy[N_DENSE:]
    if loss not in ROBUST:
        return {"exact codes": judged([(0.0, atom[None])], LOSSES[loss], held_out)[0][1]}
    clean = clean[N_DENSE:]
    rows = np.outer(np.median(held_out / atom, axis=1), atom)
    return {
        "exact codes": clean_error(atom[None], loss, held_out, clean),
        "median ratios": float(np.sqrt(np.mean((rows - clean) ** 2))),
    }


def main() -> None:
    """Run everything and write the numbers."""
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        results: dict[str, Any] = {"sparse": sparse()}
        print(json.dumps(results["sparse"]), flush=True)
        for loss in LOSSES:
            results[loss] = dense(loss)
            print(loss, json.dumps(results[loss]), flush=True)
    save("divergences", results)


if __name__ == "__main__":
    if sys.argv[1:] == ["batch"]:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):
            save("divergences-batch", batch())
    elif sys.argv[1:] == ["one-atom"]:
        with threadpool_limits(1):
            save("divergences-one-atom", {loss: one_atom(loss) for loss in LOSSES})
    else:
        main()
