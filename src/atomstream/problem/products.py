"""A block of samples and its reconstructions under a loss: the products that divergences need.

A loss that is no function of products has to look at every entry of the reconstruction. `products`
chooses which entries those are: all of them, or the stored ones of sparse rows where the loss needs
sums only for zeros.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.losses import Loss
from atomstream.losses.majorisers import exponents_of, majoriser_curvature, power_step
from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem.batch import Batch

# By entries of the reconstruction; a number: all alike.
Entries: TypeAlias = "float | NDArray | sp.csr_array"
# Rows, atoms and a loss, and all that is computed of them for codes of the rows.
Products: TypeAlias = "DenseProducts | SparseProducts"
LEAST_CURVATURE = 0.1  # of the majoriser's, that the model of a Newton step has at least
ROWS = 1024  # that are dense at a time
MIN_DIVISOR = {  # of a reconstruction that is divided by
    np.dtype(np.float32): 1e-12,
    np.dtype(np.float64): 1e-100,
}


def products(batch: Batch, atoms: NDArray, loss: Loss) -> Callable[[slice], Products]:
    """Return what gives some rows of a batch beside atoms and a loss, in the type of the atoms.

    Sparse rows become dense, block by block, where the loss needs the reconstruction of their
    zeros.
    """
    if sp.issparse(batch.X) and loss.ratio_power is not None:
        return SparseProducts(sp.csr_array(batch.X, dtype=atoms.dtype), atoms, loss).of

    def of_dense(rows: slice) -> DenseProducts:
        """Return the products of a block of rows."""
        X = dense(batch.X[rows]).astype(atoms.dtype, copy=False)
        mask = None if batch.mask is None else batch.mask[rows]
        return DenseProducts(X, mask, atoms, loss)

    return of_dense


def on_possible_features(batch: Batch, atoms: NDArray, loss: Loss) -> tuple[Batch, NDArray]:
    """Return samples and atoms on the features that codes can change.

    A feature that no atom has costs the same under every code. Where the loss has a negative power
    of the reconstruction, that share of the objective is so large that beside it no gain counts.
    """
    if loss.exponents is None or loss.exponents[1] >= 0:
        return batch, atoms
    features = np.flatnonzero(atoms.any(axis=0))
    if len(features) in (0, atoms.shape[1]):
        return batch, atoms
    return batch.on(features), atoms[:, features]


def losses(batch: Batch, codes: NDArray, atoms: NDArray, loss: Loss) -> NDArray:
    """Return the loss of each sample, a block of rows at a time."""
    values, blocks = np.empty(len(codes)), products(batch, atoms, loss)
    for start in range(0, len(codes), ROWS):
        rows = slice(start, start + ROWS)
        values[rows] = blocks(rows).losses(codes[rows])
    return values


class _Rows(ABC):
    """What dense and sparse products share.

    Attributes
    ----------
    is_complete : bool
        Whether no entry is missing.
    """

    is_complete: bool = True
    _X: Any
    _atoms: NDArray
    _loss: Loss

    @abstractmethod
    def of(self, rows: NDArray) -> Self:
        """Return the products of some of the rows."""

    @abstractmethod
    def split_gradient(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return both parts of the gradient in the codes."""

    def code_curvature(self, curvature: NDArray | sp.csr_array) -> NDArray:
        """Return the trace of the Gram matrix of the atoms under the curvature of each row."""
        return curvature @ (self._atoms**2).sum(axis=0)

    def multiplicative_rounds(
        self, codes: NDArray, penalty: Penalty, most: int, moved: float
    ) -> NDArray:
        """Return codes after multiplicative updates, until rows move by less than this share."""
        exponents = exponents_of(self._loss)
        left, here, still = np.arange(len(codes)), self, np.ones(len(codes), bool)
        for _ in range(most):
            before = codes[left]
            now = power_step(before, *here.split_gradient(before), exponents, penalty)
            # Finished rows stay in the block until it shrinks; their codes must not depend on who
            # else is in it.
            now[~still] = before[~still]
            codes[left] = now
            still &= np.abs(now - before).sum(axis=1) > moved * now.sum(axis=1)
            if not still.any():
                break
            # Before half of them are done, computing with fewer rows is not worth the copies.
            if 2 * still.sum() < len(left):
                left = left[still]
                here, still = self.of(left), np.ones(len(left), bool)
        return codes


