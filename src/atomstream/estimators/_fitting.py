"""Learning from data at hand, and how good the outcome is on samples, as users ask for it."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, Samples
from atomstream.estimators._coding import Coding
from atomstream.estimators._columns import as_sample
from atomstream.estimators._sklearn import with_callbacks
from atomstream.estimators._validation import check_observed, check_weights
from atomstream.problem import Batch
from atomstream.watch import SampleReport, stationarity


class Fitting(Coding):
    """The public methods that learn from an array, and figures of what was learned.

    `OnlineDictionary` says how to learn; figures change nothing.
    """

    _CODED_WITH: ClassVar[tuple[str, ...]] = ("mask", "entry_weight")  # arguments of `transform`

    @with_callbacks
    def fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch, in ``n_epochs`` passes over batches of ``batch_size`` rows.

        By default these are ten. Then, and after more, rounds over all rows at a time follow, which
        end where one gains next to nothing (`atomstream.loop.settling.rounds`).

        Parameters
        ----------
        X : array-like, frame, sparse or `streams.OnDisk` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k counts a row k times; 0 leaves it out.
        mask : array-like of bool of the shape of X, optional
            True where an entry was observed; False stands for NaN and needs ``missing=True``. In a
            NumPy masked array the mask means the opposite, and is read that way.
        entry_weight : array-like of the shape of X, optional
            How much each entry counts, under losses that are sums over entries: a row counts as
            much as its largest entry, and the others relative to that one. The same weight for all
            entries of a row is a ``sample_weight``, and weights of 0 and 1 are a mask.

        Warns
        -----
        NotConvergedWarning
            Where rounds follow and the last of 500 still gained; under the squared loss not where
            it leaves less than a millionth of the energy of the data.
        """
        return self._fit(*self._validated(X, y, sample_weight, mask, entry_weight, fresh=True))

    def partial_fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        time: object = None,
    ) -> Self:
        """Make one step on these rows as one batch; the first call also makes the dictionary.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        mask, entry_weight : array-like of the shape of X, optional
            As in `fit`.
        time : number, datetime or numpy.datetime64, optional
            When the rows were observed, for ``schedule=HalfLife(...)``; later than in the last
            call.
        """
        given = self._validated(X, y, sample_weight, mask, entry_weight)
        return self._partial_fit(*given, time=time)

    def fit_transform(self, X: Samples, y: object = None, **fit_params: Any) -> Any:
        """Learn from scratch, and return the codes of the samples.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        **fit_params
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        known = {name: part for name, part in fit_params.items() if name in self._CODED_WITH}
        return self.fit(X, y, **fit_params).transform(X, **known)

    def _validated(
        self,
        X: Samples,
        y: object,
        sample_weight: ArrayLike | None,
        mask: ArrayLike | None,
        entry_weight: ArrayLike | None,
        *,
        fresh: bool = False,
    ) -> tuple[Any, object, Any]:
        """Return samples with NaN where a mask hides them, and weights of rows or of entries."""
        weights: Any = sample_weight
        if entry_weight is not None:
            weights = self._entry_weights(X, entry_weight, sample_weight, fresh=fresh)
        return self._observed(X, mask), y, weights

    @abstractmethod
    def _fit(self, X: Samples, y: object, sample_weight: Any) -> Self:
        """Learn from scratch, with checked arguments."""

    @abstractmethod
    def _partial_fit(
        self, X: Samples, y: object, sample_weight: Any, *, time: object = None
    ) -> Self:
        """Make one step."""

    # -- figures

    def _assessed(self, X: Samples, sample_weight: ArrayLike | None = None, **known: Any) -> Batch:
        """Return samples of which at least one counts as a batch."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        weights = check_weights(sample_weight, X)
        check_observed(X, weights, missing=self.missing)
        return self._to_batch(X, weights, **known)

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
        term and the penalty on the atoms (eqs. 18 and 26 of Lyu, Needell and Balzano, halved).
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
        batch = self._assessed(as_sample(x))
        codes = self._encode(batch)
        loss = self.algorithm_.objective.losses(batch, codes.values, self.state_.dictionary)[0]
        return SampleReport.of(batch, codes, self.state_.dictionary.decode(codes.values), loss)


def _mean(values: NDArray, batch: Batch) -> float:
    """Return the weighted mean over the samples that count."""
    if batch.weights is None:
        return float(values.mean())
    counts = batch.weights > 0
    return float(np.average(values[counts], weights=batch.weights[counts]))
