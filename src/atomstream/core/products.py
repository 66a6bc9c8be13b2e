"""A block of samples seen through a dictionary under a loss: the products that divergences ask for, dense or stored.

A loss that is no function of products has to meet every entry of the reconstruction. `view` says
which entries those are: all of them, or the stored ones of sparse rows where the loss asks zeros
for sums only.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.core.batch import Batch
from atomstream.losses import Loss
from atomstream.losses.majorisers import bend, power_step
from atomstream.penalties.base import Penalty

__all__ = ["Dense", "Stored", "losses", "view"]

LEAST_BEND = 0.1
ROWS = 1024  # that are dense at a time
LEAST = {
    np.dtype(np.float32): 1e-12,
    np.dtype(np.float64): 1e-100,
}  # of a reconstruction that is divided by


def view(batch: Batch, rows: slice, atoms: NDArray, loss: Loss) -> Dense | Stored:
    """Return some rows of a batch under a loss, in the type of ``atoms``.

    Sparse rows become dense, block by block, where the loss needs the reconstruction of their
    zeros.
    """
    X = batch.X[rows]
    if not sp.issparse(X):
        return Dense(
            X.astype(atoms.dtype, copy=False),
            None if batch.mask is None else batch.mask[rows],
            atoms,
            loss,
        )
    if loss.ratio_power is None:
        return Dense(X.toarray().astype(atoms.dtype, copy=False), None, atoms, loss)
    return Stored(sp.csr_array(X, dtype=atoms.dtype), atoms, loss)


def losses(batch: Batch, codes: NDArray, atoms: NDArray, loss: Loss) -> NDArray:
    """Return the loss of each sample of a batch, a block of rows at a time; the reconstruction is kept above zero."""
    values = np.empty(len(codes))
    for start in range(0, len(codes), ROWS):
        rows = slice(start, start + ROWS)
        values[rows] = view(batch, rows, atoms, loss).losses(codes[rows])
    return values


class _View:
    """What both kinds share."""

    _loss: Any

    def rounds(self, codes: NDArray, penalty: Penalty, most: int, moved: float) -> NDArray:
        """Return codes after multiplicative updates: until a row moves by less than this share of itself."""
        left, seen, still = np.arange(len(codes)), self, np.ones(len(codes), bool)
        for _ in range(most):
            before = codes[left]
            now = power_step(before, *seen.parts(before), self._loss.exponents, penalty)
            now[~still] = before[~still]
            codes[left] = now
            still &= np.abs(now - before).sum(axis=1) > moved * now.sum(axis=1)
            if not still.any():
                break
            if 2 * still.sum() < len(
                left
            ):  # before that, looking at fewer rows is not worth the copies
                left = left[still]
                seen, still = self.of(left), np.ones(len(left), bool)
        return codes

    @abstractmethod
    def of(self, rows: NDArray) -> Any:
        """Return the same view of some of the rows."""

    @abstractmethod
    def parts(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the two parts of the gradient with respect to the codes."""


