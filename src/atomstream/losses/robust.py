"""Robust losses: Huber's, absolute errors, the length of the error, trimmed squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import number
from atomstream.dictionaries.base import Dictionary
from atomstream.losses.base import Entrywise, Loss, _double

NORMAL = 1.4826  # standard deviations of a normal variable in its median absolute value
FAR_DEVIATIONS = 3.0  # robust deviations beyond which an error does not count for the scale
OWN_SHARE = 0.6  # of a row's own scale: what the running one is at least, for this row
UNTRIMMED = 1e18  # a running scale at which nothing is trimmed
STAYS = 1e15  # from here on scales stay, and nothing is trimmed; lower, for slots are merged
MIN_ERROR_SHARE = 1e-6  # errors below this share of the data have the weight of that share


@dataclass(frozen=True)
class Huber(Entrywise):
    r"""Half the squared error up to delta, then linear.

    .. math:: \tfrac12 e^2 \text{ for } |e| \le \delta, \quad
              \delta |e| - \tfrac12\delta^2 \text{ beyond}

    Parameters
    ----------
    delta : float, default=1.0
        In the units of the data; above 0.
    """

    delta: float = 1.0
    smoothness: ClassVar[float | None] = 1.0
    robust: ClassVar[bool] = True
    exponents: ClassVar[tuple[float, float] | None] = (2.0, 1.0)
    BOUNDS: ClassVar = {"delta": number(above=True)}

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the loss of each entry."""
        error = np.abs(x - y)
        # e^2 / 2 up to delta, then delta (e - delta / 2): one formula without a branch.
        small = np.minimum(error, self.delta)
        return small * (error - 0.5 * small)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the error y - x, clipped to [-delta, delta]."""
        return np.clip(Y - X, -self.delta, self.delta)

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return w y and w x, w = min(1, delta / |x - y|) of the quadratic from above."""
        # A quadratic with these weights touches the loss at this error and lies above it elsewhere.
        weights = self.delta / np.maximum(np.abs(X - Y), self.delta)
        return weights * Y, weights * X

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 1 up to delta and 0 beyond."""
        return (np.abs(Y - X) <= self.delta).astype(Y.dtype)


@dataclass(frozen=True)
class L1(Entrywise):
    r"""The sum of absolute errors, :math:`\|x - y\|_1`.

    Exact codes are vertices of a linear program, and found as such. With a squared penalty on the
    codes, or on a simplex, they are found by reweighted least squares, which slow down where errors
    vanish: these stop where a step promises 1e-4 of the objective instead of 1e-9.
    """

    piecewise_linear: ClassVar[bool] = True
    robust: ClassVar[bool] = True
    exponents: ClassVar[tuple[float, float] | None] = (2.0, 1.0)
    precision: ClassVar[float] = 1e-4

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the absolute error of each entry."""
        return np.abs(x - y)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the sign of y - x: a subgradient, 0 where both are equal."""
        return np.sign(Y - X)

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return w y and w x, w = 1 / |x - y|, errors being at least 1e-6 of the row's mean."""
        # An error of zero would weigh infinitely, and its entry never move again.
        least = MIN_ERROR_SHARE * np.abs(X).mean(axis=1, keepdims=True) + np.finfo(Y.dtype).tiny
        # A row without error would weigh infinitely, and its codes never move again.
        weights = 1 / np.maximum(np.abs(X - Y), least)
        return weights * Y, weights * X


@dataclass(frozen=True)
class L2(Loss):
    r"""The length of the error, :math:`\|x - y\|_2`: robust against whole rows that are wrong."""

    robust: ClassVar[bool] = True
    exponents: ClassVar[tuple[float, float] | None] = (2.0, 1.0)

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the length of the error of each row, in float64."""
        return np.linalg.norm(_double(X) - _double(Y), axis=1)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the error y - x at length one: a subgradient, 0 where both are equal."""
        error = Y - X
        # Zero is a subgradient at a row without error.
        lengths: Any = np.linalg.norm(error, axis=1, keepdims=True)
        return np.divide(error, lengths, out=np.zeros_like(error), where=lengths > 0)

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return w y and w x with w one over the length of the row's error."""
        lengths: Any = np.linalg.norm(X - Y, axis=1, keepdims=True)
        weights = 1 / np.maximum(
            lengths,
            MIN_ERROR_SHARE * np.linalg.norm(X, axis=1, keepdims=True) + np.finfo(Y.dtype).tiny,
        )
        return weights * Y, weights * X


