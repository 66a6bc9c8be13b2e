"""What is kept of the stream, and what a batch adds to it: the only thing besides the dictionary that changes.

Every change builds new arrays and puts them in place in one stroke, so whoever holds the old ones (a snapshot, a call
that must be undone) holds them unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries import Dictionary
from atomstream.factored import Product, blend, scale_rows
from atomstream.majorisers import power_value, times_power

__all__ = [
    "Aggregates",
    "Delta",
    "GramDelta",
    "MajorantDelta",
    "Majorants",
    "Memory",
    "Subgradient",
    "SubgradientDelta",
    "Usage",
]

MAJORANT_SUMS = ("plus", "minus", "gram", "target", "slope", "bend", "constant")
FLAT = 1e-6  # of the mean bend; features whose loss bends less (none of their data seen) count as that
UNUSED = 1e-6  # an atom whose strength is below this share of the strongest counts as unused


class Delta(Protocol):
    """What the loop knows of a delta: sums over the samples of a batch, each by its weight.

    Attributes
    ----------
    usage : ndarray of shape (n_components,)
        Sum of weights times absolute codes.
    objective : float
        Sum of weights times the objective of each sample at its code and the dictionary it was coded with.
    mass : float
        Sum of weights.
    """

    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: Self) -> Self: ...

    def gradient(self, dictionary: Any) -> NDArray:
        """Return the gradient of the mean loss with respect to the atoms, at the measured codes."""
        ...

    def smoothness(self) -> float:
        """Return a Lipschitz constant of that gradient."""
        ...


class Memory(Protocol):
    """What the loop knows of a memory."""

    def absorb(self, delta: Any, weight: float) -> None:
        """Take in what a batch adds, by its weight."""
        ...

    def strength(self, dictionary: Any) -> NDArray:
        """Return how much of the past each atom explains, (n_components,); 0 where nothing."""
        ...

    def forget(self, atoms: NDArray) -> None:
        """Drop what is known of these atoms."""
        ...

    def value(self, dictionary: Any) -> float:
        """Return the surrogate: the average objective of past samples at their stored codes."""
        ...

    def merge(self, other: Any, share: float) -> None:
        """Take in another memory that stands for this share of the mass of both."""
        ...


@dataclass(frozen=True)
class GramDelta:
    """Sums over the samples i of a batch, each with its weight w_i; deltas of shards add up to that of the union.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        Sum of w_i h_i' h_i.
    cross : ndarray of shape (n_components, n_features), or Product
        Sum of w_i h_i' x_i.
    constant : float
        Sum of w_i (|x_i|^2 / 2 + penalty of h_i): what the surrogate holds besides the dictionary.
    usage : ndarray of shape (n_components,)
        Sum of w_i |h_i|.
    objective : float
        Sum of w_i times the objective of sample i at its code and the dictionary it was coded with.
    mass : float
        Sum of w_i.
    """

    gram: NDArray
    cross: Any
    constant: float
    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: GramDelta) -> GramDelta:
        return GramDelta(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return (A D - B) / mass."""
        return (self.gram @ dictionary.atoms().astype(np.float64) - self.cross) / self.mass

    def smoothness(self) -> float:
        """Return the largest eigenvalue of A / mass."""
        return float(np.linalg.eigvalsh(self.gram)[-1]) / self.mass


