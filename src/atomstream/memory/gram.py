"""Averages of code and data products: all that the squared loss of the past needs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import or_wider
from atomstream.base.saved_fields import array, either, number, part
from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.dictionaries.low_rank import LowRank, Sums, blend
from atomstream.losses import Loss, squared_norms
from atomstream.memory.base import Delta, Memory, Statistics
from atomstream.memory.by_feature import blended, energies, feature_sums, times
from atomstream.problem import Batch, Needs, Objective

SPARE_SHARE = 0.01  # of the objective
# Codes of so many atoms, with so few entries, are summed by their entries, which is faster.
MIN_THIN_ATOMS, MAX_THIN_SHARE = 512, 0.04


@dataclass(frozen=True, kw_only=True)
class GramDelta(Delta):
    """Sums over the samples i of a batch, each with its weight w_i.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        Sum of w_i h_i' h_i.
    cross : ndarray of shape (n_components, n_features), or LowRank
        Sum of w_i h_i' x_i.
    constant : float
        Sum of w_i (|x_i|^2 / 2 + penalty of h_i): what the surrogate holds besides the dictionary.
    grams : ndarray of shape (n_blocks, n_components, n_components), optional
        Where entries weigh differently, that sum for each feature or block of features
        (`atomstream.memory.by_feature`).
    usage, objective, mass
        As in `Delta`.
    """

    gram: NDArray
    cross: Sums
    constant: float
    grams: NDArray | None = None

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self) if field.name != "grams"]
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return type(self)(**sums, grams=blended(self, 1.0, other, 1.0))

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return (A D - B) / mass."""
        if self.grams is not None:
            atoms = dictionary.atoms().astype(np.float64)
            return np.asarray((times(self.grams, atoms) - self.cross) / self.mass)
        return (self.gram @ dictionary.atoms().astype(np.float64) - self.cross) / self.mass

    def smoothness(self) -> float:
        """Return the largest eigenvalue of A / mass."""
        grams = self.gram[None] if self.grams is None else self.grams
        return float(np.linalg.eigvalsh(grams)[:, -1].max()) / self.mass


