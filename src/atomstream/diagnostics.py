"""How good a dictionary is, and what a single sample looks like in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.memory import Delta
from atomstream.objective import Objective
from atomstream.penalties import TINY
from atomstream.state import Batch

__all__ = ["Dependence", "SampleReport", "mcmc_diagnostics", "stationarity"]


def stationarity(delta: Delta, dictionary: Any, objective: Objective, fixed: int = 0) -> float:
    r"""Return how far the dictionary is from a critical point of the mean loss of the measured samples.

    With G the gradient of the mean loss at optimal codes and L the largest eigenvalue of their Gram matrix, this is
    :math:`\|D - P(D - G/L)\| / \|D\|` in Frobenius norms, P the projection on the set of atoms: 0 exactly at
    critical points.

    Parameters
    ----------
    delta : Delta
        Measured at optimal codes.
    dictionary : Dictionary
    objective : Objective
    fixed : int, default=0
        The first so many atoms may not change and do not count.
    """
    atoms = dictionary.atoms().astype(np.float64)[fixed:]
    smoothness = max(delta.smoothness(), TINY)
    gradient = delta.gradient(dictionary)[fixed:]
    target = objective.atoms.prox(atoms - gradient / smoothness, 1 / smoothness)
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
    """How dependent the values along a chain are.

    Attributes
    ----------
    autocorrelation_time : float
        Steps that count as one independent value, 1 for independent ones.
    effective_size : float
        Number of values over that.
    autocorrelation : ndarray
        Of lags 0, 1, ... as far as they were summed.
    trustworthy : bool
        Whether the values are at least 50 times as many as the autocorrelation time; else the time is a lower bound.
    """

    autocorrelation_time: float
    effective_size: float
    autocorrelation: NDArray
    trustworthy: bool

    @property
    def advice(self) -> str:
        """What this means for thinning and the size of batches."""
        time = self.autocorrelation_time
        if not self.trustworthy:
            return (
                f"The chain is too short to tell: its autocorrelation time is {time:.0f} steps at least, and only "
                f"{self.effective_size:.0f} times that were seen: condition (M2) cannot be judged. Run it "
                "longer, or use a chain that moves faster."
            )
        if time < 2:
            return "Nearly independent: no thinning is needed, batches may be of any size, and (M2) is plausible."
        return (
            f"About {time:.0f} steps count as one independent value: thin by {time / 2:.0f} to {time:.0f} where "
            f"samples cost more than steps, and take batches of at least {10 * time:.0f} steps, to hold several. "
            "That it is finite makes condition (M2) plausible, as far as this quantity tells."
        )


def mcmc_diagnostics(values: Any, model: Any = None) -> Dependence:
    r"""Return how dependent a scalar is along a chain: the energy, an entry, the loss of a stream of batches.

    The autocorrelation time is :math:`1 + 2 \sum_{t=1}^{T} \rho_t` with T the first lag that is at least five times
    the sum so far.

    Parameters
    ----------
    values : array-like of shape (n,), or iterable of batches
        In the order of the chain; at least 4, and not all the same. With a model: finitely many batches of samples.
    model : fitted estimator, optional
        Takes the values to be the loss of each sample (of a `NetworkDictionary`: of each patch) under it.

    References
    ----------
    Sokal (1997), "Monte Carlo methods in statistical mechanics: foundations and new algorithms", section 3; for
    condition (M2) of Lyu, Needell and Balzano the times of all quantities of interest must be finite.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.diagnostics import mcmc_diagnostics
    >>> found = mcmc_diagnostics(np.random.default_rng(0).standard_normal(10_000))
    >>> bool(0.8 < found.autocorrelation_time < 1.2)
    True
    """
    if model is not None:
        losses = getattr(model, "learner_", model).losses
        values = np.concatenate([losses(batch) for batch in values] or [np.empty(0)])
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1 or len(series) < 4 or not np.isfinite(series).all():
        raise ValueError(f"values must be at least 4 finite numbers along a chain, got shape {series.shape}.")
    centred = series - series.mean()
    if not centred.any():
        raise ValueError("values are all the same: nothing can be said of how they depend on each other.")
    n = len(series)
    spectrum = np.fft.rfft(centred, 2 ** int(np.ceil(np.log2(2 * n))))
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[:n]
    rho = covariance / covariance[0]
    times = 2 * np.cumsum(rho) - 1
    window = int(np.argmax(np.arange(n) >= 5 * np.maximum(times, 1)))
    time = max(float(times[window]), 1.0 / n)
    return Dependence(time, n / time, rho[: window + 1], n >= 50 * time)
