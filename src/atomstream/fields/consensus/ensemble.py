"""Replicates that learn side by side, and their errors on hidden entries."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import copy
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from atomstream.base import RowDraws, dense, most_threads, share_out, stacked
from atomstream.base.saved_fields import array, count, each, part
from atomstream.dictionaries.rows import Rows
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._calls import Transaction
from atomstream.fields.consensus.hidden_entries import hidden_errors, hidden_parts, mean_errors
from atomstream.fields.consensus.structure import Verdict, judge
from atomstream.loop import Algorithm
from atomstream.problem import Batch

MAX_HELD_ROWS = 1000  # rows kept to judge by
VERDICT = 2**32  # a stream of numbers of its own, so that nothing that is learned changes
BOOTSTRAP_ROUNDS = 3  # over all rows, after the passes of the online loop, of a bootstrap
# Share of the objective: a round of others that gains less is the last one. What moves on gains as
# much in a round as others in two.
SETTLED, SETTLED_FAST = 1e-5, 2e-5
STARTS_ROUNDS = 200  # of others at most: one that still creeps then has long had its atoms


class Ensemble:
    """Replicates at several ranks, and the few rows that they are judged by.

    Each replicate is a model of its own: it has its own seed, and sees every batch with weights of
    its own. Replicate number r of all ranks has the same rows.

    Attributes
    ----------
    ranks : list of int
    draws : RowDraws
    learners : list of list of estimator
        For each rank its replicates.
    n_rows : int
        Rows that have come, passes included.
    held : array or None
        A fair sample of at most 1,000 rows, (n_held, n_features).
    places : ndarray of int of shape (n_held,)
    totals, counts : ndarray of shape (n_parts, n_features)
        Sums of the observed entries of each part of the rows, and how many there were.
    """

    SAVED: ClassVar = (
        *(each(count("ranks", 1)), part("draws", RowDraws)),
        each(each(part("learners", OnlineDictionary))),
        *(count("n_rows"), array("held", "n d", optional=True), array("places", "m", "i")),
        *(array("totals", "p k"), array("counts", "p k")),
    )

    def __init__(self, template: Any, ranks: Sequence[int], n_replicates: int, draws: RowDraws):
        self.ranks, self.draws = list(ranks), draws
        self.learners = [
            [_replicate(template, rank, draws.seed, number) for number in range(n_replicates)]
            for rank in self.ranks
        ]
        self.n_rows, self.places = 0, np.zeros(0, np.int64)
        self.held: Any = None
        self.totals = self.counts = np.zeros((draws.n_parts, 1))

    @property
    def n_replicates(self) -> int:
        """Number of replicates of each rank."""
        return len(self.learners[0])

    @property
    def algorithm(self) -> Algorithm:
        """What the replicates minimise, and how."""
        return self._learned(0)[0].algorithm_

    @property
    def batch_objective(self) -> float:
        """Mean objective of the newest batch over the replicates of the largest rank."""
        found = [learner.batch_objective_ for learner in self.learners[-1]]
        return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")

    def stepped(self, X: Any, places: NDArray, horizons: NDArray, *, front: Any) -> Ensemble:
        """Return the ensemble after a batch; where a replicate raises, all are as before.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_features)
            Checked.
        places : ndarray of int of shape (n_rows,)
            Of the rows in their pass.
        horizons : ndarray of shape (n_replicates,)
            Mass of a pass for each replicate; inf in the first.
        front : estimator
            Makes a batch of the rows, once for all.
        """
        weights = self.draws.weights(self.n_replicates, places)
        batch = front._to_batch(X)

        @lru_cache(
            maxsize=most_threads()
        )  # replicates that have the same rows come one after the other
        def drawn(number: int) -> Batch:
            """Return what a replicate has of the batch."""
            return _drawn(batch, weights[number])

        def learn(number: int, learner: Any) -> None:
            """Let a replicate make a step as ``fit_stream`` does, on rows that were checked."""
            if "_learner" not in vars(learner):
                # What checking has found out is the same for all, so it is done once.
                vars(learner).update({name: getattr(front, name) for name in front.KNOWN})
                learner._begin()
            # Without the public door: rows were checked once, for all replicates.
            learner._learner.clock.horizon = horizons[number]
            learner._learn([drawn(self.draws.first_alike(number))])

        self._all(learn)
        # What was counted before stays as it was, should anything later raise.
        stepped = copy(self)
        stepped.n_rows += X.shape[0]
        if np.isinf(horizons).all():  # later passes bring the same rows
            stepped._keep(X, places)
        return stepped

    def settle(
        self,
        X: Any,
        *,
        front: Any,
        deadline: float = np.inf,
        to_the_end: bool = False,
    ) -> None:
        """Let every replicate alternate over all of its rows: a bootstrap a few times.

        These rounds take out what the first codes left in the memory. More of them would leave only
        what chance makes of a bootstrap, and intervals that are too narrow. Replicates that are
        none go on until they have settled, for they are to differ in their starts alone.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_features)
            The rows of a pass, in order.
        front : estimator
        deadline : float, default=inf
            Seconds of the monotonic clock at which rounds end.
        to_the_end : bool, default=False
            Whether bootstraps, too, go on until they have settled.
        """
        weights = self.draws.weights(self.n_replicates, np.arange(X.shape[0]))
        limits: dict[str, Any] = {}  # those of a single model
        if not to_the_end:
            fast = front.algorithm_.objective.loss.quadratic
            gain = SETTLED_FAST if fast else SETTLED
            starts = {"most": STARTS_ROUNDS, "gain": gain, "fast": fast}
            limits = {"most": BOOTSTRAP_ROUNDS} if self.draws.bootstrap else starts

        @lru_cache(maxsize=most_threads())
        def blocks(number: int) -> list[Batch]:
            """Return the rows of a replicate."""
            rows = np.flatnonzero(weights[number])
            return [front._to_batch(X[rows], weights[number, rows])] if len(rows) else []

        def settle(number: int, learner: Any) -> None:
            """Alternate over the rows of a replicate."""
            own = blocks(self.draws.first_alike(number))
            learner._settle(own, lambda _: time.monotonic() >= deadline, **limits)

        self._all(settle)

    def _all(self, task: Callable[[int, Any], None]) -> None:
        """Give every replicate, with its number, to a task; if one raises, all are as before."""
        jobs = [job for replicates in self.learners for job in enumerate(replicates)]
        jobs.sort(key=lambda job: self.draws.first_alike(job[0]))
        with ExitStack() as stack:
            for _, learner in jobs:
                stack.enter_context(Transaction(learner))
            share_out([partial(task, *job) for job in jobs])

    def of_rank(self, index: int) -> Ensemble:
        """Return the replicates of one rank as an ensemble of their own."""
        part = copy(self)
        part.ranks, part.learners = [self.ranks[index]], [self.learners[index]]
        return part

    @classmethod
    def joined(cls, parts: Sequence[Ensemble]) -> Ensemble:
        """Return ensembles of different ranks that have learned from the same rows as one."""
        whole = copy(parts[0])
        whole.ranks = [rank for part in parts for rank in part.ranks]
        whole.learners = [replicates for part in parts for replicates in part.learners]
        return whole

    def atoms(self, index: int) -> NDArray:
        """Return the atoms of all replicates of a rank, (n_learned, n_components, n_features)."""
        return np.array([each.state_.dictionary.atoms() for each in self._learned(index)])

    def importances(self, index: int) -> NDArray:
        """Return the importance of the atoms of all replicates, (n_learned, n_components)."""
        return np.array([learner.importance_ for learner in self._learned(index)])

    def voting(self, index: int) -> NDArray:
        """Return which replicates of a rank say what its atoms are, bool of shape (n_learned,).

        Starts on the same rows end in minima of which the worse may be reached more often. Of the
        replicates that have the same rows the half vote that fit them better. Bootstraps have rows
        of their own, by which they cannot be compared, and all vote.
        """
        learners = self._learned(index)
        numbers = [n for n, each in enumerate(self.learners[index]) if each.__sklearn_is_fitted__()]
        alike = np.array([self.draws.first_alike(number) for number in numbers])
        ends = np.array([learner.batch_objective_ for learner in learners])
        vote = np.zeros(len(learners), bool)
        for rows in (np.flatnonzero(alike == first) for first in np.unique(alike)):
            vote[rows[np.argsort(ends[rows], kind="stable")[: -(-len(rows) // 2)]]] = True
        return vote

    def _learned(self, index: int) -> list[Any]:
        # A replicate whose rows have not come yet has no atoms.
        found = [learner for learner in self.learners[index] if learner.__sklearn_is_fitted__()]
        if len(found) < 2:
            raise ValueError(
                f"Too few rows have come to compare replicates, n_samples = {len(self.places)}; "
                "learn from more."
            )
        return found

    # -- errors on hidden entries

    def judged(self) -> NDArray:
        """Return which of the rows held are judged by some replicate that has learned."""
        numbers = [i for i, each in enumerate(self.learners[0]) if each.__sklearn_is_fitted__()]
        left_out = np.array(numbers, np.int64) % self.draws.n_parts
        return np.flatnonzero(np.isin(self.draws.part(self.places), left_out))

    def errors(self, index: int) -> tuple[NDArray, NDArray]:
        """Return the errors of a rank on the rows that are judged.

        Returns
        -------
        by_row : ndarray of shape (n_judged,)
            Sum over the entries of a row, mean over the replicates that have not learned from it.
        by_replicate : ndarray of shape (n_replicates,)
            Mean over entries; NaN where no row of the replicate was held.
        """
        judged, parts = self.judged(), self.draws.part(self.places)
        sums, times = np.zeros(len(self.places)), np.zeros(len(self.places))
        by_replicate = np.full(self.n_replicates, np.nan)
        columns = self.draws.columns(self.held.shape[1])
        learners = self.learners[index]
        for left_out in range(self.draws.n_parts):
            rows = np.flatnonzero(parts == left_out)
            judges = [
                number
                # Those that have not learned from this part: number r leaves out part r mod
                # n_parts.
                for number in range(left_out, len(learners), self.draws.n_parts)
                if learners[number].__sklearn_is_fitted__()
            ]
            if not len(rows) or not judges:
                continue
            batch = learners[judges[0]]._to_batch(self.held[rows])
            hidden, n_entries = hidden_parts(batch, columns), max(_n_observed(batch).sum(), 1)
            for number in judges:
                dictionary = Rows(learners[number].state_.dictionary.atoms())
                found = hidden_errors(hidden, dictionary, learners[number].algorithm_)
                sums[rows] += found
                times[rows] += 1
                by_replicate[number] = found.sum() / n_entries
        return (sums / np.maximum(times, 1))[judged], by_replicate

    def baseline(self) -> tuple[NDArray, NDArray]:
        """Return the errors of the means of all other parts on the rows that are judged.

        Returns
        -------
        errors, n_observed : ndarray of shape (n_judged,)
            Sums over the entries of a row, and how many entries were observed.
        """
        judged = self.judged()
        parts = self.draws.part(self.places[judged])
        # A mean may not know the rows that it is judged on.
        others = self.counts.sum(axis=0) - self.counts
        means = (self.totals.sum(axis=0) - self.totals) / np.maximum(others, 1)
        learner = self._learned(0)[0]
        batch = learner._to_batch(self.held[judged])
        errors = mean_errors(batch, means[parts], learner.algorithm_)
        return errors, _n_observed(batch)

    def verdict(self) -> Verdict:
        """Return whether the rows held have structure."""
        blocks = self.places // self.draws.block_size if self.draws.block_size > 1 else None
        return judge(self.held, blocks, [self.draws.seed, VERDICT])

    def check_saved(self, **sizes: int) -> None:
        """Refuse replicates or rows that are not as many as belong together."""
        n_held = 0 if self.held is None else self.held.shape[0]
        if len({len(row) for row in self.learners}) != 1 or len(self.ranks) != len(self.learners):
            raise ValueError("replicates that do not fit together")
        if len(self.places) != n_held:
            raise ValueError(f"{len(self.places)} places of {n_held} rows to judge by")

    def _keep(self, X: Any, places: NDArray) -> None:
        """Count the rows of a batch, and keep those that belong to the sample."""
        parts = np.arange(self.draws.n_parts)[:, None] == self.draws.part(places)
        counts, known = np.outer(parts.sum(axis=1), np.ones(X.shape[1])), X
        # One sum tells whether anything is missing.
        if np.isnan((X.data if sp.issparse(X) else X).sum()):
            whole = dense(X)
            seen = ~np.isnan(whole)
            counts, known = parts @ seen.astype(np.float64), np.where(seen, whole, 0)
        self.totals = self.totals + (known.T @ parts.T.astype(X.dtype)).T
        self.counts = self.counts + counts
        where = np.concatenate([self.places, places])
        # The smallest priorities so far: a fair sample of the stream, whatever its length.
        chosen = np.sort(np.argsort(self.draws.priority(where), kind="stable")[:MAX_HELD_ROWS])
        if chosen[-1] >= len(self.places):  # most batches of a long stream add none
            rows = X if self.held is None else stacked([self.held, X])
            self.held, self.places = rows[chosen], where[chosen]


def _replicate(template: Any, rank: int, seed: int, number: int) -> Any:
    """Return a model that has learned nothing, with a seed of its own."""
    # By rank and number, so that a replicate is the same whichever ranks are compared beside it.
    own = int(np.random.default_rng([seed, rank, number]).integers(2**31))
    return clone(template).set_params(n_components=rank, random_state=own)


def _drawn(batch: Batch, weights: NDArray) -> Batch:
    """Return the rows that a replicate has, with their weights.

    Two in five have weight 0; to copy the others costs less than to code all.
    """
    rows = np.flatnonzero(weights)
    mask = None if batch.mask is None else batch.mask[rows]
    drawn = Batch(batch.X[rows], weights[rows], mask)
    # Known from the whole batch, so not computed again for each replicate.
    vars(drawn)["energy"] = batch.energy[rows]
    return drawn


def _n_observed(batch: Batch) -> NDArray:
    n_rows, n_features = batch.X.shape
    return np.full(n_rows, n_features) if batch.mask is None else batch.mask.sum(axis=1)
