"""Each contender learns for a time or so many samples and returns its dictionary; one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from workload import N_ATOMS

BATCH = 256


def atomstream(X, start, *, seconds=None, n_samples=None, alpha=0.0, tol="root", seed=0):
    """Ours: one pass over ``n_samples`` rows, or as many shuffled passes as the seconds allow."""
    from atomstream import OnlineNMF
    from atomstream.coders import Auto

    model = OnlineNMF(
        len(start), alpha=alpha, coder=Auto(tol), init=start, random_state=seed, batch_size=BATCH
    )
    if n_samples is not None:
        model.set_params(n_epochs=1, shuffle=False).fit(X[:n_samples])
    else:
        model.set_params(n_epochs=10_000, max_time=seconds).fit(X)
    return model.components_, model.n_samples_seen_


def spams(X, start, *, seconds=None, n_samples=None, alpha=0.03, batch=64):
    """SPAMS ``trainDL``, nonnegative codes and atoms, for so many samples or whole seconds."""
    import spams as library

    data, first = np.asfortranarray(X.T), np.asfortranarray(start.T)
    settings = {
        "lambda1": alpha,
        "mode": 2,
        "posAlpha": True,
        "posD": True,
        "batchsize": batch,
        "numThreads": 1,
    }
    # A negative number of iterations means seconds; default weighting, modeParam=0, was the best of
    # those seen.
    n_iter = n_samples // batch if n_samples is not None else -seconds
    atoms = library.trainDL(data, D=first, iter=n_iter, modeParam=0, verbose=False, **settings)
    return atoms.T, n_samples


def minibatch_nmf(X, start, *, seconds, batch=1024):
    """Scikit-learn's MiniBatchNMF by ``partial_fit``; ``fit`` ends at .185 after 6 s."""
    from sklearn.decomposition import MiniBatchNMF

    return _partial_fits(
        MiniBatchNMF(N_ATOMS, init="random", batch_size=batch, random_state=0), X, seconds, batch
    )


def minibatch_dictionary_learning(X, start, *, seconds, batch=256, alpha=0.03):
    """Scikit-learn's MiniBatchDictionaryLearning by ``partial_fit``, all nonnegative."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    model = MiniBatchDictionaryLearning(
        N_ATOMS,
        alpha=alpha,
        batch_size=batch,
        fit_algorithm="cd",  # its only one with nonnegative codes
        positive_code=True,
        positive_dict=True,
        dict_init=start,
        random_state=0,
    )
    return _partial_fits(model, X, seconds, batch)


def batch_nmf(X, start, *, seconds):
    """Scikit-learn's NMF by coordinate descent: as many sweeps as the time allows, at least one."""
    import warnings

    from sklearn.decomposition import NMF

    deadline, codes, atoms = time.perf_counter() + seconds, None, start.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        codes = np.full((len(X), N_ATOMS), X.mean() / N_ATOMS, np.float32)
        while time.perf_counter() < deadline:
            model = NMF(N_ATOMS, init="custom", max_iter=1)
            codes = model.fit_transform(X, W=codes, H=np.ascontiguousarray(atoms))
            atoms = model.components_
    return atoms, None


def _partial_fits(model, X, seconds, batch):
    deadline, start, rng, order = time.perf_counter() + seconds, 0, np.random.default_rng(0), None
    while time.perf_counter() < deadline:
        if order is None or start >= len(X):
            order, start = rng.permutation(len(X)), 0
        model.partial_fit(X[order[start : start + batch]])
        start += batch
    return model.components_, None


Contender = Callable[..., tuple[np.ndarray, int | None]]