@dataclass(frozen=True)
class Trimmed(Entrywise):
    r"""Half the squared error up to a threshold, constant beyond: outliers count as missing.

    .. math:: \tfrac12 \min(e^2, t^2)

    Entries beyond the threshold pull neither at codes nor at atoms. The threshold is given, or a
    number of robust deviations: of the running scale of the stream, which travels with the
    dictionary, or of 0.6 times that of the row's own errors where this is larger, for a row that
    the atoms do not explain is not made of outliers alone. Without a running scale (atoms that were
    given) of the row's own errors.

    Parameters
    ----------
    threshold : float, default=0.0
        t in the units of the data; 0 means ``deviations`` times the scale.
    deviations : float, default=3.5
        Robust deviations, 1.4826 times the median absolute error, beyond which an entry is an
        outlier.
    scale : float, default=0.0
        The running scale; `at` takes it from the dictionary.
    """

    threshold: float = 0.0
    deviations: float = 3.5
    scale: float = 0.0
    robust: ClassVar[bool] = True
    trims: ClassVar[bool] = True
    BOUNDS: ClassVar = {"threshold": number(), "deviations": number(above=True), "scale": number()}

    @property
    def convex(self) -> bool:
        """False: beyond the threshold the loss is flat."""
        return False

    def at(self, dictionary: Dictionary) -> Trimmed:
        """Return the loss at the running scale of a dictionary."""
        return replace(self, scale=getattr(dictionary, "scale", None) or 0.0)

    @property
    def limits(self) -> tuple[float, float]:
        """The least threshold, and the deviations of a row's own errors that may exceed it."""
        if self.threshold:
            return float(self.threshold), 0.0
        own = OWN_SHARE if self.scale else 1.0
        return float(self.deviations * self.scale), float(own * self.deviations)

    def thresholds(self, errors: NDArray, mask: NDArray | None = None) -> NDArray:
        """Return the threshold of each row, (n_samples, 1), given its errors."""
        least, own = self.limits
        if not own:
            return np.full((len(errors), 1), least)
        return np.maximum(least, own * robust_scales(errors, mask))

    def value(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the loss of each row, in float64."""
        errors = np.abs(_double(X) - _double(Y))
        return 0.5 * (np.minimum(errors, self.thresholds(errors)) ** 2).sum(axis=1)

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the loss of each entry."""
        errors = np.abs(x - y)
        return 0.5 * np.minimum(errors, self.thresholds(errors)) ** 2

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return the error y - x up to the threshold, 0 beyond."""
        errors = Y - X
        sizes = np.abs(errors)
        return np.where(sizes <= self.thresholds(sizes), errors, errors.dtype.type(0))

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 1 up to the threshold and 0 beyond."""
        sizes = np.abs(Y - X)
        return (sizes <= self.thresholds(sizes)).astype(Y.dtype)


def robust_scales(errors: NDArray, mask: NDArray | None = None) -> NDArray:
    """Return the robust standard deviation of the errors of each row, (n_samples, 1).

    That is 1.4826 times the median absolute error of those within three such deviations of all:
    of all alone it would be 1.6 times too large where 30 % are outliers.
    """
    sizes = np.abs(errors)
    seen = np.ones(sizes.shape, bool) if mask is None else mask
    scales = np.zeros((len(sizes), 1))
    for _ in range(2):
        some = seen.any(axis=1)
        kept = np.where(seen[some], sizes[some], np.nan)
        scales[some] = NORMAL * np.nanmedian(kept, axis=1, keepdims=True)
        seen = seen & (sizes <= FAR_DEVIATIONS * scales)
    return scales
