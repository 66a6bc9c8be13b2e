"""Replicates of a model at several ranks that learn from the same batches, in one process."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from atomstream.core.batch import Batch
from atomstream.core.parallel import one_blas_thread
from atomstream.dictionaries.rows import Rows
from atomstream.estimators._bootstrap import RowDraws
from atomstream.estimators._hidden import hidden_errors, mean_errors

__all__ = ["Ensemble"]

MOST_HELD = 2000  # rows kept to judge by


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
        A fair sample of at most 2,000 rows, (n_held, n_features).
    places : ndarray of int of shape (n_held,)
    totals, counts : ndarray of shape (n_parts, n_features)
        Sums of the observed entries of each part of the rows, and how many there were.
    """

    SAVED: ClassVar = ("ranks", "draws", "learners", "n_rows", "held", "places", "totals", "counts")

    def __init__(self, template: Any, ranks: Sequence[int], n_replicates: int, draws: RowDraws):
        self.ranks, self.draws = list(ranks), draws
        self.learners = [
            [_replicate(template, rank, draws.seed, number) for number in range(n_replicates)]
            for rank in self.ranks
        ]
        self.n_rows, self.held, self.places = 0, None, np.zeros(0, np.int64)
        self.totals = self.counts = np.zeros((draws.n_parts, 1))

    @property
    def n_replicates(self) -> int:
        """Number of replicates of each rank."""
        return len(self.learners[0])

    def stepped(
        self,
        X: Any,
        places: NDArray,
        horizons: NDArray,
        n_threads: int = 1,
    ) -> Ensemble:
        """Return an ensemble that has also learned from a batch; this one stays as it is.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_features)
            Checked.
        places : ndarray of int of shape (n_rows,)
            Of the rows in their pass.
        horizons : ndarray of shape (n_replicates,)
            Mass of a pass for each replicate; inf in the first.
        n_threads : int, default=1
        """
        weights = self.draws.weights(self.n_replicates, places)

        def learn(number: int, learner: Any) -> Any:
            """Return a copy of a learner that has made a step."""
            learner = copy(learner)
            learner.fit_stream([(X, weights[number])], horizon=horizons[number])
            return learner

        jobs = [job for replicates in self.learners for job in enumerate(replicates)]
        with one_blas_thread:
            if n_threads == 1:
                learned = [learn(*job) for job in jobs]
            else:
                with ThreadPoolExecutor(n_threads) as pool:
                    learned = list(pool.map(lambda job: learn(*job), jobs))
        stepped = copy(self)
        n = self.n_replicates
        stepped.learners = [learned[i : i + n] for i in range(0, len(learned), n)]
        stepped.n_rows += X.shape[0]
        stepped._keep(X, places)
        return stepped

    def atoms(self, index: int) -> NDArray:
        """Return the atoms of all replicates of a rank, (n_learned, n_components, n_features)."""
        return np.array([_atoms(learner) for learner in self._learned(index)])

    def importances(self, index: int) -> NDArray:
        """Return the share of each atom in codes times lengths, (n_learned, n_components)."""
        shares = [
            learner.importance_ * np.linalg.norm(_atoms(learner), axis=1)
            for learner in self._learned(index)
        ]
        return np.array([share / max(share.sum(), np.finfo(float).tiny) for share in shares])

    def _learned(self, index: int) -> list[Any]:
        # A replicate whose rows have not come yet has no atoms.
        found = [learner for learner in self.learners[index] if learner.__sklearn_is_fitted__()]
        if len(found) < 2:
            raise ValueError("Too few rows have come to compare replicates; learn from more.")
        return found

    # -- errors on hidden entries

    def judged(self) -> NDArray:
        """Return which of the rows held are judged by some replicate."""
        return np.flatnonzero(self.draws.part(self.places) < self.n_replicates)

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
        for number, learner in enumerate(self.learners[index]):
            rows = np.flatnonzero(parts == number % self.draws.n_parts)
            if not len(rows) or not learner.__sklearn_is_fitted__():
                continue
            batch = learner._observe(self.held[rows])
            dictionary = Rows(learner.state_.dictionary.atoms())
            found = hidden_errors(batch, dictionary, learner.method_, columns)
            sums[rows] += found
            times[rows] += 1
            by_replicate[number] = found.sum() / max(_n_observed(batch).sum(), 1)
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
        others = self.counts.sum(axis=0) - self.counts
        means = (self.totals.sum(axis=0) - self.totals) / np.maximum(others, 1)
        learner = self._learned(0)[0]
        batch = learner._observe(self.held[judged])
        errors = mean_errors(batch, means[parts], learner.method_)
        return errors, _n_observed(batch)

    def _keep(self, X: Any, places: NDArray) -> None:
        """Count the rows of a batch, and keep those that belong to the sample."""
        dense = X.toarray() if sp.issparse(X) else X
        seen = ~np.isnan(dense)
        parts = np.arange(self.draws.n_parts)[:, None] == self.draws.part(places)
        self.totals = self.totals + parts @ np.where(seen, dense, 0).astype(np.float64)
        self.counts = self.counts + parts @ seen.astype(np.float64)
        new = np.flatnonzero(~np.isin(places, self.places))
        if not len(new):
            return
        rows = X[new]
        if self.held is not None:
            rows = sp.vstack([self.held, rows], format="csr") if sp.issparse(X) else np.concatenate(
                [self.held, rows]
            )
        where = np.concatenate([self.places, places[new]])
        order = np.sort(np.argsort(self.draws.priority(where), kind="stable")[:MOST_HELD])
        self.held, self.places = sp.csr_array(rows[order]) if sp.issparse(X) else rows[order], where[order]


def _replicate(template: Any, rank: int, seed: int, number: int) -> Any:
    """Return a model that has learned nothing, with a seed of its own."""
    own = int(np.random.default_rng([seed, rank, number]).integers(2**31))
    return clone(template).set_params(n_components=rank, random_state=own)


def _atoms(learner: Any) -> NDArray:
    atoms: NDArray = learner.state_.dictionary.atoms()
    return atoms


def _n_observed(batch: Batch) -> NDArray:
    n_rows, n_features = batch.X.shape
    counts: NDArray = np.full(n_rows, n_features) if batch.mask is None else batch.mask.sum(axis=1)
    return counts