class Aggregates:
    r"""Weighted averages of code and data products over the stream, in float64.

    After batch t of mass n_t, with :math:`w_1 = 1` (averaged over the batch, not summed; the harmonic schedule
    gives :math:`w_t = n_t / (n_1 + ... + n_t)`, so that each sample weighs the same),

    .. math:: A_t = (1 - w_t) A_{t-1} + w_t H_t^\top H_t / n_t, \quad
              B_t = (1 - w_t) B_{t-1} + w_t H_t^\top X_t / n_t.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        A.
    cross : ndarray of shape (n_components, n_features), or Product
        B; where asked for, as a product of what made it for as long as that is smaller (`atomstream.factored`).
    constant : float
        The same average of |x|^2 / 2 + penalty of the code.

    References
    ----------
    .. [1] Mairal, Bach, Ponce, Sapiro (2010), Online learning for matrix factorization and sparse coding, JMLR 11,
       Algorithm 1. Ours is the transpose and is averaged.
    """

    def __init__(self, n_components: int, n_features: int, *, factored: bool = False) -> None:
        self.gram = np.zeros((n_components, n_components))
        self.cross: Any = (
            Product.empty(n_components, n_features) if factored else np.zeros((n_components, n_features))
        )
        self.constant = 0.0

    def absorb(self, delta: GramDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        self._move(weight, delta.gram, delta.cross, delta.constant, delta.mass)

    def strength(self, dictionary: Dictionary) -> NDArray:
        """Return A_jj |d_j|^2: the mean energy of each atom's part, whatever the atom's length."""
        return np.diag(self.gram) * np.diag(dictionary.gram())

    def forget(self, atoms: NDArray) -> None:
        """Clear rows and columns of A and rows of B."""
        kept = np.ones(len(self.gram))
        kept[atoms] = 0
        self.rescale(kept)

    def rescale(self, scale: NDArray) -> None:
        """Multiply all past coefficients of each atom by its scale."""
        vars(self).update(gram=self.gram * scale * scale[:, None], cross=scale_rows(self.cross, scale))

    def value(self, dictionary: Dictionary) -> float:
        r"""Return the average objective of past samples at their stored codes, :math:`\hat f_t(D)`.

        References
        ----------
        Lyu, Needell, Balzano, eq. (17), halved; an upper bound of the loss at optimal codes.
        """
        return float(self.constant + 0.5 * np.vdot(self.gram, dictionary.gram()) - dictionary.overlap(self.cross))

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        self._move(share, other.gram, other.cross, other.constant, 1.0)

    def _move(self, weight: float, gram: NDArray, cross: Any, constant: float, mass: float) -> None:
        share = weight / mass
        vars(self).update(
            gram=(1 - weight) * self.gram + share * gram,
            cross=blend(self.cross, 1 - weight, cross, share),
            constant=(1 - weight) * self.constant + share * constant,
        )


@dataclass(frozen=True)
class MajorantDelta:
    """Sums over the samples i of a batch, each with its weight w_i, measured at one dictionary D.

    With :math:`g^+ - g^-` the gradient of the loss of a sample with respect to its reconstruction, b the bend of its
    majoriser there (`atomstream.majorisers`), and :math:`r_i` the mean of :math:`b_i` over features:

    Attributes
    ----------
    plus, minus : ndarray of shape (n_components, n_features)
        Sum of w_i h_i' g_i, of both parts.
    bend : ndarray of shape (n_features,)
        Sum of w_i b_i.
    gram : ndarray of shape (n_components, n_components)
        Sum of w_i r_i h_i' h_i.
    constant : float
        Sum of w_i times the objective of sample i, without what ``plus`` and ``minus`` say of it.
    usage : ndarray of shape (n_components,)
        Sum of w_i |h_i|.
    objective, mass : float
        As in `GramDelta`.
    atoms : ndarray of shape (n_components, n_features)
        D.
    """

    plus: NDArray
    minus: NDArray
    bend: NDArray
    gram: NDArray
    constant: float
    usage: NDArray
    objective: float
    mass: float
    atoms: NDArray

    def __add__(self, other: MajorantDelta) -> MajorantDelta:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "atoms"}
        return MajorantDelta(**sums, atoms=self.atoms)

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return the gradient of the mean loss with respect to the atoms, at the dictionary it was measured with."""
        return (self.plus - self.minus) / self.mass

    def smoothness(self) -> float:
        """Return the largest eigenvalue of the weighted Gram matrix times the largest bend relative to the mean."""
        peak = float(self.bend.max()) / max(float(self.bend.mean()), np.finfo(float).tiny)
        return float(np.linalg.eigvalsh(self.gram)[-1]) / self.mass * peak


class Majorants:
    r"""Weighted averages of the power majorisers of past batches, and of quadratic models of their losses.

    The majorisers add up to one bound of the average objective of past samples at their stored codes,

    .. math:: \hat f_t(D) \le c_t + \sum_{kf} P_{kf} D_{kf}^p / p - N_{kf} D_{kf}^q / q .

    The quadratic model has the gradients as they were measured and one Gram matrix for all features, each feature's
    share of the bend beside it: what is known of how atoms depend on each other, in O(r^2 + r d) numbers.

    Parameters
    ----------
    n_components, n_features : int
    exponents : (float, float)
        p and q.

    Attributes
    ----------
    plus, minus : ndarray of shape (n_components, n_features)
        P and N.
    gram : ndarray of shape (n_components, n_components)
        A, the average of r h' h.
    target, slope : ndarray of shape (n_components, n_features)
        Averages of A_t D_t and of the gradients, D_t the dictionary of batch t.
    bend : ndarray of shape (n_features,)
        Average second derivative of each feature's loss in its reconstruction.
    constant : float
        c.
    """

    def __init__(self, n_components: int, n_features: int, exponents: tuple[float, float]) -> None:
        self.exponents = exponents
        self.gram = np.zeros((n_components, n_components))
        self.plus, self.minus, self.target, self.slope = np.zeros((4, n_components, n_features))
        self.bend = np.zeros(n_features)
        self.constant = 0.0

    def absorb(self, delta: MajorantDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        p, q = self.exponents
        batch = {
            "plus": times_power(delta.plus, delta.atoms, 1 - p),
            "minus": times_power(delta.minus, delta.atoms, 1 - q),
            "gram": delta.gram,
            "target": delta.gram @ delta.atoms,
            "slope": delta.plus - delta.minus,
            "bend": delta.bend,
            "constant": delta.constant,
        }
        self._move(weight, batch, delta.mass)

    @property
    def cross(self) -> NDArray:
        """B of the quadratic model: its minimiser D solves A D = B where nothing constrains it."""
        share = self.bend / max(float(self.bend.mean()), np.finfo(float).tiny)
        return self.target - self.slope / np.maximum(share, FLAT)

    def strength(self, dictionary: Dictionary) -> NDArray:
        """Return A_jj |d_j|^2: the mean energy of each atom's part, whatever the atom's length."""
        return np.diag(self.gram) * np.diag(dictionary.gram())

    def forget(self, atoms: NDArray) -> None:
        """Clear the rows of all sums, and the columns of A."""
        known = {name: getattr(self, name).copy() for name in ("plus", "minus", "gram", "target", "slope")}
        for sums in known.values():
            sums[atoms] = 0
        known["gram"][:, atoms] = 0
        vars(self).update(known)

    def rescale(self, scale: NDArray) -> None:
        """Multiply all past coefficients of each atom by its scale."""
        (p, q), column = self.exponents, scale[:, None]
        logarithms = float(self.minus.sum(axis=1) @ np.log(scale)) if q == 0 else 0.0
        vars(self).update(
            constant=self.constant - logarithms,
            gram=self.gram * scale * column,
            plus=self.plus * column**p,
            minus=self.minus * column**q,
            target=self.target * column,
            slope=self.slope * column,
        )

    def value(self, dictionary: Dictionary) -> float:
        r"""Return the surrogate: an upper bound of the average objective of past samples at their stored codes."""
        atoms = dictionary.atoms().astype(np.float64)
        return self.constant + float(power_value(atoms, self.plus, self.minus, self.exponents).sum())

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        self._move(share, {name: getattr(other, name) for name in MAJORANT_SUMS}, 1.0)

    def _move(self, weight: float, batch: dict[str, Any], mass: float) -> None:
        share = weight / mass
        vars(self).update({name: (1 - weight) * getattr(self, name) + share * batch[name] for name in MAJORANT_SUMS})


@dataclass(frozen=True)
class SubgradientDelta:
    """Sums over the samples i of a batch, each with its weight w_i.

    Attributes
    ----------
    slope : ndarray of shape (n_components, n_features)
        Sum of w_i h_i' g_i, with g_i a subgradient of the loss with respect to the reconstruction.
    pulls, errors : ndarray of shape (n_features,)
        Sums of w_i |g_i| and of w_i |x_i - h_i D|: their ratio is the mean curvature from the data to the
        reconstruction.
    energy : ndarray of shape (n_components,)
        Sum of w_i h_i^2.
    usage, objective, mass
        As in `GramDelta`.
    """

    slope: NDArray
    pulls: NDArray
    errors: NDArray
    energy: NDArray
    usage: NDArray
    objective: float
    mass: float

    def __add__(self, other: SubgradientDelta) -> SubgradientDelta:
        return SubgradientDelta(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return the subgradient of the mean loss with respect to the atoms."""
        return self.slope / self.mass

    def smoothness(self) -> float:
        """Return the largest curvature of a feature."""
        return float(_curvature(self.energy / self.mass, self.pulls, self.errors).max())