class DenseProducts(_Rows):
    """Rows whose reconstruction is formed as a whole; missing entries cost nothing."""

    def __init__(self, X: NDArray, mask: NDArray | None, atoms: NDArray, loss: Loss) -> None:
        self._X, self._mask, self._atoms, self._loss = X, mask, atoms, loss
        self.is_complete = mask is None
        self._weighs = mask is not None and mask.dtype != bool
        # Such losses divide by the reconstruction or take its power: it is kept off zero.
        nonnegative = loss.exponents is not None and not loss.quadratic
        nonnegative |= loss.reconstruction == "positive"
        self._least = MIN_DIVISOR[atoms.dtype] if nonnegative else None

    def of(self, rows: NDArray) -> Self:
        """Return the products of some of the rows."""
        mask = None if self._mask is None else self._mask[rows]
        return type(self)(self._X[rows], mask, self._atoms, self._loss)

    def sums(self) -> tuple[NDArray, NDArray]:
        """Return the sum of the observed entries of each sample, and of each atom over them."""
        if self._mask is None:
            return self._X.sum(axis=1, keepdims=True), self._atoms.sum(axis=1)[None]
        seen = self._mask * self._X if self._weighs else self._X
        return seen.sum(axis=1, keepdims=True), self._mask @ self._atoms.T

    def entries(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return the samples, which entries were observed, and the atoms."""
        observed = np.ones(self._X.shape, bool) if self._mask is None else self._mask
        return np.ascontiguousarray(self._X), observed, np.ascontiguousarray(self._atoms)

    def project(self, projector: NDArray, codes: NDArray) -> NDArray:
        """Return the samples times a matrix; what is missing is completed from these codes."""
        if self._mask is None:
            return self._X @ projector
        Y = codes @ self._atoms
        if self._weighs:
            return (Y + self._mask * (self._X - Y)) @ projector
        return np.where(self._mask, self._X, Y) @ projector

    def reconstruct(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the samples and their reconstructions, equal where entries are missing."""
        Y = codes @ self._atoms
        if self._least is not None:
            np.maximum(Y, self._least, out=Y)
        # A hidden entry is set to its reconstruction, where its loss and slope are zero.
        return self._X if self._mask is None else np.where(self._mask, self._X, Y), Y

    def losses(self, codes: NDArray) -> NDArray:
        """Return the loss of each row."""
        if not self._weighs:
            return self._loss.value(*self.reconstruct(codes))
        loss: Any = self._loss  # a sum over entries: no other loss takes weights of them
        X, Y = (part.astype(np.float64, copy=False) for part in self.reconstruct(codes))
        return (self._mask * loss.entries(X, Y)).sum(axis=1, dtype=np.float64)

    def split_entries(self, codes: NDArray) -> tuple[Entries, Entries, NDArray]:
        """Return both parts of the gradient in the reconstruction, and the curvature there."""
        X, Y = self.reconstruct(codes)
        if self._loss.exponents is None:
            # A loss that knows no split of its gradient is split by the sign of its entries.
            slope = self._loss.gradient(X, Y)
            plus, minus = np.maximum(slope, 0), np.maximum(-slope, 0)
            curvature = _curvature(self._loss, X, Y)
        else:
            plus, minus = self._loss.split(X, Y)
            # That of a quadratic loss is its own, which no sign of a reconstruction changes.
            known = self._loss.curvature(X, Y) if self._loss.quadratic else None
            exponents = self._loss.exponents
            curvature = majoriser_curvature(exponents, plus, minus, Y) if known is None else known
        if self._mask is not None:
            plus, minus, curvature = plus * self._mask, minus * self._mask, curvature * self._mask
        return plus, minus, curvature

    def code_gradient(self, part: Entries) -> NDArray:
        """Return a part of the gradient in the codes from that in the reconstruction."""
        if isinstance(part, np.ndarray):
            return part @ self._atoms.T
        return part * self._atoms.sum(axis=1)[None]

    def atom_gradient(self, codes: NDArray, part: Entries) -> NDArray:
        """Return such a part of the gradient in the atoms, summed over the rows."""
        if isinstance(part, np.ndarray):
            return codes.T @ part
        alike = np.full(self._atoms.shape[1], part, self._atoms.dtype)
        return np.outer(codes.sum(axis=0), alike)

    def split_gradient(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return both parts of the gradient in the codes."""
        plus, minus = self._loss.split(*self.reconstruct(codes))
        if self._mask is not None:
            plus, minus = plus * self._mask, minus * self._mask
        return self.code_gradient(plus), self.code_gradient(minus)

    def secant(self, codes: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return weighted sums over the rows of absolute gradients and errors, by features."""
        X, Y = self.reconstruct(codes)
        slope = self._loss.gradient(X, Y)
        if self._mask is not None:
            slope = slope * self._mask
        return weights @ np.abs(slope), weights @ np.abs(X - Y)

    def quadratic_model(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the gradient in each code, and the Gram matrix of the atoms under curvature.

        That is the second derivative of the loss, but at least a tenth of the majoriser's
        curvature, or that itself.
        """
        plus, minus, curvature = self.split_entries(codes)
        second = self._loss.curvature(*self.reconstruct(codes))
        if second is not None:
            # The second derivative may vanish or be negative; a share of the majoriser's keeps
            # steps finite.
            shares = self._mask if self._weighs else 1.0
            least = 0.0 if self._loss.quadratic else LEAST_CURVATURE
            # Hidden entries have no curvature of the majoriser, but a second derivative.
            curvature = np.maximum(shares * second * (curvature > 0), least * curvature)
        slope = self.code_gradient(plus) - self.code_gradient(minus)
        grams = np.empty((len(codes), codes.shape[1], codes.shape[1]))
        for gram, weights in zip(grams, curvature, strict=True):
            np.matmul(self._atoms * weights, self._atoms.T, out=gram)
        return slope, grams


class SparseProducts(_Rows):
    """Sparse rows of which only the stored entries are reconstructed."""

    def __init__(self, X: sp.csr_array, atoms: NDArray, loss: Loss) -> None:
        self._X, self._atoms, self._loss = X, atoms, loss
        self._columns = np.array(atoms.T, order="C")
        self._totals = atoms.sum(axis=1)

    def of(self, rows: NDArray | slice) -> Self:
        """Return the products of some of the rows."""
        # Atoms and their sums are shared: they do not depend on the rows.
        part = copy(self)
        part._X = self._X[rows]
        return part

    def sums(self) -> tuple[NDArray, NDArray]:
        """Return the sum of each sample and of each atom."""
        return np.asarray(self._X.sum(axis=1)).reshape(-1, 1), self._totals[None]

    def project(self, projector: NDArray, codes: NDArray) -> NDArray:
        """Return the samples times a matrix."""
        return np.asarray(self._X @ projector)

    def losses(self, codes: NDArray) -> NDArray:
        """Return the loss of each row."""
        y, slope = self._reconstruct(codes), self._slope_at_zero
        loss: Any = self._loss  # a sum over entries, as all losses with a slope at zero
        # A zero entry costs slope * y, which sums to slope * h (D 1) over a whole row; so stored
        # entries are counted by what they cost more.
        entries = loss.entries(self._X.data.astype(np.float64), y.astype(np.float64))
        rows = np.repeat(np.arange(len(codes)), np.diff(self._X.indptr))
        return np.bincount(rows, entries - slope * y, len(codes)) + slope * (codes @ self._totals)

    def split_entries(self, codes: NDArray) -> tuple[Entries, Entries, sp.csr_array]:
        """Return both parts of the gradient in the reconstruction, and the curvature there."""
        y = self._reconstruct(codes)
        plus, minus = self._loss.split(self._X.data, y)
        curvature = majoriser_curvature(exponents_of(self._loss), 0.0, minus, y)
        return float(plus), self._with(minus), self._with(curvature)

    def code_gradient(self, part: Entries) -> NDArray:
        """Return a part of the gradient in the codes from that in the reconstruction."""
        if isinstance(part, float):
            return part * self._totals[None]
        return part @ self._columns

    def atom_gradient(self, codes: NDArray, part: Entries) -> NDArray:
        """Return such a part of the gradient in the atoms, summed over the rows."""
        if isinstance(part, float):
            return np.outer(codes.sum(axis=0), np.full(self._X.shape[1], part, codes.dtype))
        return np.asarray(part.T @ codes).T

    def split_gradient(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return both parts of the gradient in the codes."""
        plus, minus = self._loss.split(self._X.data, self._reconstruct(codes))
        alike = np.broadcast_to(self.code_gradient(plus), codes.shape)
        return alike, self.code_gradient(self._with(minus))

    def secant(self, codes: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return weighted sums over the rows of absolute gradients and errors, by features."""
        y, slope = self._reconstruct(codes), self._slope_at_zero
        plus, minus = self._loss.split(self._X.data, y)
        # As for losses: zeros have a constant slope, stored entries are counted by the difference.
        pulls = self._with(np.abs(plus - minus) - slope).T @ weights + slope * weights.sum()
        stored = self._with(np.abs(self._X.data - y) - y)
        return pulls, stored.T @ weights + (weights @ codes) @ self._atoms

    def quadratic_model(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the gradient in each code, and the Gram matrix of the atoms under curvature."""
        plus, minus, curvature = self.split_entries(codes)
        grams = np.empty((len(codes), codes.shape[1], codes.shape[1]))
        for i, gram in enumerate(grams):
            stored = slice(curvature.indptr[i], curvature.indptr[i + 1])
            columns = self._columns[curvature.indices[stored]]
            np.matmul((columns * curvature.data[stored, None]).T, columns, out=gram)
        return self.code_gradient(plus) - self.code_gradient(minus), grams

    def multiplicative_rounds(
        self, codes: NDArray, penalty: Penalty, most: int, moved: float
    ) -> NDArray:
        """Return codes after multiplicative updates, until rows move by less than this share."""
        if penalty.couples != "entries":
            return super().multiplicative_rounds(codes, penalty, most, moved)
        from atomstream._kernels.stored import encode

        X, (p, q) = self._X, exponents_of(self._loss)
        ratio = (self._slope_at_zero, float(self._loss.ratio_power or 0.0))
        # A squared penalty is of power 2; the majoriser is raised to it, as in `power_step`.
        exponent = 1 / ((max(p, 2.0) if penalty.l2 else p) - q)
        rows, atoms = (X.indptr, X.indices, X.data), (self._columns, self._totals)
        encode(codes, rows, atoms, ratio, kernel_form(penalty)[:4], exponent, (most, moved))
        return codes

    @property
    def _slope_at_zero(self) -> float:
        return float(self._loss.slope_at_zero or 0.0)

    def _reconstruct(self, codes: NDArray) -> NDArray:
        from atomstream._kernels.stored import reconstruct

        y = np.empty(len(self._X.data), self._atoms.dtype)
        reconstruct(y, codes, self._X.indptr, self._X.indices, self._columns)
        return np.maximum(y, MIN_DIVISOR[y.dtype], out=y)

    def _with(self, data: NDArray) -> sp.csr_array:
        return sp.csr_array((data, self._X.indices, self._X.indptr), self._X.shape)


def _curvature(loss: Loss, X: NDArray, Y: NDArray) -> NDArray:
    """Return the size of the curvature of a loss without a majoriser, as far as it is known."""
    curvature = loss.curvature(X, Y)
    return np.full_like(Y, loss.smoothness or 1.0) if curvature is None else np.abs(curvature)
