"""Scores of pairs from few proposals: shrinkage towards the base rate, and intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OUTSIDE = 0.05  # probability below and above an interval
MIN_NOISE_SCALE = 1e-9  # scale of the noise as a share of the base rate, so that laws have a width


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of pairs of nodes, NaN for pairs that were not visited.

    Attributes
    ----------
    scores, low, high : ndarray of shape (n_pairs,)
        Means of the posterior law, and the ends of the interval that holds 90 % of it.
    visits : ndarray of shape (n_pairs,)
        Number of visits; with chain "all" their weight.
    """

    scores: NDArray
    low: NDArray
    high: NDArray
    visits: NDArray

    def taken(self, order: NDArray) -> Scores:
        """Return the scores of some pairs, by their places."""
        return Scores(self.scores[order], self.low[order], self.high[order], self.visits[order])


@dataclass(frozen=True)
class Shrinkage:
    r"""The law of proposals for pairs of nodes: a rate of each pair, and noise of each visit.

    The rate of a pair is drawn from a gamma law around the base rate m. The sum of n proposals,
    divided by the scale c, is Poisson around n times the rate, divided by c: the variance of a
    proposal is proportional to its mean, as it was measured on networks without weights. Given n
    proposals of mean y the rate of the pair has a gamma law with

    .. math:: \text{mean } \frac{n y + k m}{n + k}, \quad \text{scale } \frac{c}{n + k},

    as if k proposals of the base rate had been seen before.

    Parameters
    ----------
    base : float
        The base rate m.
    strength : float, default=0.0
        The number k.
    scale : float, default=0.0
        The scale c; 0 where means are exact.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 2.6: the Poisson model with a gamma law.
    """

    base: float
    strength: float = 0.0
    scale: float = 0.0

    @classmethod
    def of(cls, means: NDArray, visits: NDArray, squares: float) -> Shrinkage:
        """Return the law that fits all pairs that were visited, by the moments of one-way groups.

        Parameters
        ----------
        means, visits : ndarray of shape (n_pairs,)
            Means and numbers of the proposals of each pair, all above 0.
        squares : float
            Sum of the squares of all proposals.

        References
        ----------
        Searle, Casella, McCulloch (1992), Variance Components, section 3.6.
        """
        total = float(visits.sum())
        mean = float(visits @ means) / total if total else 0.0
        if mean == 0:
            return cls(0.0)
        between = float(visits @ (means - mean) ** 2)
        repeated = float((visits - 1) @ means)
        if repeated > 0:
            scale = (squares - float(visits @ means**2)) / repeated
            spread = between - scale * (float(means.sum()) - mean)
            spread /= max(total - float(visits @ visits) / total, 1.0)
        else:  # no pair was visited twice: half of the variance counts as noise
            spread = between / total / 2
            scale = spread / mean
        scale = max(scale, MIN_NOISE_SCALE * mean)
        # The base rate itself rests on no more than all proposals.
        strength = scale * mean / max(spread, scale * mean / total)
        weights = visits / (visits + strength)
        return cls(float(weights @ means / weights.sum()), strength, scale)

    def scores(self, means: NDArray, visits: NDArray) -> Scores:
        """Return the scores of pairs, NaN where there was no visit.

        Parameters
        ----------
        means, visits : ndarray of shape (n_pairs,)
        """
        from scipy.special import gammaincinv

        known = np.where(visits > 0, visits, np.nan)
        if self.scale == 0:
            exact = np.where(visits > 0, means, np.nan)
            return Scores(exact, exact, exact, visits)
        total = known + self.strength
        shape = (known * means + self.strength * self.base) / self.scale
        low, high = (gammaincinv(shape, p) * self.scale / total for p in (OUTSIDE, 1 - OUTSIDE))
        return Scores(shape * self.scale / total, low, high, visits)