class Subgradient:
    """The newest batch's subgradient, and running averages of what it is scaled and judged by.

    Attributes
    ----------
    slope : ndarray of shape (n_components, n_features)
        Subgradient of the mean loss of the newest batch.
    pulls, errors : ndarray of shape (n_features,)
        Running averages of absolute gradients and absolute errors.
    energy : ndarray of shape (n_components,)
        Running average of squared codes.
    constant : float
        Running average of the objective of batches at the dictionaries they met.
    """

    def __init__(self, n_components: int, n_features: int) -> None:
        self.slope = np.zeros((n_components, n_features))
        self.pulls, self.errors = np.zeros((2, n_features))
        self.energy = np.zeros(n_components)
        self.constant = 0.0

    def absorb(self, delta: SubgradientDelta, weight: float) -> None:
        """Keep the subgradient, and move the averages towards the batch's by its weight."""
        share = weight / delta.mass
        vars(self).update(
            slope=delta.slope / delta.mass,
            pulls=(1 - weight) * self.pulls + share * delta.pulls,
            errors=(1 - weight) * self.errors + share * delta.errors,
            energy=(1 - weight) * self.energy + share * delta.energy,
            constant=(1 - weight) * self.constant + share * delta.objective,
        )

    def strength(self, dictionary: Dictionary) -> NDArray:
        """Return the mean energy of each atom's part."""
        return self.energy * np.diag(dictionary.gram())

    @property
    def curvature(self) -> NDArray:
        """How much the slope of each feature's problem changes with its atoms, (n_features,)."""
        return _curvature(self.energy, self.pulls, self.errors)

    def forget(self, atoms: NDArray) -> None:
        """Clear what is known of these atoms."""
        slope, energy = self.slope.copy(), self.energy.copy()
        slope[atoms] = energy[atoms] = 0
        vars(self).update(slope=slope, energy=energy)

    def value(self, dictionary: Dictionary) -> float:
        """Return the smoothed objective: no bound, but what falls along the stream."""
        return self.constant

    def merge(self, other: Self, share: float) -> None:
        """Refuse: two sequences of steps have no common one."""
        raise ValueError("Runs of projected subgradient steps do not merge; learn with method='auto' for that.")


