"""Batch algorithms that the experiments measure against, in their textbook form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

LEAST = 1e-12  # denominators are kept above this, so that an unused atom stays unused


def weighted_mu(
    X: np.ndarray,
    n_components: int,
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray],
    n_iter: int = 200,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes, atoms) by batch multiplicative updates of least squares with weights.

    ``weights(X, Y)`` gives the weight of every entry of the error X - Y, at least 0; taken anew
    before every update, it turns least squares into a robust loss (Kong, Ding and Huang 2011; Du,
    Li and Shen 2012). Samples are rows.
    """
    return next(islice(weighted_mu_steps(X, n_components, weights, seed), n_iter - 1, None))


def weighted_mu_steps(
    X: np.ndarray,
    n_components: int,
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray],
    seed: int = 0,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (codes, atoms) of `weighted_mu` after each round, for ever."""
    rng = np.random.default_rng(seed)
    codes, atoms = rng.random((len(X), n_components)), rng.random((n_components, X.shape[1]))
    codes *= X.mean() / (codes @ atoms).mean()
    while True:
        Y = codes @ atoms
        W = weights(X, Y)
        codes *= ((W * X) @ atoms.T) / np.maximum((W * Y) @ atoms.T, LEAST)
        Y = codes @ atoms
        W = weights(X, Y)
        atoms *= (codes.T @ (W * X)) / np.maximum(codes.T @ (W * Y), LEAST)
        yield codes, atoms


def huber_weights(delta: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the weights that make least squares the Huber loss: 1, or delta over the error."""
    return lambda X, Y: delta / np.maximum(np.abs(X - Y), delta)


def multiplicative_steps(
    X: np.ndarray, n_components: int, beta: float, seed: int = 0
) -> Iterator[np.ndarray]:
    """Yield atoms of batch multiplicative updates under a beta divergence, round by round.

    Fevotte and Idier (2011), with the exponent that makes them monotone below 1.
    """
    rng, exponent = np.random.default_rng(seed), 1 / (2 - beta) if beta < 1 else 1.0
    codes, atoms = rng.random((len(X), n_components)), rng.random((n_components, X.shape[1]))
    codes *= X.mean() / (codes @ atoms).mean()
    while True:
        plus, minus = _beta_parts(X, codes @ atoms, beta)
        codes *= ((minus @ atoms.T) / np.maximum(plus @ atoms.T, LEAST)) ** exponent
        plus, minus = _beta_parts(X, codes @ atoms, beta)
        atoms *= ((codes.T @ minus) / np.maximum(codes.T @ plus, LEAST)) ** exponent
        yield atoms


def online_lefevre(
    X: np.ndarray, n_components: int, size: int = 10, n_inner: int = 50
) -> Iterator[np.ndarray]:
    """Yield atoms of online Itakura-Saito NMF (Lefevre, Bach, Fevotte 2011)."""
    rng = np.random.default_rng(0)
    atoms = rng.random((n_components, X.shape[1])) + 0.1
    minus, plus = np.zeros_like(atoms), np.zeros_like(atoms)
    while True:
        for batch in _batches(X, size, rng):
            codes = np.full((len(batch), n_components), batch.mean() / atoms.sum(axis=0).mean())
            for _ in range(n_inner):
                up, down = _beta_parts(batch, codes @ atoms, 0)
                codes *= np.sqrt((down @ atoms.T) / (up @ atoms.T))
            up, down = _beta_parts(batch, codes @ atoms, 0)
            minus += atoms**2 * (codes.T @ down)
            plus += codes.T @ up
            atoms = np.sqrt(minus / plus)
            scale = atoms.sum(axis=1, keepdims=True)
            atoms, minus, plus = atoms / scale, minus / scale, plus * scale
            yield atoms


