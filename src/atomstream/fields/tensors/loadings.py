r"""Dictionaries of rank-one atoms :math:`U^{(1)}_{:r} \otimes \dots \otimes U^{(n)}_{:r}`.

Samples are tensors of shape (I_1, ..., I_n), flattened to rows. The modes are cut into a head and a
tail of about the same size; a product with all atoms is then one matrix product with the Khatri-Rao
product of the tail and a small second step with that of the head, so that neither the atoms nor the
Khatri-Rao product of all modes are ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix
from atomstream.base.saved_fields import array, each
from atomstream.dictionaries.base import same_in_any_company
from atomstream.dictionaries.low_rank import LowRank, Sums
from atomstream.penalties import NonnegativeBall, Penalty, UnitBall

POWER_ITERATIONS = 20  # of power iterations towards the nearest rank-one tensor


@dataclass(frozen=True)
class ModeSets:
    """Sets of the columns of each loading matrix; rank-one atoms lie in no convex set.

    Attributes
    ----------
    sets : tuple of Penalty
        One per mode, on loadings as rows.
    """

    sets: tuple[Penalty, ...]
    l1: float = 0.0
    l2: float = 0.0

    @property
    def rowwise(self) -> bool:
        """Whether every atom can be changed alone."""
        return all(part.rowwise for part in self.sets)

    @property
    def nonnegative(self) -> bool:
        """Whether no loading is negative."""
        return all(part.nonnegative for part in self.sets)

    def value(self, rows: NDArray) -> NDArray:
        """Return zeros: sets only."""
        return np.zeros(len(rows))

    def normalize(self, rows: NDArray) -> NDArray:
        """Return rows that atoms can be made from: of length one, nonnegative if loadings are."""
        if len(self.sets) == 1:
            return self.sets[0].normalize(rows)
        return (NonnegativeBall() if self.nonnegative else UnitBall()).normalize(rows)


class Loadings:
    """A dictionary of rank-one atoms.

    Parameters
    ----------
    matrices : iterable of ndarray of shape (I_k, n_components)
        The loading matrices U^(k), one per mode, of one type; `assign` puts others in their place.
    """

    SAVED = (each(array("_matrices", "n r"), at_least=1),)
    _known: Mapping[str, NDArray] = MappingProxyType({})  # what was computed for these matrices

    def __init__(self, matrices: Iterable[NDArray]) -> None:
        self._matrices = tuple(np.ascontiguousarray(matrix) for matrix in matrices)

    @property
    def matrices(self) -> tuple[NDArray, ...]:
        """The loading matrices, read-only."""
        views = tuple(matrix.view() for matrix in self._matrices)
        for view in views:
            view.flags.writeable = False
        return views

    @property
    def _modes(self) -> tuple[int, ...]:
        """Sizes of the modes."""
        return tuple(len(matrix) for matrix in self._matrices)

    def check_saved(self, d: int, **sizes: int) -> None:
        """Refuse matrices of several types, or of which the sizes multiply to something else."""
        n_types = len({matrix.dtype for matrix in self._matrices})
        if not isinstance(self._matrices, tuple) or n_types > 1 or self.shape[1] != d:
            raise ValueError(f"loadings of sizes {self._modes} in {n_types} types, d = {d}")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of atoms and of their entries."""
        return self._matrices[0].shape[1], math.prod(self._modes)

    @property
    def dtype(self) -> np.dtype:
        """Type of the loadings."""
        return self._matrices[0].dtype

    def atoms(self) -> NDArray:
        """Return the atoms as rows, formed anew with every call."""
        return np.ascontiguousarray(khatri_rao(self._matrices).T)

    def gram(self) -> NDArray:
        """Return the inner products of the atoms, entrywise products of those of their loadings."""
        return self._once(
            # The Gram matrix of Khatri-Rao products is the entrywise product of those of the
            # factors.
            "gram",
            lambda: reduce(np.multiply, (_gram(matrix) for matrix in self._matrices)),
        )

    def gram_on(self, observed: NDArray) -> NDArray:
        """Return the inner products of the atoms over the observed entries, in float64."""
        if observed.all():
            return self.gram()
        head, tail = (half.astype(np.float64, copy=False) for half in self._halves())
        r = self.shape[0]
        # Products of pairs of columns of the tail are summed over what is observed, those of the
        # head then weigh the sums: no atom is formed.
        pairs = (tail[:, :, None] * tail[:, None, :]).reshape(len(tail), r * r)
        sums = (observed.reshape(len(head), len(tail)) @ pairs).reshape(len(head), r, r)
        return np.einsum("hr,hrs,hs->rs", head, sums, head, optimize=True)

    def correlate(self, X: Matrix) -> NDArray:
        """Return the inner products of samples and atoms, (n_samples, n_components)."""
        head, tail = self._halves()
        if sp.issparse(X):
            return _correlate_stored(X, head, tail)
        tail = tail.astype(X.dtype, copy=False)
        parts = same_in_any_company(X.reshape(X.shape[0] * len(head), len(tail)), tail)
        if len(head) == 1:
            return parts * head.astype(X.dtype, copy=False)
        parts = parts.reshape(X.shape[0], len(head), -1)
        return np.einsum("nhr,hr->nr", parts, head.astype(X.dtype, copy=False))

    def decode(self, codes: Matrix) -> NDArray:
        """Return the reconstructions, (n_samples, n_features)."""
        head, tail = self._halves()
        codes = codes if isinstance(codes, np.ndarray) else codes.toarray()
        parts = (codes[:, None, :] * head).reshape(len(codes) * len(head), -1)
        return (parts @ tail.T).reshape(len(codes), -1)

    def overlap(self, cross: Sums) -> float:
        """Return the sum of the inner products of every row of ``cross`` with its atom."""
        head, _ = self._halves()
        return float(np.vdot(self._without_tail(cross), head.T.astype(np.float64)))

    def replace(self, index: NDArray, rows: NDArray, sets: ModeSets) -> None:
        """Put the rank-one tensors nearest to some rows in the places of atoms."""
        matrices = [matrix.copy() for matrix in self._matrices]
        for j, row in zip(index, rows, strict=True):
            for matrix, column in zip(
                matrices, rank_one(row.reshape(self._modes), sets), strict=True
            ):
                matrix[:, j] = column
        for matrix, part in zip(matrices, sets.sets, strict=True):
            if not part.rowwise:  # new columns take what norm the others leave
                others = np.delete(matrix, index, axis=1)
                matrix[:, index] = part.beside(others).prox(matrix[:, index], 0.0)
        self.assign(matrices)

    @classmethod
    def average(cls, parts: Sequence[Loadings], shares: NDArray) -> Loadings:
        """Return the average of each mode by these shares, added in their order."""
        dtype, modes = parts[0].dtype, zip(*(part.matrices for part in parts), strict=True)
        weighed = [[w * U.astype(float) for w, U in zip(shares, m, strict=True)] for m in modes]
        return cls(np.asarray(sum(mode), dtype=dtype) for mode in weighed)

    def assign(self, matrices: Sequence[NDArray]) -> None:
        """Replace the loading matrices; their type stays."""
        kept = tuple(np.ascontiguousarray(matrix, dtype=self.dtype) for matrix in matrices)
        vars(self).update(_matrices=kept, _known={})

    @property
    def _cut(self) -> int:
        """Number of modes of the head, chosen for the smallest sum of both sizes."""
        # Two halves of similar size: the arrays between are as small as they can be.
        sizes = self._modes
        return min(
            range(len(sizes)), key=lambda cut: math.prod(sizes[:cut]) + math.prod(sizes[cut:])
        )

    def _halves(self) -> tuple[NDArray, NDArray]:
        cut, r = self._cut, self.shape[0]
        head = self._once(
            "head", lambda: khatri_rao(self._matrices[:cut]) if cut else np.ones((1, r), self.dtype)
        )
        return head, self._once("tail", lambda: khatri_rao(self._matrices[cut:]))

    def _once(self, name: str, make: Callable[[], NDArray]) -> NDArray:
        if name not in self._known:
            self._known = {**self._known, name: make()}
        return self._known[name]

    def _without_tail(self, cross: Sums) -> NDArray:
        """Return ``cross`` contracted over the tail, (n_components, size of the head)."""
        head, tail = (half.astype(np.float64, copy=False) for half in self._halves())
        if isinstance(cross, LowRank):
            if sp.issparse(cross.right):
                return _contract_stored(cross, len(head), (tail, len(tail)), to_head=True)
            parts = cross.right.reshape(-1, len(tail)) @ tail
            return np.einsum("qhr,qr->rh", parts.reshape(-1, len(head), self.shape[0]), cross.left)
        return np.matmul(cross.reshape(-1, len(head), len(tail)), tail.T[:, :, None])[:, :, 0]

    def _without_head(self, cross: Sums) -> NDArray:
        """Return ``cross`` contracted over the head, (n_components, size of the tail)."""
        head, tail = (half.astype(np.float64, copy=False) for half in self._halves())
        if isinstance(cross, LowRank):
            if sp.issparse(cross.right):
                return _contract_stored(cross, len(tail), (head, len(tail)), to_head=False)
            parts = cross.right.reshape(-1, len(head), len(tail)).swapaxes(1, 2) @ head
            return np.einsum("qtr,qr->rt", parts, cross.left)
        if len(head) == 1:
            return cross * head.T
        return np.matmul(head.T[:, None, :], cross.reshape(-1, len(head), len(tail)))[:, 0]