class Aggregates(Memory[GramDelta]):
    r"""Weighted averages of code and data products over the stream, in float64.

    After batch t of mass n_t, with :math:`w_1 = 1` (averaged over the batch, not summed; the
    harmonic schedule gives :math:`w_t = n_t / (n_1 + ... + n_t)`, so that each sample weighs the
    same),

    .. math:: A_t = (1 - w_t) A_{t-1} + w_t H_t^\top H_t / n_t, \quad
              B_t = (1 - w_t) B_{t-1} + w_t H_t^\top X_t / n_t.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        A.
    cross : ndarray of shape (n_components, n_features), or LowRank
        B; where asked for, as a product of what made it for as long as that is smaller
        (`atomstream.dictionaries.low_rank`).
    constant : float
        The same average of |x|^2 / 2 + penalty of the code.
    grams : ndarray of shape (n_blocks, n_components, n_components), optional
        A of each feature, or block of features, from the first batch on whose entries weigh
        differently; until then all features have A.

    References
    ----------
    .. [1] Mairal, Bach, Ponce, Sapiro (2010), Online learning for matrix factorization and sparse
       coding, JMLR 11, Algorithm 1. Ours is the transpose and is averaged.
    """

    SAVED: ClassVar[Any] = (
        array("gram", "r r"),
        either(array("cross", "r d"), part("cross", LowRank)),
        number("constant"),
        array("grams", "b r r", optional=True),
    )
    grams: NDArray | None = None

    def __init__(self, n_components: int, n_features: int, *, factored: bool = False) -> None:
        self.gram = np.zeros((n_components, n_components))
        self.cross: Sums = (
            LowRank.empty(n_components, n_features)
            if factored
            else np.zeros((n_components, n_features))
        )
        self.constant = 0.0

    def absorb(self, delta: GramDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        self._move(weight, delta, delta.mass)

    def atom_energy(self, dictionary: Dictionary) -> NDArray:
        """Return A_jj |d_j|^2: the mean energy of each atom's part, whatever the atom's length."""
        if self.grams is not None:
            return energies(self.grams, dictionary.atoms().astype(np.float64))
        return self.gram.diagonal() * dictionary.gram().diagonal()

    def spare(self, delta: GramDelta) -> float:
        """Return what would raise the objective of the batch by a hundredth at most."""
        # An energy enters the objective by one half.
        return 2 * SPARE_SHARE * delta.objective / delta.mass

    def forget(self, atoms: NDArray) -> None:
        """Clear rows and columns of A and rows of B."""
        kept = np.ones(len(self.gram))
        kept[atoms] = 0
        self.rescale(kept)

    def rescale(self, scale: NDArray) -> None:
        """Multiply all past coefficients of each atom by its scale."""
        # A is of the second degree in the codes, B of the first.
        squares = scale * scale[:, None]
        vars(self).update(gram=self.gram * squares, cross=self.cross * scale[:, None])
        if self.grams is not None:
            self.grams = self.grams * squares

    def rescale_features(self, scale: NDArray, energy: NDArray) -> None:
        """Multiply every feature of the past by its number, where the codes stay as they are.

        B is then what it would be, to rounding. So is the constant, in which features are summed,
        where ``energy`` is the mean square of each feature by the weights of the memory.
        """
        # Of |x|^2 / 2 feature f makes energy_f / 2, and scale_f^2 times that from now on.
        constant = self.constant + 0.5 * float(energy @ (scale**2 - 1))
        vars(self).update(cross=self.cross * scale, constant=constant)

    def shift_features(self, shift: NDArray, mean_code: NDArray, mean_row: NDArray) -> None:
        """Add a number to every feature of the past, whose mean code and row are these."""
        constant = self.constant + float(shift @ mean_row) + 0.5 * float(shift @ shift)
        cross = self.cross + np.outer(mean_code, shift)
        vars(self).update(cross=cross, constant=constant)

    def value(self, dictionary: Dictionary) -> float:
        r"""Return the average objective of past samples at their stored codes, :math:`\hat f_t(D)`.

        References
        ----------
        Lyu, Needell, Balzano, eqs. (18), (22), halved; an upper bound of the loss at optimal codes.
        """
        quadratic = _quadratic(self.gram, self.grams, dictionary)
        return float(self.constant + quadratic - dictionary.overlap(self.cross))

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        self._move(share, other, 1.0)

    def check_saved(self, **sizes: int) -> None:
        """Refuse matrices of more blocks than there are features."""
        if self.grams is not None and not 0 < len(self.grams) <= self.cross.shape[1]:
            raise ValueError(f"matrices for {len(self.grams)} blocks of features")

    def _move(self, weight: float, other: GramDelta | Aggregates, mass: float) -> None:
        # Sums over the batch become its averages: A = (1 - w) A + w H^T H / n, so that batches of
        # any size count by their mass alone.
        share, keep = weight / mass, 1 - weight
        grams = blended(self, keep, other, share)
        vars(self).update(
            gram=blend(self.gram, keep, other.gram, share),
            cross=blend(self.cross, keep, other.cross, share),
            constant=keep * self.constant + share * other.constant,
        )
        if grams is not None or self.grams is not None:
            self.grams = grams


def _products(codes: NDArray, weighted: NDArray) -> NDArray:
    """Return the products of the codes of atoms, in the order of C."""
    stored = _thin(weighted)
    if sp.issparse(stored):
        return (stored.T @ sp.csr_array(codes)).T.toarray()
    return codes.T @ weighted


def _thin(codes: NDArray) -> Any:
    """Return codes without their zeros, where atoms are many and a row has few of them."""
    few = codes.shape[1] >= MIN_THIN_ATOMS and np.count_nonzero(codes) < MAX_THIN_SHARE * codes.size
    return sp.csr_array(codes) if few else codes


def _quadratic(gram: NDArray, grams: NDArray | None, dictionary: Dictionary) -> float:
    """Return half the sum over features f of d_f A_f d_f'."""
    if grams is None:
        return 0.5 * float(np.vdot(gram, dictionary.gram()))
    atoms = dictionary.atoms().astype(np.float64)
    return 0.5 * float(np.vdot(times(grams, atoms), atoms))


@dataclass(frozen=True)
class GramSums(Statistics[GramDelta, Aggregates]):
    r"""Measures the sums that determine the squared loss of past samples for every dictionary.

    Missing entries are completed with the reconstruction at hand. For a row x seen on the features
    M this majorises what is minimised, with equality at the dictionary D it was coded with,

    .. math:: \tfrac12 \|M(x - hD')\|^2 \le \tfrac12 \|Mx + (1 - M)hD - hD'\|^2
              \quad \text{for every } D',

    so an update that does not raise the surrogate stays one. The same holds for weights of entries
    from 0 to 1, W in place of M: :math:`\tfrac12 \sum_j w_j (x_j - y_j)^2` lies below half of
    :math:`\|Wx + (1 - W)hD - y\|^2` plus a constant, and touches it at y = hD, for it has the same
    slope there and no more curvature.

    That makes atoms crawl where much is missing or weights are far apart. With ``by_feature`` every
    feature has a Gram matrix of its own instead, and nothing is completed.

    Parameters
    ----------
    factored : bool, default=False
        Whether the cross sums of batches with fewer rows than there are atoms stay a product of
        codes and samples.
    by_feature : bool, default=False
        Whether batches whose entries weigh differently are measured by features
        (`atomstream.memory.by_feature`), for updaters that read ``grams``.

    References
    ----------
    Lyu, Needell, Balzano, eq. (3): the A and B of the scheme, here for rows and summed over the
    batch.
    """

    factored: bool = False
    by_feature: bool = False
    needs: ClassVar[Needs] = {"loss": ("quadratic",)}

    def start(self, n_components: int, n_features: int, loss: Loss) -> Aggregates:
        """Return an empty memory."""
        return Aggregates(n_components, n_features, factored=self.factored)

    def measure(
        self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective
    ) -> GramDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large for their type.
        """
        h = codes.values
        cross: Sums
        unit, weighted = 1.0, h
        if batch.weights is not None:
            unit = float(batch.weights.max())  # weights must not leave the range of float32
            weighted = h * (batch.weights / unit)[:, None].astype(h.dtype)
        gram = unit * _products(h, weighted).astype(np.float64)
        if batch.mask is not None and self.by_feature:
            parts = (batch.mask, h, batch.row_weights, dictionary.decode(h))
            grams, cross, constants = feature_sums(batch.X, *parts)
        else:
            grams, (cross, constants) = None, self._cross(batch, h, weighted, unit, dictionary)
        if objective.codes.l1 or objective.codes.l2:
            constants += objective.codes.elastic_net(h)
        constant = float(constants.sum() if batch.weights is None else constants @ batch.weights)
        # The sum of 1/2 |x - hD|^2 from sums alone; no reconstruction is formed.
        fit = _quadratic(gram, grams, dictionary) - dictionary.overlap(cross)
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        if not np.isfinite(constant + fit):
            raise ValueError(
                f"Sums over the batch are not finite in {h.dtype}; rescale the data"
                f"{or_wider(h.dtype)}."
            )
        return GramDelta(
            gram=gram,
            cross=cross,
            constant=constant,
            grams=grams,
            usage=usage,
            objective=constant + fit,
            mass=batch.mass,
        )

    def _cross(
        self, batch: Batch, h: NDArray, weighted: NDArray, unit: float, dictionary: Dictionary
    ) -> tuple[Sums, NDArray]:
        """Return the cross sums of completed samples, and what their losses hold besides."""
        X, constants = batch.X, 0.5 * batch.energy
        # Missing entries are taken as the codes reconstruct them: the completed loss touches the
        # observed one at these atoms and lies above it elsewhere.
        if batch.mask is not None:
            decoded = dictionary.decode(h)
            X = batch.complete(decoded)
            constants = 0.5 * squared_norms(X) + batch.slack(decoded)
        # With fewer rows than atoms the two factors are smaller than their product.
        if self.factored and len(h) < h.shape[1] and not sp.issparse(X):
            return unit * LowRank(weighted.astype(np.float64), X), constants
        cross = np.asarray((X.T @ weighted).T if sp.issparse(X) else _thin(weighted).T @ X)
        return (unit * cross.astype(np.float64) if unit != 1 else cross), constants
