"""Codes under the squared loss, with a certificate of how optimal they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from atomstream.base import Matrix, over_rows
from atomstream.base.parameters import whole
from atomstream.coders.base import Coder, Codes
from atomstream.coders.certificates import DualBound
from atomstream.dictionaries.base import Dictionary
from atomstream.penalties.base import Penalty, kernel_form
from atomstream.problem import Accuracy, Batch, Needs, Objective

_Form = tuple[float, float, float, float, float, float]  # of a penalty, as `kernel_form` gives it
_Limits = tuple[int, int, float]  # sweeps, rounds, relative rounding of the products
_Samples = tuple[NDArray, NDArray]  # products with the atoms, squared lengths
Solver = Callable[[NDArray | None, NDArray, NDArray], tuple[NDArray, NDArray]]
MakeSolver = Callable[[NDArray], Solver]  # from the Gram matrix of the atoms
# The same for rows with a Gram matrix each, which come first.
SolveEach = Callable[[NDArray, NDArray | None, NDArray, NDArray], tuple[NDArray, NDArray]]
CACHE = 2**20  # entries converted at a time
SINGLE = 1e-6  # gaps down to this are reached from float32 products in sparse rows
LOOSE = 0.04  # violations down to this are reached faster by sweeps than by solving for entries
# Atoms that are freed one by one: blocks would gain little, and take long to compile.
MAX_FREED_SINGLY = 64
SPARSE = 0.1  # of the length of a row, under atoms of length one: l1 from which codes are sparse
MAX_SPARSE, STEPS = 128, 16  # atoms up to which sparse rows are coded so first, in so many steps
SOME = 512  # atoms, up to which single entries are freed in rows with many free ones, too
RAISED = 3e-5  # l1 that stalled rows begin with, over the largest that leaves a code
PIVOTS = 20  # rounds of block pivoting, of which most rows need five, before single entries
ALL_PIVOTS = 100  # rounds where there is no such way


@dataclass(frozen=True)
class ActiveSet(Coder):
    r"""Codes to the last digit: coordinate descent finds the support, linear systems its entries.

    Entries are set to their best value one by one, the one that gains most first, which says which
    entries are free to move. Then all free entries of a row are solved for at once, those that come
    out infeasible change sides, and so on (block principal pivoting, eight rows side by side). With
    up to 64 atoms (128 where l1 is a tenth of a row's length or more), and in rows where that does
    not end, single entries become free by the steepest edge. What is left after that goes to an
    active set: Newton steps, projected on the set, with a Cholesky factor that gains and loses a
    row as entries come and go; should a projected step go uphill it is cut at the first bound
    (Lawson and Hanson), so there is an end. For every set of intervals (nonnegative, signed,
    boxes), and by an active set of its own for the simplex, where mass moves from entry to entry
    and steps keep the sum; a violation is there the root of the duality gap. Computes in float64;
    wide float32 rows with a large l1 begin with float32 products, and have the same certificate.

    Parameters
    ----------
    n_sweeps : int, default=200
        Sweeps of plain coordinate descent, where a violation of 0.04 or more is good enough; rows
        that need more are left to the active set.
    max_rounds : int, default=1000
        Rounds of picks and Newton steps that a row may take, and single entries that may become
        free; of pivots at most 100.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Lyu, Needell, Balzano, Algorithm 2, solved exactly; Kim, Park (2011), for the pivots; Lawson,
    Hanson (1974), chapter 23; Goldfarb, Reid (1977), for the steepest edge.
    docs/algorithms/sparse-coding.md.
    """

    n_sweeps: int = 200
    max_rounds: int = 1000
    tol: Any = None
    handles_mask: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True
    needs: ClassVar[Needs] = {"loss": ("quadratic",), "codes": ("polyhedral",)}
    BOUNDS: ClassVar = {"n_sweeps": whole(0), "max_rounds": whole()}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those after ``max_rounds``, searched from ``start``."""
        penalty, loose = objective.codes, accuracy.violation >= LOOSE
        # Exact codes need exact products: where atoms depend on each other, rounded ones have no
        # common solution.
        dtype = batch.X.dtype if loose else np.dtype(np.float64)
        limits = (self.n_sweeps if loose else 0, self.max_rounds, float(np.finfo(dtype).eps))
        form = kernel_form(penalty)
        kind = _on_simplex if form[5] else _on_intervals
        make = partial(kind, penalty, form, accuracy, limits)
        # The kernel of the simplex takes one Gram matrix for all of its rows.
        each = None if form[5] else partial(_on_own_intervals, penalty, form, accuracy, limits)
        first = None
        if each and not loose and accuracy.gap >= SINGLE and batch.X.dtype == np.float32:
            from atomstream.coders import rounded

            if rounded.pays(batch, dictionary, form[0]):
                sparse = _is_sparse(form[0], dictionary.gram(), batch.energy)
                first = rounded.coder(dictionary, penalty, form, accuracy.gap), sparse
        return code_by_blocks(make, batch, dictionary, dtype, start, each, first)


def code_by_blocks(
    make: MakeSolver,
    batch: Batch,
    dictionary: Dictionary,
    dtype: DTypeLike,
    start: NDArray | None,
    solve_each: SolveEach | None = None,
    first: tuple[Callable[..., Any], NDArray] | None = None,
) -> Codes:
    """Solve for blocks of rows on threads, with products computed in ``dtype``.

    Rows with missing entries have a problem of their own for each pattern of what was observed: the
    products of the atoms over those features alone. Where most rows have a pattern of their own,
    ``solve_each`` takes the products of all of them at once. ``first`` is a `rounded.coder`, and
    the complete rows that it is to try before.
    """
    codes = np.empty((batch.X.shape[0], len(dictionary.gram())), batch.X.dtype)
    residual, samples = np.empty(len(codes)), batch.seen
    whole = make(dictionary.gram()) if batch.mask is None else None

    def code(block: Any) -> None:
        """Write the codes of a block of rows; of any rows if they are complete."""
        linear = _products(dictionary, samples[block], dtype)
        begin = None if start is None else start[block].astype(np.float64)
        energy = batch.energy[block]
        if whole is not None:
            codes[block], residual[block] = whole(begin, linear, energy)
            return
        mask: Any = batch.mask[block]  # type: ignore[index]
        # Weights of entries make a pattern of nearly every row, so none is looked for.
        patterns = list(_patterns(mask)) if solve_each is None or mask.dtype == bool else []
        if solve_each is not None and not 0 < 2 * len(patterns) <= len(mask):
            atoms = dictionary.atoms().astype(np.float64, copy=False)
            solved = _each_alone(solve_each, atoms, mask, begin, linear, energy)
            codes[block], residual[block] = solved
            return
        for observed, rows in patterns:
            solve = make(dictionary.gram_on(observed))
            begun = None if begin is None else begin[rows]
            if not observed.any():
                begun = np.zeros_like(linear[rows])  # any code is as good: the one nearest to zero
            codes[block.start + rows], residual[block.start + rows] = solve(
                begun, linear[rows], energy[rows]
            )

    def code_sparse(block: slice) -> None:
        """Write codes that rounded products are enough for, then those of the other rows."""
        code_first, sparse = first  # type: ignore[misc]
        residual[block] = np.inf
        if sparse[block].any():
            rows = _some(block, sparse[block])
            begin = None if start is None else start[rows].astype(np.float64)
            found = code_first(whole, begin, samples[rows], batch.energy[rows])
            codes[rows], residual[rows] = found
        left = residual[block] == np.inf
        if left.any():
            code(_some(block, left))

    work = codes.shape[1] * sum(dictionary.shape)
    over_rows(code if first is None else code_sparse, len(codes), work)
    return Codes(codes, residual)


def _is_sparse(l1: float, gram: NDArray, energy: NDArray) -> NDArray:
    """Return whether l1 is so large beside a row that its code has few entries, mostly."""
    return (l1 > 0) & (l1 >= SPARSE * np.sqrt(gram.diagonal().max() * energy))


def _some(block: slice, chosen: NDArray) -> Any:
    """Return the chosen rows of a block; as a slice where they are all, so nothing is copied."""
    return block if chosen.all() else block.start + np.flatnonzero(chosen)


def _products(dictionary: Dictionary, X: Matrix, dtype: DTypeLike) -> NDArray:
    """Return products of samples and atoms, computed in ``dtype``, in float64."""
    n = X.shape[0]
    size = n if sp.issparse(X) or X.dtype == dtype else max(CACHE // X.shape[1], 1)
    parts = [
        dictionary.correlate(X[start : start + size].astype(dtype, copy=False))
        for start in range(0, n, size)
    ]
    return (parts[0] if len(parts) == 1 else np.concatenate(parts)).astype(np.float64, copy=False)


def _patterns(mask: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield each pattern of observed features, (n_features,), and the rows that have it."""
    # Eight features to a byte: rows are compared by a few bytes.
    keys = np.packbits(mask, axis=1) if mask.dtype == bool else mask
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(which))[:-1])
    for row, rows in zip(first, groups, strict=True):
        yield mask[row], rows


def _each_alone(
    solve_each: SolveEach,
    atoms: NDArray,
    mask: NDArray,
    start: NDArray | None,
    linear: NDArray,
    energy: NDArray,
) -> tuple[NDArray, NDArray]:
    """Solve for rows with Gram matrices of their own, as many at a time as these are small."""
    if start is not None:
        # Without any observed entry every code is as good, and the one nearest to zero is taken.
        start = np.where(mask.any(axis=1, keepdims=True), start, 0.0)
    size = max(1, CACHE // (len(atoms) * max(atoms.shape)))
    found = []
    for first in range(0, len(linear), size):
        rows = slice(first, first + size)
        grams = (atoms * mask[rows, None].astype(np.float64)) @ atoms.T
        begin = None if start is None else start[rows]
        found.append(solve_each(grams, begin, linear[rows], energy[rows]))
    codes, residual = zip(*found, strict=True)
    return np.concatenate(codes), np.concatenate(residual)


def _on_own_intervals(
    penalty: Penalty,
    form: _Form,
    accuracy: Accuracy,
    limits: _Limits,
    grams: NDArray,
    start: NDArray | None,
    linear: NDArray,
    energy: NDArray,
) -> tuple[NDArray, NDArray]:
    """Return codes and gaps of rows with a Gram matrix each, as `_on_intervals` finds them."""
    from atomstream._kernels import own_gram

    nearest = min(max(0.0, form[2]), form[3])
    codes = np.full_like(linear, nearest) if start is None else penalty.prox(start, 0.0)
    swept, samples = np.zeros(len(codes), bool), (linear, energy)
    n_sweeps, max_rounds, rounding = limits
    if n_sweeps:
        tail = ((grams, form[:4]), accuracy.violation, (n_sweeps, rounding))
        own_gram.by_sweeps(codes, swept, samples, *tail)
    residual = np.where(swept, 0.0, np.inf)
    if not swept.all():
        problem = (grams, form[:4], DualBound.of_each(grams, penalty))
        # Steepest edges free entries that rest at zero, not at another bound of a box.
        if not n_sweeps and all(bound == 0 or np.isinf(bound) for bound in form[2:4]):
            edges = (problem, accuracy.gap, (max_rounds, rounding, 0.0))
            own_gram.by_edges(codes, residual, samples, *edges)
        if not (residual < np.inf).all():
            own_gram.by_faces(codes, residual, samples, problem, tuple(accuracy), limits[1:])
    residual[swept] = np.inf
    return codes, residual


def _on_intervals(
    penalty: Penalty, form: _Form, accuracy: Accuracy, limits: _Limits, gram: NDArray
) -> Solver:
    gram = np.ascontiguousarray(gram)  # kernels are compiled once more for arrays in another order
    n_sweeps, max_rounds, rounding = limits
    nearest = min(max(0.0, form[2]), form[3])  # to zero

    @cache
    def problem() -> tuple[Any, ...]:
        """Return what certifies codes, too."""
        return gram, form[:4], tuple(DualBound.of(gram, penalty))

    def solve(start: NDArray | None, linear: NDArray, energy: NDArray) -> tuple[NDArray, NDArray]:
        """Return codes and gaps of a block of rows."""
        codes = np.full_like(linear, nearest) if start is None else penalty.prox(start, 0.0)
        residual, samples = np.full(len(codes), np.inf), (linear, energy)
        swept = np.zeros(len(codes), bool)
        if n_sweeps:
            from atomstream._kernels import descent

            loose = ((gram, form[:4]), accuracy.violation, (n_sweeps, rounding))
            descent.encode(codes, swept, samples, *loose)
        else:
            _begin(codes, residual, samples, problem(), accuracy, (max_rounds, rounding))
        left = np.flatnonzero(~(swept | (residual < np.inf)))
        if len(left):
            from atomstream._kernels.active_set import encode

            tail = (problem(), tuple(accuracy), limits[1:])
            _code_some(encode, left, codes, residual, samples, *tail)
        return codes, residual

    return solve


def _begin(
    codes: NDArray,
    residual: NDArray,
    samples: _Samples,
    problem: tuple[Any, ...],
    accuracy: Accuracy,
    limits: tuple[int, float],
) -> None:
    """Code exactly in place; gaps of rows that are left are not finite."""
    # Which row goes where: codes of up to MAX_FREED_SINGLY atoms, and sparse ones of up to
    # MAX_SPARSE, free single entries (`steepest`); the others, or those in a box, are pivoted in
    # blocks (`pivoting`), and rows in which that does not end free single entries after all. Codes
    # in a box, and rows with many free ones of more than SOME atoms, do not: they go on to the
    # caller, as does all that is left, and end in `active_set`. Loose codes are swept (`descent`),
    # those on a simplex have `simplex` alone.
    max_rounds, rounding = limits
    one_by_one = all(bound == 0 or np.isinf(bound) for bound in problem[1][2:])
    r, left = codes.shape[1], np.arange(len(codes))

    def free_singly(rows: NDArray, most: int, raised: float) -> None:
        from atomstream._kernels.steepest import encode

        tail = (problem, accuracy.gap, (min(most, max_rounds), rounding, raised))
        _code_some(encode, rows, codes, residual, samples, *tail)

    if one_by_one and MAX_FREED_SINGLY < r <= MAX_SPARSE:
        sparse = np.flatnonzero(_is_sparse(problem[1][0], problem[0], samples[1]))
        if len(sparse):
            free_singly(sparse, STEPS, 0.0)
            left = np.flatnonzero(~(residual < np.inf))
    if len(left) and (r > MAX_FREED_SINGLY or not one_by_one):
        from atomstream._kernels import pivoting

        rounds = min(max_rounds, PIVOTS if one_by_one else ALL_PIVOTS)
        tail = (problem, accuracy.gap, (rounds, rounding))
        _code_some(pivoting.encode, left, codes, residual, samples, *tail)
        wide = np.isnan(residual) & (r > SOME)
        left = np.flatnonzero(~(residual < np.inf) & ~wide)
    if one_by_one and len(left):
        hard = r > MAX_FREED_SINGLY and problem[1][0] > 0
        raised = RAISED * float(np.sqrt(problem[0].diagonal().max())) if hard else 0.0
        free_singly(left, max_rounds, raised)


def _code_some(
    encode: Callable[..., None],
    rows: NDArray,
    codes: NDArray,
    residual: NDArray,
    samples: _Samples,
    *tail: Any,
) -> None:
    """Code some of the rows in place."""
    if len(rows) == len(codes):
        encode(codes, residual, samples, *tail)
        return
    rest, gaps = codes[rows], residual[rows]
    encode(rest, gaps, (samples[0][rows], samples[1][rows]), *tail)
    codes[rows], residual[rows] = rest, gaps


def _on_simplex(
    penalty: Penalty, form: _Form, accuracy: Accuracy, limits: _Limits, gram: NDArray
) -> Solver:
    from atomstream._kernels.simplex import encode

    l1, l2, *_, total = form
    problem = (gram, (l1, l2, total))

    def solve(start: NDArray | None, linear: NDArray, energy: NDArray) -> tuple[NDArray, NDArray]:
        """Return codes and gaps of a block of rows."""
        if start is None:  # the best vertex
            # At vertex k the objective is total (total (G_kk + l2) / 2 - c_k).
            start = np.zeros_like(linear)
            best = (total / 2 * (gram.diagonal() + l2) - linear).argmin(axis=1)
            start[np.arange(len(start)), best] = total
        codes, residual = penalty.prox(start, 0.0), np.empty(len(start))
        encode(codes, residual, (linear, energy), problem, tuple(accuracy), limits[1:])
        return codes, residual

    return solve