def contract(loadings: Loadings, cross: Sums, mode: int) -> NDArray:
    """Return ``cross`` times the loadings of all modes but one, (n_components, I_mode).

    Row r is B_r, the r-th row of ``cross`` as a tensor, contracted with column r of every other
    matrix.
    """
    for group, part in halves_contracted(loadings, cross):
        if mode in group:
            matrices = [loadings.matrices[k].astype(np.float64) for k in group]
            return contract_group(part, matrices, mode - group[0])
    raise ValueError(f"mode must lie below {len(loadings._modes)}, got {mode}.")


def mode_problem(
    loadings: Loadings, gram: NDArray, cross: Sums, mode: int
) -> tuple[NDArray, NDArray]:
    r"""Return the matrices :math:`\bar A` and :math:`\bar B^\top` of the problem of one mode alone.

    References
    ----------
    Strohmeier (2023), Algorithm 8 and eqs. (4.123) to (4.126).
    """
    others = (_gram(matrix) for k, matrix in enumerate(loadings.matrices) if k != mode)
    return reduce(np.multiply, others, gram), contract(loadings, cross, mode)


def halves_contracted(loadings: Loadings, cross: Sums) -> Iterator[tuple[range, NDArray]]:
    """Yield the modes of the head with ``cross`` contracted over the tail, then vice versa.

    Two passes over ``cross`` serve all modes. The second is made when it is asked for: with the
    loadings of that moment.
    """
    cut = loadings._cut
    if cut:
        yield range(cut), loadings._without_tail(cross)
    yield range(cut, len(loadings._modes)), loadings._without_head(cross)


