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

    ``weights(X, Y)`` gives the weight of every entry of the error X - Y, at least 0; taken anew before every update,
    it turns least squares into a robust loss (Kong, Ding and Huang 2011; Du, Li and Shen 2012). Samples are rows.
    """
    return next(islice(weighted_mu_steps(X, n_components, weights, seed), n_iter - 1, None))


def weighted_mu_steps(
    X: np.ndarray, n_components: int, weights: Callable[[np.ndarray, np.ndarray], np.ndarray], seed: int = 0
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
    """Return the weights that make least squares the Huber loss: 1 up to delta, then delta over the error."""
    return lambda X, Y: delta / np.maximum(np.abs(X - Y), delta)
