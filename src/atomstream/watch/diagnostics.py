"""Diagnostics of dictionaries and of chains."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import (
    ArrayLike,
    Fixed,
    Matrix,
    are_fixed,
    checked_array,
    checked_numbers,
    complete_array,
    dense,
)
from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.loop import scaling_of
from atomstream.memory.base import Delta
from atomstream.penalties.base import TINY
from atomstream.problem import Batch, Objective

UNEXPLAINED = "unexplained share of the energy"
BEYOND_MEANS = "unexplained share of what the column means leave"
MIN_SPREAD_SHARE = 0.1  # of the energy: with less around the means of the columns they are named


def stationarity(
    delta: Delta, dictionary: Dictionary, objective: Objective, fixed: Fixed = 0
) -> float:
    r"""Return how far the dictionary is from a critical point of the mean loss on samples.

    With G the gradient of the mean loss at optimal codes and L the largest eigenvalue of their Gram
    matrix, this is
    :math:`\|D - P(D - G/L)\| / \|D\|` in Frobenius norms, P the projection on the set of atoms: 0
    exactly at critical points.

    Parameters
    ----------
    delta : Delta
        Measured at optimal codes.
    dictionary : Dictionary
    objective : Objective
    fixed : int or tuple of int, default=0
        The first so many atoms, or those at these places, may not change and do not count.
    """
    return relative_move(delta, dictionary, objective.atoms.prox, fixed)


def figures_on(model: Any, rows: Any, labels: Any = None) -> dict[str, float]:
    """Return what a model makes of rows that it has not learned from; empty without rows.

    Parameters
    ----------
    model : fitted estimator
        Of rows.
    rows : array-like or sparse of shape (n_rows, n_features), or None
    labels : ndarray of shape (n_rows,), optional
        Of these rows, for models that predict some.
    """
    if rows is None or not rows.shape[0]:
        return {}
    with warnings.catch_warnings(action="ignore"):
        scaled = scaling_of(model).apply(rows)
        values = scaled.data if sp.issparse(scaled) else scaled
        n_rows, lost = rows.shape[0], float(np.mean(model.losses(rows)))
        energy = 0.5 * float(np.nansum(values.astype(float) ** 2)) / n_rows
        given = [] if labels is None else labels
        told = np.array([it is not None and it == it for it in given], bool)  # NaN != NaN
        predicted = {"score of labels": model.score(rows[told], labels[told])} if told.any() else {}
        figures = {UNEXPLAINED: lost / energy if energy else 0.0}
        beyond = 0.5 * _spread(scaled) / n_rows
        # Where the means of the columns are nearly all, what they leave is what atoms are for.
        if 0 < beyond < MIN_SPREAD_SHARE * energy:
            figures[BEYOND_MEANS] = lost / beyond
        return predicted | {
            **figures,
            "mean objective": model.objective(rows),
            "stationarity": model.stationarity(rows),
            "surrogate": model.surrogate(),
            "surrogate gap": model.surrogate_gap(rows),
        }


def _spread(rows: Any) -> float:
    """Return the sum of squared deviations of observed entries from the means of their columns."""
    values = dense(rows).astype(np.float64)
    with warnings.catch_warnings(action="ignore"):  # of columns without an entry
        return float(np.nansum((values - np.nanmean(values, axis=0)) ** 2))


def relative_move(
    delta: Delta,
    dictionary: Dictionary,
    prox: Callable[[NDArray, float], NDArray],
    fixed: Fixed = 0,
) -> float:
    """Return by how much a proximal gradient step moves the atoms, over their norm.

    Parameters
    ----------
    delta : Delta
        Measured at optimal codes.
    dictionary : Dictionary
    prox : callable
        ``(rows, step) -> rows``.
    fixed : int or tuple of int, default=0
        The first so many atoms, or those at these places, may not change and do not count.
    """
    free = ~are_fixed(fixed, dictionary.shape[0])
    atoms = dictionary.atoms().astype(np.float64)[free]
    # Where nothing is curved there is no slope either, and nothing moves.
    smoothness = max(delta.smoothness(), TINY)
    gradient = delta.gradient(dictionary)[free]
    target = prox(atoms - gradient / smoothness, 1 / smoothness)
    return float(np.linalg.norm(atoms - target)) / max(float(np.linalg.norm(atoms)), TINY)


@dataclass(frozen=True)
class SampleReport:
    """One sample seen through the dictionary.

    Attributes
    ----------
    code : ndarray of shape (n_components,)
    reconstruction : ndarray of shape (n_features,)
    loss : float
        Loss of the reconstruction, without penalties.
    residual : float
        Optimality residual of the code.
    atoms : ndarray of int
        The atoms in use, largest coefficient first.
    """

    code: NDArray
    reconstruction: NDArray
    loss: float
    residual: float
    atoms: NDArray

    @classmethod
    def of(cls, batch: Batch, codes: Codes, reconstruction: NDArray, loss: float) -> SampleReport:
        """Return the report of a batch of one."""
        code = codes.values[0]
        order = np.argsort(-np.abs(code), kind="stable")
        used = order[code[order] != 0]
        return cls(code, reconstruction[0], float(loss), float(codes.residual[0]), used)


@dataclass(frozen=True)
class Dependence:
    """Dependence of the values along a chain.

    Attributes
    ----------
    autocorrelation_time : float
        Steps that count as one independent value, 1 for independent ones.
    effective_size : float
        Number of values over that.
    autocorrelation : ndarray
        Of lags 0, 1, ... as far as they were summed.
    trustworthy : bool
        Whether the values are at least 50 times as many as the autocorrelation time; else the time
        is a lower bound.
    """

    autocorrelation_time: float
    effective_size: float
    autocorrelation: NDArray
    trustworthy: bool

    @property
    def advice(self) -> str:
        """Advice on thinning and the size of batches."""
        time = self.autocorrelation_time
        if not self.trustworthy:
            return (
                f"The chain is too short to tell: its autocorrelation time is {time:.0f} steps at "
                f"least, and only {self.effective_size:.0f} times that were seen: condition (M2) "
                "cannot be judged. Run it longer, or use a chain that moves faster."
            )
        if time < 2:
            return (
                "Nearly independent: no thinning is needed, batches may be of any size, and (M2) "
                "is plausible."
            )
        return (
            f"About {time:.0f} steps count as one independent value: thin by {time / 2:.0f} to "
            f"{time:.0f} where samples cost more than steps, and take batches of at least "
            f"{10 * time:.0f} steps, to hold several. "
            "That it is finite makes condition (M2) plausible, as far as this quantity tells."
        )


def mcmc_diagnostics(values: Any, model: Any = None) -> Dependence:
    r"""Return how dependent a scalar is along a chain: an energy, an entry, the loss of batches.

    The autocorrelation time is :math:`1 + 2 \sum_{t=1}^{T} \rho_t` with T the first lag that is at
    least five times the sum so far.

    Parameters
    ----------
    values : array-like of shape (n,), or iterable of batches
        In the order of the chain; at least 4, and not all the same. With a model: finitely many
        batches of samples.
    model : fitted estimator, optional
        Takes the values to be the loss of each sample, such as each patch of a network, under it.

    References
    ----------
    Sokal (1997), "Monte Carlo methods in statistical mechanics: foundations and new algorithms",
    section 3; for condition (M2) of Lyu, Needell and Balzano the times of all quantities of
    interest must be finite.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.watch.diagnostics import mcmc_diagnostics
    >>> found = mcmc_diagnostics(np.random.default_rng(0).standard_normal(10_000))
    >>> bool(0.8 < found.autocorrelation_time < 1.2)
    True
    """
    if model is not None:
        losses = getattr(model, "learner_", model).losses
        values = np.concatenate([losses(batch) for batch in values] or [np.empty(0)])
    series = checked_array(values, "values", np.float64)
    if series.ndim != 1 or len(series) < 4 or not np.isfinite(series).all():
        raise ValueError(
            f"values must be at least 4 finite numbers along a chain, got shape {series.shape}."
        )
    centred = series - series.mean()
    if not centred.any():
        raise ValueError(
            "values are all the same: nothing can be said of how they depend on each other."
        )
    n = len(series)
    # Padded to twice the length: products of the two ends would wrap around.
    spectrum = np.fft.rfft(centred, 2 ** int(np.ceil(np.log2(2 * n))))
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[:n]
    rho = covariance / covariance[0]
    # 1 + 2 sum over t >= 1, and rho_0 = 1 is in the sum.
    times = 2 * np.cumsum(rho) - 1
    # The window closes itself: longer sums add noise, shorter ones cut the tail off.
    window = int(np.argmax(np.arange(n) >= 5 * np.maximum(times, 1)))
    # Values that alternate may sum to less than 0.
    time = max(float(times[window]), 1.0 / n)
    return Dependence(time, n / time, rho[: window + 1], n >= 50 * time)


def lumpability(counts: Matrix, labels: ArrayLike) -> float:
    r"""Return how far a partition is from lumping a chain, from its transition counts.

    In a lumpable chain all states of a block go to each block with one probability. The score is
    the mean, over visits, of the total variation distance between where a state goes and where its
    block goes, 0 if the chain is lumpable; of n visits per state chance alone makes it about
    :math:`\sqrt{b / n}` with b blocks.

    Parameters
    ----------
    counts : array or sparse array of shape (n_states, n_states)
        Transitions seen, row to column, or their probabilities weighted by visits.
    labels : array-like of int of shape (n_states,)
        Block of each state; transitions from and to negative ones are left out.
    """
    counts, labels = checked_numbers(counts, "counts"), complete_array(labels, "labels")
    counts = sp.csr_array(counts, dtype=np.float64)
    if labels.ndim != 1 or counts.shape != (len(labels), len(labels)):
        raise ValueError(
            f"counts must be of shape (n, n) for n labels, got {counts.shape} and {labels.shape}."
        )
    keep = np.flatnonzero(labels >= 0)
    _, block = np.unique(labels[keep], return_inverse=True)
    blocks = sp.csr_array((np.ones(len(keep)), (np.arange(len(keep)), block)))
    return lumpability_of((counts[keep][:, keep] @ blocks).toarray(), block)


def lumpability_of(going: NDArray, block: NDArray) -> float:
    """Return the same from how often each state is left for each block.

    Parameters
    ----------
    going : ndarray of shape (n_states, n_blocks)
    block : ndarray of int of shape (n_states,)
        Of each state; states of negative ones are left out.
    """
    going, block = going[block >= 0], block[block >= 0]
    visits = going.sum(axis=1)
    if not visits.sum() > 0:
        raise ValueError("counts holds no transition between labelled states.")
    together = np.zeros((block.max() + 1, going.shape[1]))
    np.add.at(together, block, going)
    together /= np.maximum(together.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(0.5 * np.abs(going - visits[:, None] * together[block]).sum() / visits.sum())


def merging_conductance(P: ArrayLike) -> float:
    r"""Return the merging conductance of a small chain exactly, over all sets of its states.

    .. math:: \min_{\mu(S) \le 1/2} \frac{1}{\mu(S)} \sum_{j \in S, l \notin S} \sum_i
              \frac{\mu_j p_{ji} \mu_l p_{li}}{\mu_i}

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Transition probabilities, at most 20 states.

    References
    ----------
    Yang, Braverman, Zhao, Wang, section 4.1; Mihail (1989).
    """
    P = checked_array(P, "P", np.float64)
    n = len(P)
    if P.shape != (n, n) or n > 20 or not np.allclose(P.sum(axis=1), 1) or (P < 0).any():
        raise ValueError(
            f"P must be transition probabilities of at most 20 states, got shape {P.shape}."
        )
    mu = stationary_law(P)
    flow = mu[:, None] * P
    # Entry (j, l) is the sum over i of mu_j p_ji mu_l p_li / mu_i.
    merged = (flow / mu) @ flow.T
    best = np.inf
    # All sets of states by the bits of a number, 16,384 at a time.
    for start in range(1, 2**n, 2**14):
        inside = (np.arange(start, min(start + 2**14, 2**n))[:, None] >> np.arange(n)) & 1
        size = inside @ mu
        # A set of half the mass must not be lost to rounding.
        few = size <= 0.5 + 1e-12
        inside, size = inside[few].astype(float), size[few]
        cut = (inside @ merged * (1 - inside)).sum(axis=1)
        best = min(best, float((cut / size).min(initial=np.inf)))
    return best


def stationary_law(P: NDArray) -> NDArray:
    """Return the law that a chain leaves as it is, (n_states,)."""
    n = len(P)
    # mu P = mu, and the shares sum to 1.
    equations = np.vstack([P.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(equations, np.eye(n + 1)[n], rcond=None)[0]


def mixing_time(P: ArrayLike, accuracy: float = 0.1, most: int = 10_000) -> int:
    """Return after how many steps a chain is near its stationary law, wherever it began.

    Parameters
    ----------
    P : array-like of shape (n_states, n_states)
        Transition probabilities.
    accuracy : float, default=0.1
        Total variation distance.
    most : int, default=10_000
        Steps after which a chain that does not mix is given up.
    """
    P = checked_array(P, "P", np.float64)
    law, power = stationary_law(P), P.copy()
    for step in range(1, most + 1):
        if 0.5 * np.abs(power - law).sum(axis=1).max() <= accuracy:
            return step
        power = power @ P
    raise ValueError(
        f"The chain is not within {accuracy!r} of its stationary law after {most} steps."
    )