class Dense(_View):
    """Rows whose reconstruction is formed as a whole; missing entries cost nothing and ask for nothing."""

    def __init__(self, X: NDArray, mask: NDArray | None, atoms: NDArray, loss: Loss) -> None:
        self._X, self._mask, self._atoms, self._loss = X, mask, atoms, loss
        nonnegative = loss.exponents is not None or loss.reconstruction == "positive"
        self._least = LEAST[atoms.dtype] if nonnegative else None

    @property
    def masked(self) -> bool:
        """Whether entries are missing."""
        return self._mask is not None

    def of(self, rows: NDArray) -> Dense:
        """Return the same view of some of the rows."""
        return Dense(
            self._X[rows], None if self._mask is None else self._mask[rows], self._atoms, self._loss
        )

    def sums(self) -> tuple[NDArray, NDArray]:
        """Return the sum of the observed entries of each sample and of each atom over them."""
        if self._mask is None:
            return self._X.sum(axis=1, keepdims=True), self._atoms.sum(axis=1)[None]
        return self._X.sum(axis=1, keepdims=True), self._mask @ self._atoms.T

    def project(self, projector: NDArray, codes: NDArray) -> NDArray:
        """Return the product of the samples with a matrix, completed where they are missing from these codes."""
        if self._mask is None:
            return self._X @ projector
        return np.where(self._mask, self._X, codes @ self._atoms) @ projector

    def meet(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the samples and their reconstructions, equal where entries are missing."""
        Y = codes @ self._atoms
        if self._least is not None:
            np.maximum(Y, self._least, out=Y)
        return self._X if self._mask is None else np.where(self._mask, self._X, Y), Y

    def losses(self, codes: NDArray) -> NDArray:
        """Return the loss of each row."""
        return self._loss.value(*self.meet(codes))

    def split(self, codes: NDArray) -> tuple[Any, Any, NDArray]:
        """Return the two parts of the gradient and the bend of the majoriser, by entries of the reconstruction."""
        X, Y = self.meet(codes)
        if self._loss.exponents is None:
            slope = self._loss.gradient(X, Y)
            plus, minus, bent = (
                np.maximum(slope, 0),
                np.maximum(-slope, 0),
                _curvature(self._loss, X, Y),
            )
        else:
            plus, minus = self._loss.split(X, Y)
            bent = bend(self._loss.exponents, plus, minus, Y)
        if self._mask is not None:
            plus, minus, bent = plus * self._mask, minus * self._mask, bent * self._mask
        return plus, minus, bent

    def pull(self, part: Any) -> NDArray:
        """Return a part of the gradient with respect to the codes."""
        return (
            part @ self._atoms.T
            if isinstance(part, np.ndarray)
            else part * self._atoms.sum(axis=1)[None]
        )

    def secant(self, codes: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return the weighted sums over the rows of absolute gradients and of absolute errors, for each feature."""
        X, Y = self.meet(codes)
        slope = self._loss.gradient(X, Y)
        if self._mask is not None:
            slope = slope * self._mask
        return weights @ np.abs(slope), weights @ np.abs(X - Y)

    def curvature(self, bent: NDArray) -> NDArray:
        """Return the trace of the Gram matrix of the atoms under each row's bend."""
        return bent @ (self._atoms**2).sum(axis=0)

    def push(self, codes: NDArray, part: Any) -> NDArray:
        """Return a part of the gradient with respect to the atoms, summed over the rows."""
        return (
            codes.T @ part
            if isinstance(part, np.ndarray)
            else np.outer(codes.sum(axis=0), self._flat(part))
        )

    def _flat(self, number: float) -> NDArray:
        return np.full(self._atoms.shape[1], number, self._atoms.dtype)

    def parts(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the two parts of the gradient with respect to the codes."""
        plus, minus = self._loss.split(*self.meet(codes))
        if self._mask is not None:
            plus, minus = plus * self._mask, minus * self._mask
        return self.pull(plus), self.pull(minus)

    def quadratic(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the gradient with respect to each code and the Gram matrix of the atoms under each row's curvature.

        That is the second derivative of the loss, but at least a tenth of the majoriser's bend, or
        the bend itself.
        """
        plus, minus, bent = self.split(codes)
        if hasattr(self._loss, "curvature"):
            bent = np.maximum(
                self._loss.curvature(*self.meet(codes)) * (bent > 0), LEAST_BEND * bent
            )
        slope = self.pull(plus) - self.pull(minus)
        grams = np.empty((len(codes), codes.shape[1], codes.shape[1]))
        for gram, weights in zip(grams, bent, strict=True):
            np.matmul(self._atoms * weights, self._atoms.T, out=gram)
        return slope, grams


class Stored(_View):
    """Sparse rows of which only the stored entries are reconstructed; all others ask for one number."""

    def __init__(self, X: Any, atoms: NDArray, loss: Loss) -> None:
        self._X, self._atoms, self._loss = X, atoms, loss
        self._columns = np.ascontiguousarray(atoms.T)
        self._totals = atoms.sum(axis=1)

    def of(self, rows: NDArray) -> Stored:
        """Return the same view of some of the rows."""
        return Stored(self._X[rows], self._atoms, self._loss)

    def sums(self) -> tuple[NDArray, NDArray]:
        """Return the sum of each sample and of each atom."""
        return np.asarray(self._X.sum(axis=1)).reshape(-1, 1), self._totals[None]

    def project(self, projector: NDArray, codes: NDArray) -> NDArray:
        """Return the product of the samples with a matrix."""
        return np.asarray(self._X @ projector)

    def losses(self, codes: NDArray) -> NDArray:
        """Return the loss of each row."""
        y, slope = self._reconstruct(codes), self._loss.slope_at_zero
        entries = self._loss.entries(self._X.data.astype(np.float64), y.astype(np.float64))
        rows = np.repeat(np.arange(len(codes)), np.diff(self._X.indptr))
        return np.bincount(rows, entries - slope * y, len(codes)) + slope * (codes @ self._totals)

    def split(self, codes: NDArray) -> tuple[float, Any, Any]:
        """Return the two parts of the gradient and the bend of the majoriser, by entries of the reconstruction."""
        y = self._reconstruct(codes)
        plus, minus = self._loss.split(self._X.data, y)
        return float(plus), self._with(minus), self._with(bend(self._loss.exponents, 0.0, minus, y))

    def pull(self, part: Any) -> NDArray:
        """Return a part of the gradient with respect to the codes."""
        return part @ self._columns if sp.issparse(part) else part * self._totals[None]

    def secant(self, codes: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Return the weighted sums over the rows of absolute gradients and of absolute errors, for each feature."""
        y, slope = self._reconstruct(codes), self._loss.slope_at_zero
        plus, minus = self._loss.split(self._X.data, y)
        pulls = self._with(np.abs(plus - minus) - slope).T @ weights + slope * weights.sum()
        errors = (
            self._with(np.abs(self._X.data - y) - y).T @ weights + (weights @ codes) @ self._atoms
        )
        return pulls, errors

    def curvature(self, bent: Any) -> NDArray:
        """Return the trace of the Gram matrix of the atoms under each row's bend."""
        return bent @ (self._atoms**2).sum(axis=0)

    def push(self, codes: NDArray, part: Any) -> NDArray:
        """Return a part of the gradient with respect to the atoms, summed over the rows."""
        if sp.issparse(part):
            return np.asarray(part.T @ codes).T
        return np.outer(codes.sum(axis=0), np.full(self._X.shape[1], part, codes.dtype))

    def rounds(self, codes: NDArray, penalty: Penalty, most: int, moved: float) -> NDArray:
        """Return codes after multiplicative updates: until a row moves by less than this share of itself."""
        if not penalty.entrywise:
            return super().rounds(codes, penalty, most, moved)
        from atomstream._kernels.stored import encode

        X, (p, q) = self._X, self._loss.exponents
        ratio = (float(self._loss.slope_at_zero), float(self._loss.ratio_power))
        net = (float(penalty.l1), float(penalty.l2), *(float(side) for side in penalty.shape[:2]))  # type: ignore[index]
        exponent = 1 / ((max(p, 2.0) if penalty.l2 else p) - q)
        products = (self._columns, self._totals)
        encode(codes, X.indptr, X.indices, X.data, products, ratio, net, exponent, (most, moved))
        return codes

    def parts(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the two parts of the gradient with respect to the codes."""
        plus, minus = self._loss.split(self._X.data, self._reconstruct(codes))
        return np.broadcast_to(self.pull(plus), codes.shape), self.pull(self._with(minus))

    def quadratic(self, codes: NDArray) -> tuple[NDArray, NDArray]:
        """Return the gradient with respect to each code and the Gram matrix of the atoms under each row's bend."""
        plus, minus, bent = self.split(codes)
        grams = np.empty((len(codes), codes.shape[1], codes.shape[1]))
        for i, gram in enumerate(grams):
            stored = slice(bent.indptr[i], bent.indptr[i + 1])
            columns = self._columns[bent.indices[stored]]
            np.matmul((columns * bent.data[stored, None]).T, columns, out=gram)
        return self.pull(plus) - self.pull(minus), grams

    def _reconstruct(self, codes: NDArray) -> NDArray:
        from atomstream._kernels.stored import reconstruct

        y = np.empty(len(self._X.data), self._atoms.dtype)
        reconstruct(y, codes, self._X.indptr, self._X.indices, self._columns)
        return np.maximum(y, LEAST[y.dtype], out=y)

    def _with(self, data: NDArray) -> Any:
        return sp.csr_array((data, self._X.indices, self._X.indptr), self._X.shape)


def _curvature(loss: Any, X: NDArray, Y: NDArray) -> NDArray:
    """Return how much a loss without a power majoriser bends, as far as it says."""
    if hasattr(loss, "curvature"):
        return np.abs(loss.curvature(X, Y))
    return np.full_like(Y, loss.smoothness or 1.0)
