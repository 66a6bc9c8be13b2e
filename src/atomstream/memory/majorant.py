"""Sums of power majorisers of past losses, and a quadratic model beside them."""

from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, each, number, part
from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss
from atomstream.losses.majorisers import exponents_of, power_value, times_power
from atomstream.memory.base import Memory, Statistics
from atomstream.memory.column_sums import ColumnSums
from atomstream.memory.majorant_delta import MajorantDelta
from atomstream.problem import Batch, Needs, Objective
from atomstream.problem.products import ROWS, products

QUADRATIC = ("target", "slope", "curvature")
MAJORANT_SUMS = ("plus", "minus", "gram", *QUADRATIC, "constant")
TINY = float(np.finfo(float).tiny)
FLAT = 1e-6  # of the mean curvature, which a feature without data counts with


class Majorants(Memory[Any]):
    r"""Weighted averages of the power majorisers of past batches, and of quadratic models.

    The majorisers add up to one bound of the average objective of past samples at their stored
    codes,

    .. math:: \hat f_t(D) \le c_t + \sum_{kf} P_{kf} D_{kf}^p / p - N_{kf} D_{kf}^q / q .

    The quadratic model has the gradients as they were measured and one Gram matrix for all
    features, each feature's share of the curvature beside it: what is known of how atoms depend on
    each other, in O(r^2 + r d) numbers.

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
    curvature : ndarray of shape (n_features,)
        Average second derivative of each feature's loss in its reconstruction.
    constant : float
        c.
    columns : ColumnSums, optional
        As long as all batches had entries in few features: P and N, at a cost that goes by those.
        There is no quadratic model then, which sparse data have no use for; ``plus``, ``minus``,
        ``target``, ``slope`` and ``curvature`` are None.
    """

    SAVED = (
        each(number("exponents", finite=True), at_least=2, at_most=2),
        *(array("plus", "r d", optional=True), array("minus", "r d", optional=True)),
        array("gram", "r r"),
        *(array("target", "r d", optional=True), array("slope", "r d", optional=True)),
        *(array("curvature", "d", optional=True), number("constant")),
        part("columns", ColumnSums, optional=True),
    )
    columns: ColumnSums | None = None

    def __init__(self, n_components: int, n_features: int, exponents: tuple[float, float]) -> None:
        self.exponents = exponents
        self.gram = np.zeros((n_components, n_components))
        self.plus, self.minus, self.target, self.slope = np.zeros((4, n_components, n_features))
        self.curvature = np.zeros(n_features)
        self.constant = 0.0

    def check_saved(self, **sizes: int) -> None:
        """Refuse sums of both kinds or of neither: one kind stands in for the other."""
        absent = {getattr(self, name) is None for name in ("plus", "minus", *QUADRATIC)}
        if absent != {self.columns is not None} or self.exponents[0] <= self.exponents[1]:
            raise ValueError(f"sums of two kinds, or exponents {self.exponents}")

    def absorb(self, delta: MajorantDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        # A weight of 1 keeps nothing of the past, so the kind of its sums does not matter.
        if delta.features is not None and (weight == 1 or self.columns is not None):
            self._absorb_touched(delta, weight)
            return
        delta = delta.densified()
        if self.columns is not None:
            self._spread(delta.atoms)
        # The coefficients belong to plus z^p / p - minus z^q / q, whose gradient at the atoms of
        # the batch must be plus - minus of the batch: hence the old powers are divided out.
        p, q = self.exponents
        plus, minus = (
            times_power(part, delta.atoms, 1 - power)
            for part, power in ((delta.plus, p), (delta.minus, q))
        )
        if p > 1 and not delta.atoms.all():  # an entry at 0, where P is infinite, tells nothing
            minus = np.where(delta.atoms > 0, minus, 0)
        batch = {
            "plus": plus,
            "minus": minus,
            "gram": delta.gram,
            "target": delta.gram @ delta.atoms,
            "slope": delta.plus - delta.minus,
            "curvature": delta.curvature,
            "constant": delta.constant,
        }
        self._move(weight, batch, delta.mass)

    def _absorb_touched(self, delta: MajorantDelta, weight: float) -> None:
        share, keep = weight / delta.mass, 1 - weight
        minus = share * times_power(delta.minus, delta.atoms, 1 - self.exponents[1])
        plus = share * delta.plus
        if self.columns is None or not keep:
            sums = np.zeros(delta.dictionary.shape[::-1])
            sums[delta.features] = minus.T
            columns = ColumnSums.of(sums, plus, 1 / (1 - self.exponents[1]))
        else:
            columns = self.columns.moved(keep, delta.features, minus, plus)
        vars(self).update(dict.fromkeys(("plus", "minus", *QUADRATIC)))
        vars(self).update(
            columns=columns,
            gram=keep * self.gram + share * delta.gram,
            constant=keep * self.constant + share * delta.constant,
        )

    def _spread(self, atoms: NDArray) -> None:
        """Go on with sums for all features, and a quadratic model around these atoms."""
        q = self.exponents[1]
        plus, minus = self._coefficients()
        slopes, middle = times_power(minus, atoms, q - 1), plus[:, 0] @ atoms
        # The curvature of the past is not known: that of its mean stands for it.
        curvature = (1 - q) * (slopes * atoms).sum(axis=0) / np.maximum(middle, TINY) ** 2
        vars(self).update(
            columns=None,
            plus=plus,
            minus=minus,
            target=self.gram @ atoms,
            slope=plus - slopes,
            curvature=curvature,
        )

    def _coefficients(self) -> tuple[NDArray, NDArray]:
        """Return P and N, each (n_components, n_features)."""
        if self.columns is None:
            return self.plus, self.minus
        minus = np.ascontiguousarray(self.columns.minus())
        return np.repeat(self.columns.plus[:, None], minus.shape[1], axis=1), minus

    @property
    def cross(self) -> NDArray:
        """B of the quadratic model: its minimiser D solves A D = B where nothing constrains it."""
        # The quadratic model has the curvature gram_ij share_k, and at each batch's atoms its
        # slope.
        share = self.curvature / max(float(self.curvature.mean()), np.finfo(float).tiny)
        return self.target - self.slope / np.maximum(share, FLAT)

    def atom_energy(self, dictionary: Dictionary) -> NDArray:
        """Return A_jj |d_j|^2: the mean energy of each atom's part, whatever the atom's length."""
        return self.gram.diagonal() * dictionary.gram().diagonal()

    def forget(self, atoms: NDArray) -> None:
        """Clear the rows of all sums, and the columns of A."""
        changing: tuple[str, ...] = ("plus", "minus", "gram", "target", "slope")
        if self.columns is not None:
            self.columns, changing = self.columns.without(atoms), ("gram",)
        known = {name: getattr(self, name).copy() for name in changing}
        for sums in known.values():
            sums[atoms] = 0
        known["gram"][:, atoms] = 0
        vars(self).update(known)

    def join(self, groups: NDArray, atoms: NDArray) -> NDArray:
        """Add up what is known of atoms that become one, as if their codes had been one code.

        Of Kullback-Leibler alone: there P and N are linear in the codes. What stays of the
        constant is still a bound, by the log-sum inequality.
        """
        if self.exponents != (1, 0):
            raise ValueError("Atoms join under Kullback-Leibler alone, whose sums are linear.")
        plus, minus = (groups @ part for part in self._coefficients())
        # Where nothing uses any of them they count alike.
        weights = groups * np.maximum(self._coefficients()[0].mean(axis=1), TINY)
        known: dict[str, Any] = {"gram": groups @ self.gram @ groups.T}
        if self.columns is not None:
            sums = np.ascontiguousarray(minus.T), plus[:, 0], self.columns.power
            known["columns"] = ColumnSums.of(*sums)
        else:
            known |= {"plus": plus, "minus": minus}
            known |= {name: groups @ getattr(self, name) for name in ("target", "slope")}
        vars(self).update(known)
        return weights @ atoms / weights.sum(axis=1, keepdims=True)

    def rescale(self, scale: NDArray) -> None:
        """Multiply all past coefficients of each atom by its scale."""
        (p, q), column = self.exponents, scale[:, None]
        if self.columns is not None:
            # As below: where q is 0 the power of N is 1, and its sums are known.
            sums = self.columns.unit * self.columns.sizes
            constant = self.constant - (float(sums @ np.log(scale)) if q == 0 else 0.0)
            columns, gram = self.columns.rescaled(scale, q), self.gram * scale * column
            vars(self).update(constant=constant, gram=gram, columns=columns)
            return
        # For q = 0 the concave part is a logarithm: scaling adds a constant instead of a factor.
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
        r"""Return the surrogate, an upper bound of the average objective of past samples."""
        atoms = dictionary.atoms().astype(np.float64)
        plus, minus = self._coefficients()
        return self.constant + float(power_value(atoms, plus, minus, self.exponents).sum())

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        # The features that the two have touched differ: both go on with sums for all.
        both = [copy(memory) for memory in (self, other)]
        for memory in both:
            if memory.columns is not None:
                memory._spread(memory.columns.atoms(1.0, np.float64).atoms())
        vars(self).update(vars(both[0]))
        self._move(share, {name: getattr(both[1], name) for name in MAJORANT_SUMS}, 1.0)

    def _move(self, weight: float, batch: dict[str, Any], mass: float) -> None:
        # Sums over the batch become its averages.
        share = weight / mass
        keep = 1 - weight
        sums = {name: keep * getattr(self, name) + share * batch[name] for name in MAJORANT_SUMS}
        vars(self).update(sums)


@dataclass(frozen=True)
class MajorantSums(Statistics[Any, Majorants]):
    """Measures the power majoriser of past losses, and a quadratic model beside it.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    needs: ClassVar[Needs] = {"loss": ("exponents",)}

    def merges(self, objective: Objective) -> bool:
        """Return whether features in which no sample has an entry may count as one.

        So they do where their loss is a slope times the reconstruction, and where the majoriser is
        minimised on a simplex, on which all of them have the same multiplier.
        """
        shape = objective.atoms.shape
        simplex = shape is not None and shape.total > 0 and not objective.atoms.l2
        return simplex and objective.loss.ratio_power is not None

    def start(self, n_components: int, n_features: int, loss: Loss) -> Majorants:
        """Return an empty memory."""
        return Majorants(n_components, n_features, exponents_of(loss))

    def measure(
        self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective
    ) -> MajorantDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large or too small for their type.
        """
        if len(codes.values) > ROWS and sp.issparse(batch.X) and objective.loss.ratio_power is None:
            blocks = [slice(start, start + ROWS) for start in range(0, len(codes.values), ROWS)]
            deltas = (self.measure(batch.of(b), codes.of(b), dictionary, objective) for b in blocks)
            return reduce(add, deltas)  # what becomes dense becomes so a block at a time
        h, loss = codes.values, objective.loss
        atoms, (p, q) = dictionary.atoms().astype(np.float64), exponents_of(loss)
        weights = batch.row_weights
        unit = (
            float(weights.max()) or 1.0
        )  # tiny or huge weights must not leave the range of float32
        weighted = h * (weights / unit)[:, None].astype(h.dtype)
        block = products(batch, dictionary.atoms(), loss)(slice(None))
        *parts, curvatures = block.split_entries(h)
        plus, minus = (
            unit * np.asarray(block.atom_gradient(weighted, part), dtype=np.float64)
            for part in parts
        )
        curvature = np.asarray(curvatures.T @ weights, dtype=np.float64)
        # Curvature as a mean per row and a sum per feature: one Gram matrix for all features.
        per_row = np.asarray(curvatures.sum(axis=1)).reshape(-1, 1) / h.dtype.type(batch.X.shape[1])
        gram = unit * (h.T @ (weighted * per_row.astype(h.dtype))).astype(np.float64)
        total = float((block.losses(h) + objective.codes.elastic_net(h)) @ weights)
        concave = np.log(np.maximum(atoms, np.finfo(float).tiny)) if q == 0 else 1 / q
        # The majoriser then equals the loss at the present atoms.
        constant = total - float(np.vdot(plus, atoms) / p - (minus * atoms * concave).sum())
        if not np.isfinite(constant + plus.sum() + minus.sum() + curvature.sum() + gram.sum()):
            raise ValueError(f"Sums over the batch are not finite in {h.dtype}; rescale the data.")
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        return MajorantDelta(
            plus=plus,
            minus=minus,
            curvature=curvature,
            gram=gram,
            constant=constant,
            atoms=atoms,
            usage=usage,
            objective=total,
            mass=batch.mass,
        )