def khatri_rao(matrices: Sequence[NDArray]) -> NDArray:
    """Return the columnwise Kronecker product of matrices (I_k, r), (product of I_k, r)."""
    return reduce(
        lambda left, right: (left[:, None, :] * right).reshape(-1, left.shape[1]), matrices
    )


def contract_group(part: NDArray, matrices: Sequence[NDArray], mode: int) -> NDArray:
    """Return tensors, one per atom, contracted with its loadings in all modes but one."""
    sizes = [len(matrix) for matrix in matrices]
    before, after = math.prod(sizes[:mode]), math.prod(sizes[mode + 1 :])
    part = part.reshape(len(part), before, sizes[mode], after)
    if after > 1 or mode + 1 < len(sizes):
        part = np.einsum("rbia,ar->rbi", part, khatri_rao(matrices[mode + 1 :]))[..., None]
    if before > 1 or mode:
        return np.einsum("rbi,br->ri", part[..., 0], khatri_rao(matrices[:mode]))
    return part[:, 0, :, 0]


def rank_one(tensor: NDArray, sets: ModeSets) -> list[NDArray]:
    """Return loadings, one vector per mode, of the rank-one tensor nearest to a tensor.

    Power iterations begin with the fibres through the tensor's largest entry, which belongs to one
    of its parts.
    """
    tensor = tensor.astype(np.float64, copy=False)
    if tensor.ndim == 1:
        return [sets.sets[0].prox(tensor[None], 0.0)[0]]
    # Power iterations from the fibres through the largest entry: a start that is not orthogonal to
    # the answer.
    signs = np.maximum(tensor, 0) if sets.nonnegative else np.abs(tensor)
    peak = np.unravel_index(int(signs.argmax()), tensor.shape)
    places: list[Any] = [(*peak[:k], slice(None), *peak[k + 1 :]) for k in range(tensor.ndim)]
    vectors = [tensor[place] for place in places]
    vectors = [part.normalize(v[None])[0] for part, v in zip(sets.sets, vectors, strict=True)]
    for _ in range(POWER_ITERATIONS):
        for k, part in enumerate(sets.sets):
            vector = contract_group(tensor[None], [v[:, None] for v in vectors], k)
            vectors[k] = part.normalize(vector)[0]
    return vectors


def _gram(matrix: NDArray) -> NDArray:
    matrix = matrix.astype(np.float64, copy=False)
    return matrix.T @ matrix


def _correlate_stored(X: sp.csr_array, head: NDArray, tail: NDArray) -> NDArray:
    """Return the products of sparse rows with the atoms, from the stored entries."""
    from atomstream._kernels.stored import correlate

    found = np.zeros((X.shape[0], head.shape[1]), np.result_type(X.dtype, head.dtype))
    correlate(found, X.indptr, X.indices, X.data, head, tail)
    return found


def _contract_stored(
    cross: LowRank, size: int, loadings: tuple[NDArray, int], *, to_head: bool
) -> NDArray:
    """Return a product with sparse rows contracted over half of the modes, from its entries."""
    from atomstream._kernels.stored import contract

    rows: Any = cross.right
    codes = np.ascontiguousarray(cross.left, dtype=np.float64)
    found = np.zeros((size, codes.shape[1]))
    contract(found, rows.indptr, rows.indices, rows.data, codes, loadings, to_head)
    return found.T
