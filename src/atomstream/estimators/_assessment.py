"""How good a model is on samples: the public face of objective, memory and diagnostics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base.matrices import Samples
from atomstream.estimators._coding import Coding
from atomstream.estimators._validation import check_observed, check_weights
from atomstream.problem.batch import Batch
from atomstream.watch.diagnostics import SampleReport, stationarity


class Assessment(Coding):
    """Figures of a fitted model; none of them changes it."""

    def _assessed(self, X: Samples, sample_weight: ArrayLike | None = None) -> Batch:
        """Return samples of which at least one counts as a batch."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        weights = check_weights(sample_weight, X)
        check_observed(X, weights, missing=self.missing)
        return self._to_batch(X, weights)

    def score(self, X: Samples, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the mean loss per sample at optimal codes, without penalties.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        batch = self._assessed(X, sample_weight)
        return -_mean(self._losses(batch), batch)

    def losses(self, X: Samples) -> NDArray:
        """Return the loss of each sample at its optimal code, without penalties, (n_samples,).

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        """
        return self._losses(self._assessed(X))

    def _losses(self, batch: Batch) -> NDArray:
        return self.algorithm_.objective.losses(
            batch, self._encode(batch).values, self.state_.dictionary
        )

    def objective(self, X: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean objective per sample at optimal codes, penalties on the codes included.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        """
        batch = self._assessed(X, sample_weight)
        codes = self._encode(batch).values
        values = self.algorithm_.objective.values(batch, codes, self.state_.dictionary)
        return _mean(values, batch)

    def surrogate(self) -> float:
        """Return what the dictionary update minimises.

        That is the weighted mean objective of past samples at the codes they got, plus the damping
        term and the penalty on the atoms (eqs. 17 and 26 of Lyu, Needell and Balzano, halved).
        """
        check_is_fitted(self)
        return self.algorithm_.updater.value(self.state_, self.algorithm_.objective)

    def surrogate_gap(self, X: Samples) -> float:
        """Return the surrogate minus the objective on samples of the stream.

        Damping and the penalty on the atoms do not count. The gap tends to 0 from above along a
        stream when ``X`` is all of it, and to a sampling error otherwise.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.state_.memory.value(self.state_.dictionary) - self.objective(X)

    def stationarity(self, X: Samples) -> float:
        """Return how far the dictionary is from a critical point of the mean loss on samples.

        It is 0 at such points.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        """
        algorithm = self.algorithm_
        delta = self._measured(X)
        return stationarity(
            delta, self.state_.dictionary, algorithm.objective, algorithm.updater.fixed
        )

    def _measured(self, X: Samples) -> Any:
        """Return the sums that the updater learns from, over samples at their optimal codes."""
        batch, algorithm, dictionary = self._assessed(X), self.algorithm_, self.state_.dictionary
        return algorithm.statistics.measure(
            batch, self._encode(batch), dictionary, algorithm.objective
        )

    def inspect_sample(self, x: Samples) -> SampleReport:
        """Return how one sample is explained: its code, reconstruction, loss and the atoms in use.

        Parameters
        ----------
        x : array-like of shape (n_features,), or sparse of shape (1, n_features)
            The sample.
        """
        batch = self._assessed(x if sp.issparse(x) else np.asarray(x).reshape(1, -1))
        codes = self._encode(batch)
        loss = self.algorithm_.objective.losses(batch, codes.values, self.state_.dictionary)[0]
        return SampleReport.of(batch, codes, self.state_.dictionary.decode(codes.values), loss)


def _mean(values: NDArray, batch: Batch) -> float:
    """Return the weighted mean over the samples that count."""
    if batch.weights is None:
        return float(values.mean())
    counts = batch.weights > 0
    return float(np.average(values[counts], weights=batch.weights[counts]))
