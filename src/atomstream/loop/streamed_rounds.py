"""Rounds over rows that are read anew in each of them: nothing is kept of the rows but sums."""

import logging
from copy import copy
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import are_fixed, memory_there
from atomstream.base.saved_fields import array, count, number, one_of, part
from atomstream.coders import Codes
from atomstream.loop.coordinates import (
    FIRST_REACH,
    LONGER,
    MEMORY_SHARE,
    MIN_LEFT,
    ROUGH,
    minimises_divergence,
)
from atomstream.loop.explaining import CodingOptions, measured
from atomstream.loop.online import Algorithm, Progress
from atomstream.loop.settling import ACCURACY, FINE_GAIN, MIN_GAIN, UPDATES
from atomstream.memory.state import State, Usage
from atomstream.problem import Batch, Clock
from atomstream.updates.majorise import _excess, _raise

log = logging.getLogger(__name__)

CODE_SWEEPS = 5  # over the codes of a batch, which have none of an earlier round to begin from
ATOM_SWEEPS = 10  # over the quadratic model of the atoms
LEFT_OF_ENTRY = 0.05  # by a Newton step: the divergence is steeper near zero than its model


class StreamedRounds:
    r"""Rounds over all rows of data that stay on disk.

    As in `atomstream.loop.settling.rounds`, but that codes begin anew in each. `take` codes a batch
    with the atoms as they are and adds up what it measures, and `finish`, once all rows have come,
    improves the atoms. Under the squared loss the memory holds all that this
    needs. Majorisers of other losses take hundreds of rounds; under Kullback-Leibler, where codes
    and atoms are free of penalties, the slope and the curvature of each feature in its entries
    :math:`d_j` of the atoms are therefore summed up,

    .. math:: g_j = \sum_i h_i (1 - x_{ij} / y_{ij}), \quad
              Q_j = \sum_i h_i h_i^\top x_{ij} / y_{ij}^2,

    where r^2 d numbers fit a quarter of the memory of the machine. The atoms take a Newton step for
    each feature, and move on along the last one as long as that lowers the objective.

    Attributes
    ----------
    memory : Memory
        What the rows of the round in flight have added up to.
    usage : Usage
        How much they use each atom.
    mass, objective : float
        Their mass, and their mean objective.
    slopes, curvatures : ndarray of shape (n_components, n_features) and (n_pairs, n_features)
        Means of g and of the upper triangle of Q, where these are summed up.
    lowest : float
        Mean objective of the best atoms that a round has judged.
    best, step : Dictionary
        These atoms, and those that were improved from them, before they moved on.
    reach : float
        How far atoms have moved on, in lengths of their last step.
    n_rounds : int
        Rounds that are complete.
    settled : bool
        Whether the last one gained next to nothing.
    """

    SAVED: ClassVar = (
        *(part("memory", "value"), part("usage", Usage)),
        *(number("mass", at_least=0), number("objective")),
        *(array("slopes", "r d", optional=True), array("curvatures", "p d", optional=True)),
        *(number("lowest"), number("reach", at_least=0), count("n_rounds")),
        *(part("best", "decode", optional=True), part("step", "decode", optional=True)),
        one_of("settled", (True, False)),
    )
    slopes: Any = None
    curvatures: Any = None
    best: Any = None
    step: Any = None
    lowest, reach, n_rounds, settled = np.inf, 0.0, 0, False

    def __init__(self, state: State, algorithm: Algorithm) -> None:
        n_components, n_features = state.dictionary.shape
        owned = getattr(algorithm.updater, "owners", ())  # whose steps are the updater's own
        if minimises_divergence(algorithm) and not (algorithm.missing or owned):
            n_bytes = 8 * (n_components + 1) * n_components * n_features
            if n_bytes <= MEMORY_SHARE * memory_there():
                self.slopes = np.zeros((n_components, n_features))
        self._begin(state, algorithm)

    def _begin(self, state: State, algorithm: Algorithm) -> None:
        """Begin a round."""
        n_components, n_features = state.dictionary.shape
        loss = algorithm.objective.loss
        self.memory = algorithm.statistics.start(n_components, n_features, loss)
        self.usage = Usage(n_components)
        self.mass = self.objective = 0.0
        if self.slopes is not None:
            self.slopes = np.zeros((n_components, n_features))
            n_pairs = n_components * (n_components + 1) // 2
            self.curvatures = np.zeros((n_pairs, n_features))

    def take(self, batch: Batch, state: State, algorithm: Algorithm) -> Progress:
        """Add a batch to the round."""
        rough = self.slopes is not None
        options = CodingOptions(ROUGH if rough else ACCURACY)
        codes, delta, _ = algorithm.explain(batch, state.dictionary, options)
        share = delta.mass / (self.mass + delta.mass)
        if rough:
            codes = self._coded(batch, codes, state, share)
            delta = measured(batch, codes, state.dictionary, algorithm)
        self.memory.absorb(delta, share)
        self.usage.absorb(delta, share)
        state.usage.newest = delta.usage
        self.mass += delta.mass
        self.objective += share * (delta.objective / delta.mass - self.objective)
        return Progress(batch, codes, delta, 0)

    def _coded(self, batch: Batch, codes: Codes, state: State, share: float) -> Codes:
        """Return the codes of a batch entry by entry; slopes and curvatures become those of all."""
        from atomstream._kernels.divergence import sweep

        X, atoms = sp.csr_array(batch.X, dtype=np.float64, copy=True), state.dictionary.atoms()
        X.eliminate_zeros()  # a stored zero has no logarithm
        atoms = np.ascontiguousarray(atoms, np.float64)
        values, fitted = codes.values.astype(np.float64), np.empty(X.nnz)
        stored, moving = (X.indptr, X.indices, X.data), np.zeros((1, len(atoms)), bool)
        for _ in range(CODE_SWEEPS):
            sweep(values, stored, atoms, atoms.sum(axis=1)[None], moving, fitted)
        weighted = values * (batch.row_weights / batch.mass)[:, None]
        ratio = sp.csr_array((X.data / fitted, X.indices, X.indptr), X.shape)
        slopes = weighted.sum(axis=0)[:, None] - (ratio.T @ weighted).T
        first, second = np.triu_indices(len(atoms))
        ratio.data = ratio.data / fitted
        curvatures = (ratio.T @ (weighted[:, first] * values[:, second])).T
        self.slopes = self.slopes + share * (slopes - self.slopes)
        self.curvatures = self.curvatures + share * (curvatures - self.curvatures)
        # The residual is infinite: nothing certifies codes that were found entry by entry.
        return Codes(values.astype(codes.values.dtype), np.full(len(values), np.inf))

    def finish(self, state: State, algorithm: Algorithm, clock: Clock) -> None:
        """Improve the atoms by what all rows add up to, and begin the next round."""
        here, gain = copy(state.dictionary), self.lowest - self.objective
        self.n_rounds += 1
        log.debug("Round %d over all rows: objective %.6g.", self.n_rounds, self.objective)
        if gain < 0:
            # Without a move along the last step there is nothing shorter to try. A copy: steps that
            # follow put other atoms into it.
            self.settled = not self.reach
            state.dictionary = copy(self.step if self.reach else self.best)
            self.reach = 0.0
        else:
            share = MIN_GAIN if algorithm.objective.loss.quadratic else FINE_GAIN
            share = FINE_GAIN if algorithm.updater.creeps else share
            self.settled = bool(gain <= share * abs(self.objective))
            self.lowest, self.best, state.memory = self.objective, here, self.memory
            state.usage.mean = self.usage.mean
            if self.slopes is None:
                for _ in range(UPDATES):
                    algorithm.updater.update(state, algorithm.objective, clock)
            else:
                self._improve(state, algorithm)
        self._begin(state, algorithm)

    def _improve(self, state: State, algorithm: Algorithm) -> None:
        """Take a Newton step, and move on along the way from the last one."""
        given, last = state.dictionary.atoms(), self.step
        still = are_fixed(algorithm.updater.fixed, len(given))
        found = self._newton(given.astype(np.float64), still)
        self._place(found, given, still, state, algorithm)
        self.step = copy(state.dictionary)
        if last is None or self.settled:
            return
        self.reach = min(self.reach * LONGER, 1.0) if self.reach else FIRST_REACH
        found = self.step.atoms().astype(np.float64)
        found = np.maximum(found + self.reach * (found - last.atoms()), MIN_LEFT * found)
        self._place(found, given, still, state, algorithm)

    def _newton(self, atoms: NDArray, still: NDArray) -> NDArray:
        """Return the minimum of the quadratic model, no entry below a share of what it was."""
        n_components, found = len(atoms), atoms.copy()
        model = np.zeros((n_components, n_components, atoms.shape[1]))
        model[np.triu_indices(n_components)] = self.curvatures
        for _ in range(ATOM_SWEEPS):
            for k in np.flatnonzero(~still):
                row = np.concatenate([model[:k, k], model[k, k:]])
                slope = self.slopes[k] + (row * (found - atoms)).sum(axis=0)
                # Without curvature no row has the atom in this feature, and 0 is best.
                step = np.divide(slope, row[k], out=np.full_like(slope, np.inf), where=row[k] > 0)
                found[k] = np.maximum(found[k] - step, LEFT_OF_ENTRY * atoms[k])
        return found

    def _place(
        self, atoms: NDArray, given: NDArray, still: NDArray, state: State, algorithm: Algorithm
    ) -> None:
        """Put atoms in place, scaled into their set; their codes are found anew."""
        _raise(atoms)
        atoms /= _excess(atoms, algorithm.objective.atoms, free=True)[:, None]
        state.dictionary.assign(np.where(still[:, None], given, atoms).astype(given.dtype))