def _curvature(energy: NDArray, pulls: NDArray, errors: NDArray) -> NDArray:
    """Return the trace of the Gram matrix of codes times the secant curvature of each feature's loss."""
    tiny = np.finfo(np.float64).tiny
    secant = np.divide(pulls, errors, out=np.zeros_like(pulls), where=errors > tiny)
    return energy.sum() * np.where(secant > 0, secant, max(float(pulls.sum() / max(errors.sum(), tiny)), tiny))


class Usage:
    """How much each atom has been used, whatever the memory forgets.

    Attributes
    ----------
    total : ndarray of shape (n_components,)
        Sum over the run of absolute codes times sample weights.
    idle : ndarray of shape (n_components,)
        Mass of the samples that came since an atom was last of use.
    """

    def __init__(self, n_components: int) -> None:
        self.total = np.zeros(n_components)
        self.idle = np.zeros(n_components)

    def absorb(self, delta: Delta, strength: NDArray) -> None:
        """Count a batch; ``strength`` is the memory's, after it took the batch in."""
        idle = np.where(strength > UNUSED * strength.max(), 0.0, self.idle + delta.mass)
        vars(self).update(total=self.total + delta.usage, idle=idle)

    def forget(self, atoms: NDArray) -> None:
        """Start the idle time of these atoms anew."""
        idle = self.idle.copy()
        idle[atoms] = 0
        self.idle = idle

    def merge(self, other: Self) -> None:
        """Add what another part of the stream used."""
        vars(self).update(total=self.total + other.total, idle=np.minimum(self.idle, other.idle))