def online_guan(
    X: np.ndarray, n_components: int, size: int = 10, n_inner: int = 50
) -> Iterator[np.ndarray]:
    """Yield atoms of online NMF under the squared loss (after Guan, Tao, Luo, Yuan 2012).

    Codes by accelerated projected gradient; atoms by projected gradient steps on the running Gram
    sums, our simplification of their robust stochastic approximation.
    """
    rng = np.random.default_rng(0)
    atoms = X[rng.choice(len(X), n_components, replace=False)] / X.max()
    gram, cross = np.zeros((n_components, n_components)), np.zeros_like(atoms)
    while True:
        for batch in _batches(X, size, rng):
            codes = _least_squares(batch, atoms, n_inner)
            gram, cross = gram + codes.T @ codes, cross + codes.T @ batch
            for _ in range(5):
                atoms = np.maximum(atoms - (gram @ atoms - cross) / np.linalg.norm(gram, 2), 0)
            yield atoms


def online_wang(
    X: np.ndarray, n_components: int, size: int = 10, n_inner: int = 50, delta: float = 100.0
) -> Iterator[np.ndarray]:
    """Yield atoms of online learning under Huber's loss (after Wang, Tu, Chan 2013).

    Codes by reweighted updates; atoms by projected gradient steps with a running diagonal of second
    derivatives.
    """
    rng, weigh = np.random.default_rng(0), huber_weights(delta)
    atoms = X[rng.choice(len(X), n_components, replace=False)] / X.max()
    diagonal = np.zeros_like(atoms)
    while True:
        for step, batch in enumerate(_batches(X, size, rng), start=1):
            codes = _least_squares(batch, atoms, n_inner) + 1e-6
            for _ in range(n_inner):
                W = weigh(batch, codes @ atoms)
                codes *= ((W * batch) @ atoms.T) / np.maximum(
                    (W * (codes @ atoms)) @ atoms.T, LEAST
                )
            Y = codes @ atoms
            W = weigh(batch, Y)
            diagonal += (codes.T @ (W * codes.sum(axis=1, keepdims=True)) - diagonal) / step**0.75
            atoms = np.maximum(atoms - codes.T @ (W * (Y - batch)) / np.maximum(diagonal, LEAST), 0)
            yield atoms


def _batches(X: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(len(X))
    return (X[order[start : start + size]] for start in range(0, len(X), size))


def _beta_parts(X: np.ndarray, Y: np.ndarray, beta: float) -> tuple[np.ndarray, np.ndarray]:
    return Y ** (beta - 1), X * Y ** (beta - 2)


def _least_squares(X: np.ndarray, atoms: np.ndarray, n_inner: int) -> np.ndarray:
    """Return nonnegative least-squares codes by accelerated projected gradient."""
    gram, linear = atoms @ atoms.T, X @ atoms.T
    step, codes = (
        1 / np.linalg.norm(gram, 2),
        np.maximum(np.linalg.lstsq(atoms.T, X.T, rcond=None)[0].T, 0),
    )
    ahead, pace = codes, 1.0
    for _ in range(n_inner):
        moved = np.maximum(ahead - step * (ahead @ gram - linear), 0)
        following = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, codes, pace = moved + (pace - 1) / following * (moved - codes), moved, following
    return codes


def component_pursuit(X: np.ndarray, factor: float) -> np.ndarray:
    """Return the low rank of principal component pursuit (Candes, Li, Ma, Wright 2011).

    By the inexact augmented Lagrangian (Lin, Chen, Ma 2010), until the parts add up to X but for
    1e-6 of its length, in at most 100 rounds. ``factor`` multiplies the usual weight of the sparse
    part, one over the root of the larger side.
    """
    weight, length = factor / np.sqrt(max(X.shape)), np.linalg.norm(X, 2)
    dual, penalty, sparse = X / max(length, np.abs(X).max() / weight), 1.25 / length, 0 * X
    for _ in range(100):
        left, values, right = np.linalg.svd(X - sparse + dual / penalty, full_matrices=False)
        low = (left * np.maximum(values - 1 / penalty, 0)) @ right
        rest = X - low + dual / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - weight / penalty, 0)
        gap = X - low - sparse
        dual, penalty = dual + penalty * gap, min(penalty * 1.2, 1e7)
        if np.linalg.norm(gap) < 1e-6 * np.linalg.norm(X):
            break
    return low
