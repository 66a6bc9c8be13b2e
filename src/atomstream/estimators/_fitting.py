"""Learning from data at hand, as users ask for it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike

from atomstream.base.matrices import Samples
from atomstream.estimators._coding import Coding
from atomstream.estimators._given import EntryWeights, check_weighs_entries, with_nan_where_masked
from atomstream.estimators._sklearn import with_callbacks


class Fitting(Coding):
    """The public methods that learn from an array; `OnlineDictionary` says how."""

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

        Where ``n_epochs`` is None, ten passes are followed by rounds over all rows at a time, which
        end where one gains next to nothing (`atomstream.loop.settling.rounds`).

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k counts a row k times; 0 leaves it out.
        mask : array-like of bool of the shape of X, optional
            True where an entry was observed; False stands for NaN and needs ``missing=True``. In a
            NumPy masked array the mask means the opposite, and is read that way.
        entry_weight : array-like of the shape of X, optional
            How much each entry counts, under the squared loss: a row counts as much as its largest
            entry, and the others relative to that one. The same weight for all entries of a row
            is a ``sample_weight``, and weights of 0 and 1 are a mask.

        Warns
        -----
        NotConvergedWarning
            Where ``n_epochs`` is None and the last of 500 rounds still gained.
        """
        return self._fit(*self._validated(X, y, sample_weight, mask, entry_weight))

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
        entries = {name: fit_params.get(name) for name in ("mask", "entry_weight")}
        known = {name: part for name, part in entries.items() if part is not None}
        return self.fit(X, y, **fit_params).transform(X, **known)

    def _validated(
        self,
        X: Samples,
        y: object,
        sample_weight: ArrayLike | None,
        mask: ArrayLike | None,
        entry_weight: ArrayLike | None,
    ) -> tuple[Any, object, Any]:
        """Return samples with NaN where a mask hides them, and weights of rows or of entries."""
        X, weights = with_nan_where_masked(X, mask, missing=self.missing), sample_weight
        if entry_weight is None:
            return X, y, weights
        check_weighs_entries(self.algorithm_)
        return X, y, EntryWeights(entry_weight, sample_weight)

    @abstractmethod
    def _fit(self, X: Samples, y: object, sample_weight: Any) -> Self:
        """Learn from scratch, with checked arguments."""

    @abstractmethod
    def _partial_fit(
        self, X: Samples, y: object, sample_weight: Any, *, time: object = None
    ) -> Self:
        """Make one step."""
