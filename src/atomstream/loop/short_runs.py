"""Short runs from many starts, where the weights of entries leave many minima to end in.

Weights that differ by orders of magnitude cut the data into parts that hardly know of each other:
single runs end up to a fifth above the best one. Short runs tell most bad starts from good ones.
"""

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.loop.coordinates import Alternation, Factors, settles_by_coordinates
from atomstream.loop.online import Algorithm
from atomstream.losses.majorisers import exponents_of, power_step
from atomstream.memory.by_feature import code_products
from atomstream.memory.column_sums import MIN_ENTRY_SHARE
from atomstream.memory.state import State
from atomstream.penalties.base import kernel_form
from atomstream.penalties.interval import Nonnegative
from atomstream.problem import Batch, joined
from atomstream.problem.products import DenseProducts
from atomstream.updates.block_coordinate import _size_is_free

N_STARTS = 20
MAX_PRODUCTS = 1 << 23  # n d r^2: rows are left out where a round would need more
MIN_ROWS_PER_ATOM = 10  # with fewer rows the best of them is no good start for all


def choose_start(
    blocks: Sequence[Batch], state: State, algorithm: Algorithm, rng: np.random.Generator
) -> None:
    """Put the atoms of the best short run in place; one of the runs begins with those at hand."""
    objective = algorithm.objective
    codes, atoms = objective.codes.shape, objective.atoms.shape
    simple = codes is not None and atoms is not None and objective.codes.couples == "entries"
    # The kernels take entries of codes one by one; random starts would leave no atom fixed.
    if not simple or algorithm.updater.fixed or not algorithm.coder.uses_all_atoms:
        return
    batch = _some_rows(blocks, *state.dictionary.shape)
    if batch is None:
        return
    run: type[_Descent] = _Descent if objective.loss.quadratic else _Multiplicative
    if settles_by_coordinates(blocks, algorithm):
        run = _ByCoordinates
    given = state.dictionary.atoms().astype(np.float64)
    # The atoms at hand run too: the choice is never worse than they are after a short run.
    starts = [given, *(_random(batch, given, algorithm, rng) for _ in range(N_STARTS - 1))]
    runs = [run(batch, start, algorithm) for start in starts]
    for n_rounds, n_kept in run.heats:
        for each in runs:
            each.go_on(n_rounds)
        runs = sorted(runs, key=lambda each: each.value())[:n_kept]
    found = runs[0].atoms
    shape = objective.atoms.shape
    if shape.total:
        found = objective.atoms.normalize(found)
    elif shape.radius < np.inf:
        size = np.linalg.norm(found, axis=1, keepdims=True) / shape.radius
        found = found / np.where(size > 0, size, 1.0)
    state.dictionary.assign(found)


