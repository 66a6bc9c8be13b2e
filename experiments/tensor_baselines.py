"""Batch nonnegative CP decomposition to measure against: alternating least squares and MU.

Strohmeier (2023), Algorithms 11 and 12, on dense tensors of any order from two. As printed they use
the old factors of all other modes in an update; here, as in the author's code, each update uses the
newest ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

LEAST = 1e-12  # denominators are kept above this, so that an unused part stays unused


def als_steps(
    X: np.ndarray, factors: list[np.ndarray], tolerance: float = 1e-8
) -> Iterator[list[np.ndarray]]:
    """Yield factors of alternating least squares (Algorithm 11) after each round, for ever.

    The least squares of a mode are solved to ``tolerance`` before the next mode's turn.
    """
    return _rounds(
        X, factors, lambda U, cross, gram: nonnegative_least_squares(cross, gram, U, tolerance)
    )


def als(
    X: np.ndarray, rank: int, n_rounds: int, seed: int, tolerance: float = 1e-8
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return weights of one and the factors after rounds of ALS from a uniform start."""
    rng = np.random.default_rng(seed)
    steps = als_steps(X, [rng.random((n, rank)) for n in X.shape], tolerance)
    return np.ones(rank), next(islice(steps, n_rounds - 1, None))


def mu_steps(X: np.ndarray, factors: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Yield factors of multiplicative updates (Algorithm 12, eq. 4.135), for ever."""
    return _rounds(X, factors, lambda U, cross, gram: U * cross / np.maximum(U @ gram, LEAST))


def nonnegative_least_squares(
    cross: np.ndarray,
    gram: np.ndarray,
    start: np.ndarray,
    tolerance: float = 1e-8,
    n_sweeps: int = 200,
) -> np.ndarray:
    """Return U >= 0 that minimises tr(U gram U') / 2 - tr(U' cross), by sweeps over the columns.

    Rows whose unconstrained solution is nonnegative are done at once; the sweeps over the others
    begin at ``start`` and stop when one of them moves U by less than ``tolerance`` of its norm.
    """
    U = start.copy()
    free = np.linalg.lstsq(gram, cross.T, rcond=None)[0].T
    done = (free >= 0).all(axis=1)
    U[done] = free[done]
    todo = ~done
    part, linear = U[todo], cross[todo]
    for _ in range(n_sweeps if todo.any() else 0):
        moved = 0.0
        for r in np.flatnonzero(gram.diagonal() > LEAST):
            step = np.maximum((linear[:, r] - part @ gram[:, r]) / gram[r, r], -part[:, r])
            part[:, r] += step
            moved += float(step @ step)
        if moved <= (tolerance * np.linalg.norm(part)) ** 2:
            break
    U[todo] = part
    return U


def refitted(X: np.ndarray, factors: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the best first factor for all the others, and the relative error with it."""
    cross = X.reshape(len(X), -1) @ khatri_rao(factors).astype(X.dtype, copy=False)
    gram = hadamard(factors)
    best = nonnegative_least_squares(cross, gram, np.zeros_like(cross), 1e-10, 1000)
    energy = float(np.vdot(X, X))
    left = energy - 2 * float(np.vdot(cross, best)) + float(np.vdot(best @ gram, best))
    return best, float(np.sqrt(max(left, 0.0) / energy))


def khatri_rao(factors: list[np.ndarray]) -> np.ndarray:
    """Return the columnwise Kronecker product."""
    found = factors[0]
    for factor in factors[1:]:
        found = (found[:, None, :] * factor).reshape(-1, factor.shape[1])
    return found


def hadamard(factors: list[np.ndarray]) -> np.ndarray:
    """Return the entrywise product of the Gram matrices."""
    found = factors[0].T @ factors[0]
    for factor in factors[1:]:
        found = found * (factor.T @ factor)
    return found


def _rounds(
    X: np.ndarray,
    factors: list[np.ndarray],
    update: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Iterator[list[np.ndarray]]:
    """Yield the factors after each round of updates; two passes over the tensor serve all modes.

    The first contracts it with the first factor, which no other mode's turn changes; the second
    serves that mode.
    """
    factors = [factor.astype(X.dtype) for factor in factors]
    rank, rows = factors[0].shape[1], X.reshape(len(X), -1)
    while True:
        part = (rows.T @ factors[0]).reshape(*X.shape[1:], rank)
        for mode in range(1, len(factors)):
            cross = _contract(part, factors[1:], mode - 1)
            gram = hadamard([factor for k, factor in enumerate(factors) if k != mode])
            factors[mode] = update(factors[mode], cross, gram)
        cross = rows @ khatri_rao(factors[1:])
        factors[0] = update(factors[0], cross, hadamard(factors[1:]))
        yield list(factors)


def _contract(part: np.ndarray, factors: list[np.ndarray], mode: int) -> np.ndarray:
    """Return ``part``, whose last axis is the rank, contracted with all factors but one."""
    letters = "abcdefghijklmnop"[: part.ndim - 1]
    others = [k for k in range(len(factors)) if k != mode]
    terms = ",".join([letters + "z", *(letters[k] + "z" for k in others)])
    return np.einsum(
        f"{terms}->{letters[mode]}z", part, *(factors[k] for k in others), optimize=len(others) > 1
    )
