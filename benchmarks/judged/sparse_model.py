"""Who finds the atoms of a sparse model first? Codes of a given number of entries.

judged/sparse_model.py --seconds 40     # writes results/sparse-model.json
judged/sparse_model.py rivals           # writes results/sparse-model-rivals.json

Samples are sums of 5 out of 2,048 random atoms in 256 dimensions, with noise. An atom counts as
found where a learned one has a cosine above 0.9 with it, up to sign. One thread, processor time,
contenders in turns. SPAMS starts anew for each of its points; scikit-learn learns with l1 codes,
the only ones that its learner has, and codes with pursuit afterwards. The rivals of the second
record are SPAMS with other sizes of batches and with weights of batches that decay, and K-SVD on
all samples until it finds no more; its pursuit ends at 5 entries or, told the noise, where what is
left of a sample is as long as its noise.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

import argparse
import time
import warnings
from functools import partial

import numpy as np
from benchmark_records import save
from k_svd import k_svd_round

N_ATOMS, N_FEATURES, K, N_SAMPLES, BATCH = 2_048, 256, 5, 60_000, 2_048
NOISE, STILL = 0.05, 5  # standard deviation; rounds that find no more
SIZES, DECAYS = (1_024, 4_096), (0.9, 0.95)  # other batches of SPAMS, weights of a batch before


def problem(rng):
    """Return the true atoms, samples in float32, and a start: drawn samples of length one."""
    atoms = rng.standard_normal((N_ATOMS, N_FEATURES)).astype(np.float32)
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    rows = np.empty((N_SAMPLES, N_FEATURES), np.float32)
    for row in rows:
        values = rng.standard_normal(K) + np.sign(rng.standard_normal(K))
        row[:] = values @ atoms[rng.choice(N_ATOMS, K, replace=False)]
    rows += NOISE * rng.standard_normal(rows.shape, dtype=np.float32)
    start = rows[rng.choice(N_SAMPLES, N_ATOMS, replace=False)]
    return atoms, rows, start / np.linalg.norm(start, axis=1, keepdims=True)


def found(learned, atoms):
    """Return the share of the true atoms that were found."""
    lengths = np.maximum(np.linalg.norm(learned, axis=1, keepdims=True), 1e-12)
    return float((np.abs(atoms @ (learned / lengths).T).max(axis=1) > 0.9).mean())


def by_batches(model, X, seconds, truth):
    """Learn batch by batch for a time; yield (seconds, share found) after each five batches."""
    spent, step = 0.0, 0
    while spent < seconds:
        at = step * BATCH % (len(X) - BATCH + 1)
        began = time.process_time()
        model.partial_fit(X[at : at + BATCH])
        spent += time.process_time() - began
        step += 1
        if step % 5 == 0 or spent > seconds:
            yield spent, found(model.components_, truth)


def atomstream(X, start, seconds, truth):
    """Ours."""
    from atomstream import OnlineDictionaryLearning
    from atomstream.penalties import TopK

    model = OnlineDictionaryLearning(N_ATOMS, codes=TopK(K), alpha=0, init=start, random_state=0)
    model.partial_fit(X[:BATCH])  # compiles
    model = OnlineDictionaryLearning(N_ATOMS, codes=TopK(K), alpha=0, init=start, random_state=0)
    return by_batches(model, X, seconds, truth)


def sklearn(X, start, seconds, truth):
    """Scikit-learn's MiniBatchDictionaryLearning."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    model = MiniBatchDictionaryLearning(
        N_ATOMS, alpha=0.5, batch_size=BATCH, fit_algorithm="cd", dict_init=start, random_state=0
    )
    return by_batches(model, X, seconds, truth)


def spams(X, start, seconds, truth, batch=BATCH, decay=None):
    """SPAMS ``trainDL`` with ``omp`` codes (mode 3 with a number of entries)."""
    import spams as library

    rule = {"modeParam": 0} if decay is None else {"modeParam": 2, "rho": decay}
    columns, first = np.asfortranarray(X.T), np.asfortranarray(start.T)
    for n_batches in (10, 20, 30, 40, 60, 90, 130, 270):
        began = time.process_time()
        atoms = library.trainDL(
            columns, D=first, lambda1=K, mode=3, iter=n_batches * BATCH // batch, batchsize=batch,
            numThreads=1, verbose=False, **rule,
        )  # fmt: skip
        spent = time.process_time() - began
        yield spent, found(atoms.T, truth)
        if spent > seconds:
            break


def k_svd(X, start, seconds, truth, told=False):
    """K-SVD on all samples with pursuit of SPAMS, until five rounds have found no more."""
    from spams import omp

    # Without eps SPAMS reads unset memory.
    end = {"L": 2 * K, "eps": N_FEATURES * NOISE**2} if told else {"L": K, "eps": 0.0}

    columns, atoms = np.asfortranarray(X.T), np.array(start.T, order="F")  # others have the start
    spent, course = 0.0, []
    while spent < seconds or course[-1] > max(course[:-STILL], default=0):
        began = time.process_time()
        codes = omp(columns, atoms, numThreads=1, **end)
        k_svd_round(columns, atoms, codes.tocsr())
        spent += time.process_time() - began
        course.append(found(atoms.T, truth))
        yield spent, course[-1]


def contenders(rivals):
    """Return the contenders of a record by their names."""
    if not rivals:
        return {each.__name__: each for each in (atomstream, spams, sklearn)}
    sizes = {f"spams, {size}": partial(spams, batch=size) for size in SIZES}
    decays = {f"spams, {decay}": partial(spams, decay=decay) for decay in DECAYS}
    return sizes | decays | {"k-svd": k_svd, "k-svd, told": partial(k_svd, told=True)}


def main():
    """Learn with each and write ``results/sparse-model.json`` or ``sparse-model-rivals.json``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rivals", nargs="?", choices=["rivals"])
    parser.add_argument("--seconds", type=float, default=40)
    given = parser.parse_args()
    truth, X, start = problem(np.random.default_rng(0))
    makers = contenders(given.rivals)
    courses = {name: make(X, start, given.seconds, truth) for name, make in makers.items()}
    results = {name: [] for name in courses}
    warnings.simplefilter("ignore")  # scikit-learn's coder does not converge
    while courses:
        for name, course in list(courses.items()):
            if (point := next(course, None)) is None:
                del courses[name]
                continue
            results[name].append(point)
            print(name, point, flush=True)
        if given.rivals:
            save("sparse-model-rivals", results)
        else:
            save("sparse-model", results)


if __name__ == "__main__":
    main()