def _some_rows(blocks: Sequence[Batch], n_components: int, n_features: int) -> Batch | None:
    """Return rows, evenly spread, that a round does not take long for; None where too few."""
    n_rows = sum(len(block.X) for block in blocks)
    most = MAX_PRODUCTS // (n_features * n_components**2)
    if min(most, n_rows) < MIN_ROWS_PER_ATOM * n_components:
        return None
    # Evenly spread: the first rows alone may be those of one time or place.
    every = slice(None, None, -(-n_rows // most))
    some = joined([block.of(every) for block in blocks])
    mask = None if some.mask is None else some.mask.astype(np.float64)
    return Batch(some.X.astype(np.float64), some.row_weights / some.row_weights.max(), mask)


def _random(batch: Batch, like: NDArray, algorithm: Algorithm, rng: np.random.Generator) -> NDArray:
    """Return random atoms of the size that the features of a batch have."""
    seen = 1.0 if batch.mask is None else batch.mask > 0
    size = np.sqrt((seen * batch.X**2).mean(axis=0))
    noise = rng.standard_normal(like.shape)
    if algorithm.objective.atoms.nonnegative:
        noise = rng.random(like.shape)
    return noise * size


class _Descent:
    """A run under the squared loss: exact steps of one entry of all codes or atoms at a time.

    Attributes
    ----------
    heats : tuple of (int, int)
        Rounds that runs take, and how many of them, the best ones, are kept then. The last rounds
        are a tenth of the work of those with exact codes that follow.
    """

    heats: ClassVar[tuple[tuple[int, int], ...]] = ((20, 5), (60, 1), (300, 1))

    def __init__(self, batch: Batch, atoms: NDArray, algorithm: Algorithm) -> None:
        objective = algorithm.objective
        self.objective, self.batch, self.atoms = objective, batch, atoms.copy()
        self.X = batch.X
        self.shares = np.ones(self.X.shape) if batch.mask is None else batch.mask
        self.weights: NDArray = batch.row_weights
        # The memory holds means over samples, a run sums: the damping grows with these.
        self.damping = getattr(algorithm.updater, "damping", 0.0) * self.weights.sum()
        free = _size_is_free(objective.codes, objective.atoms, at_most=False)
        self.free = free and not self.damping
        self._begin()

    def _begin(self) -> None:
        self.codes = np.zeros((len(self.X), len(self.atoms)))
        if self.objective.codes.nonnegative:
            self.codes += 1e-3

    def go_on(self, n_rounds: int) -> None:
        """Take so many rounds over codes and atoms."""
        from atomstream._kernels.feature_sweeps import sweep_by_feature

        of_codes, of_atoms = kernel_form(self.objective.codes), kernel_form(self.objective.atoms)
        if self.free:
            # A simplex of any total is the nonnegative entries.
            low = 0.0 if of_atoms[5] else of_atoms[2]
            of_atoms = (0.0, 0.0, low, np.inf, np.inf, 0.0)
        every = np.arange(len(self.atoms))
        seen, entries = self.shares * self.X, self.weights[:, None] * self.shares
        for _ in range(n_rounds):
            codes, atoms = np.ascontiguousarray(self.codes.T), self.atoms
            grams = code_products(np.ascontiguousarray(atoms.T), self.shares.T)
            sweep_by_feature(codes, grams, atoms @ seen.T, of_codes, 0.0, every, 2)
            self.codes = np.ascontiguousarray(codes.T)
            grams = code_products(self.codes, entries)
            cross = (self.codes * self.weights[:, None]).T @ seen
            # The penalty on atoms is one on their mean, and these are sums.
            sweep_by_feature(atoms, grams, cross, of_atoms, self.damping, every, 2)

    def value(self) -> float:
        """Return the objective, summed over the rows."""
        errors = 0.5 * (self.shares * (self.X - self.codes @ self.atoms) ** 2).sum(axis=1)
        return float((errors + self.objective.codes.elastic_net(self.codes)) @ self.weights)


class _Multiplicative(_Descent):
    """A run of multiplicative updates, under any loss with a power majoriser."""

    heats = ((40, 5), (200, 2), (300, 1))

    def _begin(self) -> None:
        self.atoms = self.objective.atoms.normalize(self.atoms)
        mean = MIN_ENTRY_SHARE * self.atoms.mean(axis=1, keepdims=True)
        # Multiplicative steps leave zeros at zero.
        self.atoms = np.maximum(self.atoms, mean)
        each = self.X.sum(axis=1, keepdims=True) / max(self.atoms.sum(), np.finfo(float).tiny)
        self.codes = np.repeat(each, len(self.atoms), axis=1)

    def _products(self) -> DenseProducts:
        return DenseProducts(self.X, self.batch.mask, self.atoms, self.objective.loss)

    def go_on(self, n_rounds: int) -> None:
        """Take so many rounds over codes and atoms."""
        exponents = exponents_of(self.objective.loss)
        penalty = Nonnegative() if self.free else self.objective.atoms
        for _ in range(n_rounds):
            plus, minus = self._products().split_gradient(self.codes)
            self.codes = power_step(self.codes, plus, minus, exponents, self.objective.codes)
            # The atoms step with the new codes, so that neither half raises the objective.
            block, weighted = self._products(), self.codes * self.weights[:, None]
            up, down, _ = block.split_entries(self.codes)
            plus, minus = (block.atom_gradient(weighted, part) for part in (up, down))
            self.atoms = power_step(self.atoms, plus, minus, exponents, penalty)

    def value(self) -> float:
        """Return the objective, summed over the rows."""
        net = self.objective.codes.elastic_net(self.codes)
        return float((self._products().losses(self.codes) + net) @ self.weights)


class _ByCoordinates(_Multiplicative):
    """A run under Kullback-Leibler: exact steps of one entry of all codes or atoms at a time."""

    heats = ((10, 5), (40, 2), (100, 1))

    def _begin(self) -> None:
        super()._begin()
        still, rows = np.zeros(len(self.atoms), bool), self.weights > 0
        shares = None if self.batch.mask is None else self.shares[rows]
        descent = Alternation(self.X[rows], self.weights[rows], still, shares)
        self._sweeps = descent.descend(Factors(self.codes[rows], self.atoms.T.copy()))

    def go_on(self, n_rounds: int) -> None:
        """Take so many sweeps over codes and atoms."""
        *_, (found, self._value) = islice(self._sweeps, n_rounds)
        self.atoms = found.loads.T.copy()

    def value(self) -> float:
        """Return the objective, summed over the rows."""
        return self._value
