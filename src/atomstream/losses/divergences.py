r"""Divergences of nonnegative data: Kullback-Leibler, Itakura-Saito, and their families.

All are sums over entries; x are the data, y their reconstruction, logarithms are natural.

References
----------
Zhao, Tan, Xu (2017), "Online nonnegative matrix factorization with general divergences", Table I,
whose row for alpha is garbled: here it is
:math:`\frac{1}{\alpha(\alpha-1)} \sum y ((x/y)^\alpha - 1) - \alpha (x - y)`, Hellinger's at 1/2.
Cichocki, Amari (2010), "Families of alpha- beta- and gamma-divergences", eqs. (1) and (39).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import MAX_NUMBER
from atomstream.base.parameters import number, one_of
from atomstream.losses.base import Entrywise

FINITE, ZEROS = number(-MAX_NUMBER), one_of("floor", "refuse")
# Parameters as near to a limit as this are the limit: the general formula cancels there.
LIMIT = 1e-7
MAX_CANCELLATION = -0.999  # of (x - y) / y: there 1 + (x - y) / y has lost three digits


@dataclass(frozen=True)
class KullbackLeibler(Entrywise):
    r"""The divergence of counts, :math:`\sum x \log(x/y) - x + y`; convex in y."""

    data: ClassVar[str] = "nonnegative"
    reconstruction: ClassVar[str] = "positive"
    slope_at_zero: ClassVar[float | None] = 1.0
    ratio_power: ClassVar[float | None] = 1.0
    exponents: ClassVar[tuple[float, float] | None] = (1.0, 0.0)

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return x log(x/y) - x + y, which is y where x is 0."""
        return _relative_entropy(x, y)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 1 - x/y."""
        return 1 - X / Y

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return 1 and x/y."""
        return 1.0, X / Y

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return x/y^2."""
        return X / Y**2


@dataclass(frozen=True)
class ItakuraSaito(Entrywise):
    r"""The divergence of power spectra, :math:`\sum x/y - \log(x/y) - 1`; not convex in y.

    Parameters
    ----------
    zeros : {"floor", "refuse"}, default="floor"
        What happens to zeros in data, where the loss is infinite: what lies below 1e-8 of the mean
        of its row is raised to that; or zeros are refused, and all else is taken as it is.
    """

    zeros: str = "floor"
    convex: ClassVar[bool] = False
    data: ClassVar[str] = "positive"
    reconstruction: ClassVar[str] = "positive"
    exponents: ClassVar[tuple[float, float] | None] = (1.0, -1.0)
    BOUNDS: ClassVar = {"zeros": ZEROS}

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return x/y - log(x/y) - 1, infinite where x is 0."""
        # x/y - 1 - log(x/y) without the cancellation that comes where x is near y; where x is far
        # below y, it is 1 + excess that cancels.
        excess = (x - y) / y
        far = excess < MAX_CANCELLATION
        logs = np.log1p(np.where(far, 0, excess))
        with np.errstate(divide="ignore"):
            logs[far] = np.log(x[far]) - np.log(y[far])
        return excess - logs

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 1/y - x/y^2."""
        return (Y - X) / Y**2

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return 1/y and x/y^2."""
        inverse = 1 / Y
        return inverse, X * inverse * inverse

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 2x/y^3 - 1/y^2, negative where y > 2x."""
        return (2 * X - Y) / Y**3


@dataclass(frozen=True)
class Beta(Entrywise):
    r"""The family from Itakura-Saito (0) by Kullback-Leibler (1) to half the squared distance (2).

    .. math:: \sum \frac{x^\beta + (\beta - 1) y^\beta - \beta x y^{\beta - 1}}{\beta (\beta - 1)}

    Parameters
    ----------
    beta : float
        Any real number; convex in y for 1 to 2.
    zeros : {"floor", "refuse"}, default="floor"
        As of `ItakuraSaito`, where the loss is infinite at zeros.
    """

    beta: float
    zeros: str = "floor"
    BOUNDS: ClassVar = {"beta": FINITE, "zeros": ZEROS}

    @property
    def convex(self) -> bool:
        """True where beta lies in [1, 2]."""
        return 1 <= self.beta <= 2

    @property
    def data(self) -> str:
        """Zeros are allowed for beta above 0."""
        return "nonnegative" if self.beta > LIMIT else "positive"

    reconstruction: ClassVar[str] = "positive"

    @property
    def slope_at_zero(self) -> float | None:
        """Constant for beta = 1 alone, where d(0, y) = y."""
        return 1.0 if abs(self.beta - 1) < LIMIT else None

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the entries of the sum; its limits at 0 and 1."""
        b = self.beta
        if abs(b) < LIMIT:
            return ItakuraSaito().entries(x, y)
        if abs(b - 1) < LIMIT:
            return _relative_entropy(x, y)
        # Negative by rounding alone, where x is near y.
        return np.maximum((x**b + (b - 1) * y**b - b * x * y ** (b - 1)) / (b * (b - 1)), 0)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return y^(beta - 2) (y - x)."""
        return Y ** (self.beta - 2) * (Y - X)

    @property
    def exponents(self) -> tuple[float, float]:
        """Powers of the terms convex and concave in y: (beta, beta - 1), neither crossing 1."""
        return float(max(self.beta, 1)), float(min(self.beta - 1, 1))

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return y^(beta - 1) and x y^(beta - 2)."""
        power = Y ** (self.beta - 2)
        return power * Y, X * power

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return y^(beta - 3) ((beta - 1) y - (beta - 2) x)."""
        return Y ** (self.beta - 3) * ((self.beta - 1) * Y - (self.beta - 2) * X)


@dataclass(frozen=True)
class Alpha(Entrywise):
    r"""The family from reverse Kullback-Leibler (0) to Kullback-Leibler (1); convex in y.

    Hellinger's divergence is its member 1/2.

    .. math:: \frac{1}{\alpha (\alpha - 1)} \sum y ((x/y)^\alpha - 1) - \alpha (x - y)

    Parameters
    ----------
    alpha : float
        Any real number.
    zeros : {"floor", "refuse"}, default="floor"
        As of `ItakuraSaito`, where the loss is infinite at zeros.
    """

    alpha: float
    zeros: str = "floor"
    BOUNDS: ClassVar = {"alpha": FINITE, "zeros": ZEROS}

    @property
    def data(self) -> str:
        """Zeros are allowed for alpha above 0."""
        return "nonnegative" if self.alpha > LIMIT else "positive"

    reconstruction: ClassVar[str] = "positive"

    @property
    def slope_at_zero(self) -> float | None:
        """1/alpha for alpha above 0: d(0, y) = y / alpha."""
        return 1 / self.alpha if self.alpha > LIMIT else None

    @property
    def ratio_power(self) -> float | None:
        """Alpha, where zeros are allowed."""
        return self.alpha if self.alpha > LIMIT else None

    @property
    def exponents(self) -> tuple[float, float] | None:
        """1 and 1 - alpha, the larger one first; none at 0, where they meet."""
        if abs(self.alpha) <= LIMIT:
            return None
        return (float(max(1, 1 - self.alpha)), float(min(1, 1 - self.alpha)))

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return 1/alpha and (x/y)^alpha / alpha; for negative alpha exchanged, without sign."""
        parts = 1 / abs(self.alpha), (X / Y) ** self.alpha / abs(self.alpha)
        # The sign of 1 / alpha decides which term pulls y down.
        return parts if self.alpha > 0 else parts[::-1]

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the entries of the sum; its limits at 0 and 1."""
        a = self.alpha
        if abs(a) < LIMIT:
            return _relative_entropy(y, x)
        if abs(a - 1) < LIMIT:
            return _relative_entropy(x, y)
        # Negative by rounding alone, where x is near y.
        return np.maximum((y * ((x / y) ** a - 1) - a * (x - y)) / (a * (a - 1)), 0)

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return (1 - (x/y)^alpha) / alpha, its limit -log(x/y) at 0."""
        ratio = X / Y
        return -np.log(ratio) if abs(self.alpha) < LIMIT else (1 - ratio**self.alpha) / self.alpha

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return (x/y)^alpha / y."""
        return (X / Y) ** self.alpha / Y


@dataclass(frozen=True)
class Hellinger(Entrywise):
    r"""Alpha(1/2), twice the squared distance of roots: :math:`2 \sum (\sqrt x - \sqrt y)^2`."""

    data: ClassVar[str] = "nonnegative"
    reconstruction: ClassVar[str] = "positive"
    slope_at_zero: ClassVar[float | None] = 2.0
    ratio_power: ClassVar[float | None] = 0.5
    exponents: ClassVar[tuple[float, float] | None] = (1.0, 0.5)

    def entries(self, x: NDArray, y: NDArray) -> NDArray:
        """Return 2 (sqrt x - sqrt y)^2."""
        return 2 * (np.sqrt(x) - np.sqrt(y)) ** 2

    def gradient(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return 2 - 2 sqrt(x/y)."""
        return 2 - 2 * np.sqrt(X / Y)

    def split(self, X: NDArray, Y: NDArray) -> tuple[Any, Any]:
        """Return 2 and 2 sqrt(x/y)."""
        return 2.0, 2 * np.sqrt(X / Y)

    def curvature(self, X: NDArray, Y: NDArray) -> NDArray:
        """Return sqrt(x/y) / y."""
        return np.sqrt(X / Y) / Y


def _relative_entropy(x: NDArray, y: NDArray) -> NDArray:
    """Return x log(x/y) - x + y entry by entry, also where x/y is below the smallest number."""
    with np.errstate(all="ignore"):
        # At x = 0 the quotient becomes 1, so that 0 log 0 counts as 0.
        found: NDArray = x * np.log(np.where(x > 0, x, y) / y) - x + y
    # The sum alone tells whether all entries are numbers.
    if np.isfinite(found.sum()):
        return found
    from scipy.special import kl_div  # rarely needed, and slow to load

    found = kl_div(x, y)  # slower, and right where a quotient is no number
    return np.where(found == -np.inf, y - x, found)
