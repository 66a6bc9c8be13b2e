"""What experiments on convex factorization share: mixtures, the batch algorithm, and measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from atomstream import OnlineConvexMF, OnlineDictionaryLearning

LEAST = 1e-12  # denominators are kept above this
SMOOTHING = 0.2  # added to the memberships of k-means, as Ding, Li and Jordan do
N_REPRESENTATIVES = 150
METHODS = ("cvxMF", "online R_u", "online R_r", "online MF")


def mixture(
    n_samples: int,
    variance: float = 1.0,
    seed: int = 0,
    n_features: int = 50,
    n_components: int = 5,
    shares: tuple[float, ...] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (X, labels, means): Gaussians around means from U[0, 20]^m, cut off at 3 sigma.

    Coordinates and not distances: in 50 dimensions no Gaussian sample is within 3 sigma of its
    mean. Clusters are of equal size, or have the shares given.
    """
    rng = np.random.default_rng(seed)
    means = rng.uniform(0, 20, (n_components, n_features))
    labels = (
        rng.integers(n_components, size=n_samples)
        if shares is None
        else rng.choice(n_components, n_samples, p=shares)
    )
    noise = rng.standard_normal((n_samples, n_features))
    while (far := np.abs(noise) > 3).any():
        noise[far] = rng.standard_normal(int(far.sum()))
    return means[labels] + np.sqrt(variance) * noise, labels, means


def convex_mf_steps(
    X: np.ndarray, n_components: int, seed: int = 0
) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """Yield (W, squared error, G) of X = G W'X after each multiplicative round, for ever.

    Ding, Li and Jordan (2010), equations 26 and 27, samples in rows; the first is the start. The
    products of all samples are split by sign; each round multiplies them with W and with G.
    """
    times, size = split_products(X), float(np.vdot(X, X))
    labels = KMeans(n_components, n_init=4, random_state=seed).fit_predict(X)
    members = np.eye(n_components)[labels]
    G = members + SMOOTHING
    W = G / np.maximum(members.sum(axis=0), 1)
    up, down = times(W)
    while True:
        yield (
            W,
            size
            - 2 * float(np.sum(G * (up - down)))
            + float(np.sum((W.T @ (up - down)) * (G.T @ G))),
            G,
        )
        G = G * np.sqrt((up + G @ (W.T @ down)) / np.maximum(down + G @ (W.T @ up), LEAST))
        rise, fall = times(G)
        among = G.T @ G
        W = W * np.sqrt((rise + down @ among) / np.maximum(fall + up @ among, LEAST))
        up, down = times(W)


def split_products(X: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return what multiplies the positive and the negative part of XX' with a matrix.

    Samples without negative entries have no negative part, and XX' need not be formed.
    """
    if X.min() >= 0:
        return lambda W: (X @ (X.T @ W), np.zeros_like(W))
    gram = X @ X.T
    if gram.min() >= 0:
        return lambda W: (gram @ W, np.zeros_like(W))
    plus, minus = np.maximum(gram, 0), np.maximum(-gram, 0)
    return lambda W: (plus @ W, minus @ W)


def convex_mf(
    X: np.ndarray, n_components: int, seed: int = 0, tol: float = 1e-4, n_iter: int = 2000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (atoms, weights, codes) of batch convex factorization, run until ``tol`` is met.

    The weights of an atom are scaled to sum one, the codes the other way, so that atoms are in the
    hull of the data.
    """
    steps, before = convex_mf_steps(X, n_components, seed), np.inf
    for _ in range(n_iter):
        weights, error, codes = next(steps)
        if before - error < tol * error:
            break
        before = error
    total = weights.sum(axis=0)
    return (weights / total).T @ X, (weights / total).T, codes * total


def strength(n_features: int) -> float:
    """Return the penalty of the codes that the paper uses."""
    return 0.2 / np.sqrt(n_features)


def learn(
    name: str, X: np.ndarray, n_components: int, alpha: float, seed: int = 0, **settings: int
) -> tuple:
    """Return (atoms, weights or None, model or None) of a method; one pass for the online ones.

    ``settings`` go to the two convex online methods.
    """
    if name == "cvxMF":
        atoms, weights, _ = convex_mf(X, n_components, seed)
        return atoms, weights, None
    order = np.random.default_rng(seed).permutation(X.shape[0])
    if name == "online MF":
        plain = OnlineDictionaryLearning(
            n_components, alpha=alpha, n_epochs=1, shuffle=False, random_state=seed
        )
        return plain.fit(X[order]).components_, None, plain
    choice = {"online R_u": "random", "online R_r": "code"}[name]
    given = {"n_representatives": N_REPRESENTATIVES, **settings}
    model = OnlineConvexMF(
        n_components, assignment=choice, alpha=alpha, shuffle=False, random_state=seed, **given
    ).fit(X[order], ids=order)
    return model.components_, model.weights_, model


def codes_of(X: np.ndarray, atoms: np.ndarray, alpha: float) -> np.ndarray:
    """Return signed lasso codes, to the same tolerance whoever made the atoms."""
    return OnlineDictionaryLearning.from_components(atoms, alpha=alpha, atoms="free").transform(X)


def l2_error(X: np.ndarray, atoms: np.ndarray, alpha: float) -> float:
    """Return the norm of the error of all samples at signed lasso codes, over their number."""
    return float(np.linalg.norm(X - codes_of(X, atoms, alpha) @ atoms)) / len(X)


def accuracy(labels: np.ndarray, found: np.ndarray) -> float:
    """Return the share of samples that are right under the best pairing of clusters and labels."""
    kinds, places = np.unique(labels, return_inverse=True)
    table = np.zeros((len(kinds), int(found.max()) + 1))
    np.add.at(table, (places, found), 1)
    return float(table[linear_sum_assignment(-table)].sum()) / len(labels)


def nearest(X: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the number of the point that is nearest to each row."""
    return np.argmin((points**2).sum(axis=1) - 2 * (X @ points.T), axis=1)


def accuracies(
    X: np.ndarray, labels: np.ndarray, atoms: np.ndarray, alpha: float
) -> dict[str, float]:
    """Return how well three ways cluster: largest code, nearest atom, k-means of the codes."""
    codes = codes_of(X, atoms, alpha)
    groups = KMeans(len(np.unique(labels)), n_init=4, random_state=0).fit_predict(codes)
    return {
        "largest code": accuracy(labels, codes.argmax(axis=1)),
        "nearest atom": accuracy(labels, nearest(X, atoms)),
        "k-means of codes": accuracy(labels, groups),
    }


class Stopwatch:
    """Seconds of computing time of this process; other work on the machine is left out."""

    def __enter__(self) -> Stopwatch:
        self._begin = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self._begin
