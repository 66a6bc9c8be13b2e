"""Checked samples in, codes and reconstructions out: what a fitted dictionary does with data."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import (
    ArrayLike,
    Matrix,
    Samples,
    checked_matrix,
    in_order,
    known_names,
    order_for,
    threads,
)
from atomstream.base.saved_fields import NUMBERS, Field, array, part
from atomstream.coders import Codes
from atomstream.estimators import _given
from atomstream.estimators._calls import blamed_model
from atomstream.estimators._columns import beside, in_axes, like_given
from atomstream.estimators._estimator import Estimator, view
from atomstream.estimators._sklearn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from atomstream.estimators._validation import check_X, observe
from atomstream.estimators.encoding import check_gap, encode_exactly
from atomstream.exceptions import DataWarning
from atomstream.loop import Algorithm, Learner, check_compatible
from atomstream.problem import Batch


def _of_run(attribute: str, doc: str) -> property:
    """Return a property that shows an attribute of the learner; absent before there is one."""
    return property(attrgetter(f"_learner.{attribute}"), doc=doc)


@lru_cache
def _parameters(kind: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a model."""
    return tuple(kind._get_param_names())


class Coding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A dictionary that codes samples with an algorithm; how it was learned is not its concern."""

    LEARNED: ClassVar[tuple[Field | str, ...]] = (
        "run",
        "n_features_in_",
        "feature_names_in_",
        array("_column_labels", "d", NUMBERS + "O", optional=True),
        part("axes_", "check_same", optional=True),
    )
    _several: ClassVar[bool] = False  # whether a sample may have several axes

    missing: bool = False  # where it is no parameter
    n_jobs: int | None = None
    _learner: Learner
    n_features_in_: int

    state_ = _of_run("state", "Dictionary, memory and usage.")
    clock_ = _of_run("clock", "Where the stream stands.")
    n_reseeded_ = _of_run("n_reseeded", "Atoms replaced because nothing used them.")
    n_iter_ = _of_run(
        "n_iter", "Passes over the rows that `fit` has made, and rounds that followed."
    )
    batch_objective_ = _of_run(
        "batch_objective", "Mean objective of the last batch, before the update it caused."
    )

    @abstractmethod
    def _make_algorithm(self) -> Algorithm:
        """Return the algorithm that the parameters stand for."""

    # -- the algorithm

    @property
    def algorithm_(self) -> Algorithm:
        """The parts that the parameters stand for, assembled anew when one of these changes."""
        learner = vars(self).get("_learner")
        # Compared by identity, which costs less than to assemble the parts with every call.
        if learner is not None and learner.is_current(self._settings()):
            return learner.algorithm
        return self._make_algorithm()

    def _settings(self) -> list[Any]:
        """Return all values that the algorithm depends on."""
        kind: Any = type(self)
        return [*map(vars(self).get, _parameters(kind))]

    # -- samples, rows and batches

    def _rows(self, X: Samples, *, reset: bool) -> Any:
        """Return checked samples as rows; models of samples that are no rows flatten them first."""
        X = X if reset else in_axes(self, X)
        rows = check_X(self, _given.as_table(X), reset=reset)
        if reset:
            self.__dict__.pop("axes_", None)
            if _given.is_labelled(X):
                from atomstream.base.axes import Axes

                self.axes_ = Axes.of(X, None)
        return rows

    def _place(self, row: int, column: int) -> str:
        """Return the words for an entry of the rows, as the data were given."""
        if blamed_model(self) is not self:  # whose data have other columns
            return f"row {row}"
        names = getattr(self, "feature_names_in_", None)
        return f"row {row}, column {column if names is None else repr(str(names[column]))}"

    def _samples(self, rows: Matrix) -> Any:
        """Return rows in the shape of samples."""
        return rows

    def _to_batch(self, X: Matrix, weights: NDArray | None = None, **known: Any) -> Batch:
        """Return checked data as a batch; a loss with a narrower domain refuses or changes more."""
        return observe(X, weights, missing=self.missing, **known)

    def _batch(
        self,
        X: Samples,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        **known: Any,
    ) -> Batch:
        """Return samples that are not learned from as a batch."""
        rows = self._rows(self._observed(X, mask), reset=False)
        if entry_weight is None:
            return self._to_batch(rows, **known)
        weights = self._entry_weights(X, entry_weight).checked(rows.shape)
        return self._to_batch(rows, weights, **known)

    def _observed(self, X: Samples, mask: ArrayLike | None) -> Any:
        """Return samples with NaN where a mask hides them."""
        if mask is None:
            return X
        mask = beside(X, mask, "mask")
        return _given.with_nan_where_masked(X, mask, missing=self.missing)

    def _entry_weights(
        self, X: Samples, entry_weight: Any, by_row: Any = None, *, fresh: bool = False
    ) -> _given.EntryWeights:
        """Return weights of entries by the columns of the model, or of X where it begins anew."""
        _given.check_weighs_entries(self.algorithm_)
        entry_weight = beside(X, entry_weight, "entry_weight")
        order = None if fresh else order_for(self, _given.as_table(X))
        return _given.EntryWeights(in_order(entry_weight, order), by_row)

    # -- codes

    def transform(
        self,
        X: Samples,
        *,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        sparse_output: bool = False,
        gap: float | None = None,
    ) -> Any:
        """Return the exact codes of samples: their certified duality gap is 1e-9 (float32: 1e-6).

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
            Arrays that are not in memory (HDF5, Zarr, dask) are read a few chunks at a time.
        mask : array-like of bool of the shape of X, optional
            True where an entry was observed; needs ``missing=True``.
        entry_weight : array-like of the shape of X, optional
            How much each entry counts in the code of its row, relative to the largest of the row.
        sparse_output : bool, default=False
            Return a CSR array: most codes of an l1 penalty are zero.
        gap : float, optional
            Another certified duality gap, as a share of the objective: 0.01 is faster.

        Returns
        -------
        ndarray, DataArray or csr_array of shape (n_samples, n_components)
            Codes of an array of xarray keep the labels of its samples; ``set_output`` chooses
            frames.

        Warns
        -----
        DataWarning
            Where reconstructions of unseen entries leave the range of the data by more than its
            width, and where rows have fewer observed entries than there are atoms and nothing in
            the model (alpha, ridge, a bounded set of codes) holds their codes back.
        """
        return self._transformed(X, sparse_output, gap, mask=mask, entry_weight=entry_weight)

    def _transformed(
        self, X: Samples, sparse_output: bool, gap: float | None, **beside: Any
    ) -> Any:
        """Return the codes of samples; ``beside`` them is what `_batch` takes."""
        check_is_fitted(self)
        # What is beside the data is cut with them only where these are in memory.
        alone = all(part is None for part in beside.values())
        X = in_axes(self, X)
        given = _given.blocks(X) if alone and _given.is_stored(X) else [X]
        form = sp.csr_array if sparse_output else np.asarray
        parts = []
        for block in given:
            batch = self._batch(block, **beside)
            codes = self._encode(batch, gap).values
            if sentence := self._doubt(batch, codes, "their codes"):
                warnings.warn(sentence, DataWarning, stacklevel=4)  # scikit-learn wraps it
            parts.append(form(codes))
        if len(parts) > 1:
            return sp.csr_array(sp.vstack(parts)) if sparse_output else np.concatenate(parts)
        return parts[0] if sparse_output else _given.codes_of(X, parts[0], self)

    def transform_stream(
        self, batches: Iterable[Any], *, sparse_output: bool = False, column: str | None = None
    ) -> Iterator[Any]:
        """Yield the codes of each batch of a stream, for codes of data larger than memory.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features)
        sparse_output : bool, default=False
            Yield CSR arrays.
        column : str, optional
            Where batches are mappings, the key of the rows.

        Yields
        ------
        ndarray or csr_array of shape (n_samples, n_components)
        """
        for item in batches:
            X, _ = _given.rows_and_weights(item, column, several=self._several)
            yield self.transform(X, sparse_output=sparse_output)

    def inverse_transform(self, codes: Any) -> Any:
        """Return the reconstructions of codes.

        Parameters
        ----------
        codes : array-like, frame or sparse of shape (n_samples, n_components)

        Returns
        -------
        ndarray, frame or DataArray of shape (n_samples, n_features)
            As ``codes``: with their index, and the names of the features learned from.
        """
        check_is_fitted(self)
        given = codes
        codes = checked_matrix(codes, "codes")
        dictionary = self.state_.dictionary
        if codes.ndim != 2 or codes.shape[1] != dictionary.shape[0]:
            raise ValueError(
                f"codes must be of shape (n_samples, {dictionary.shape[0]}), got {codes.shape}; "
                "give what transform returned."
            )
        samples = self._samples(dictionary.decode(codes.astype(dictionary.dtype, copy=False)))
        names, axes = vars(self).get("feature_names_in_"), vars(self).get("axes_")
        return _given.samples_of(given, samples, names, axes)

    def impute(self, X: Samples, *, mask: ArrayLike | None = None) -> Any:
        """Return the samples with their missing entries filled by reconstructions.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
            NaN where an entry is missing.
        mask : array-like of bool of the shape of X, optional
            True where an entry was observed.

        Returns
        -------
        ndarray, frame or DataArray of shape (n_samples, n_features)
            As ``X``: with its index, names and labels.

        Raises
        ------
        ValueError
            Where entries are missing and ``missing`` is False.

        Warns
        -----
        DataWarning
            Where unseen entries are filled in that leave the range of the data by more than its
            width, and where rows have fewer observed entries than there are atoms and nothing in
            the model (alpha, ridge, a bounded set of codes) holds their codes back.
        """
        check_is_fitted(self)
        batch = self._batch(X, mask)
        if batch.mask is None:
            whole = batch.X.toarray() if sp.issparse(batch.X) else np.array(batch.X)
            return like_given(self, X, self._samples(whole))
        codes = self._encode(batch).values
        if sentence := self._doubt(batch, codes, "what is filled in there"):
            warnings.warn(sentence, DataWarning, stacklevel=2)
        made = batch.complete(self.state_.dictionary.decode(codes))
        return like_given(self, X, self._samples(made))

    def _doubt(self, batch: Batch, codes: NDArray, what: str) -> str:
        """Return why unseen entries may be far from what codes make of them, or nothing."""
        if batch.mask is None:
            return ""
        from atomstream.estimators._missing import doubt_of

        return doubt_of(self, batch, codes, what)

    # -- what was learned

    @property
    def components_(self) -> NDArray:
        """The atoms, (n_components, n_features), read-only."""
        check_is_fitted(self)
        return self.state_.dictionary.atoms()

    memory_ = view(
        "state_.memory",
        "Memory of the stream: for the squared loss ``gram`` = A and ``cross`` = B.",
    )
    n_steps_ = view("clock_.step", "Number of steps made.")
    n_samples_seen_ = view("clock_.n_samples", "Number of rows learned from, in all passes.")

    @property
    def importance_(self) -> NDArray:
        """Share of each atom in all that codes put together, (n_components,).

        After `fit` that is of the codes at its end. Along a stream the past fades as in the memory.
        Every code counts by its absolute value, by the length that its atom had then, and by the
        weight of its sample. The length is Euclidean; atoms on a simplex all have the same.
        """
        check_is_fitted(self)
        usage = self.state_.usage.mean
        return usage / max(usage.sum(), np.finfo(float).tiny)

    @property
    def _n_atoms_of_a_row(self) -> int:
        return self.state_.dictionary.shape[0]

    @property
    def _n_features_out(self) -> int:
        return self.state_.dictionary.shape[0]

    def learned_attributes(self) -> dict[str, Any]:
        """Return the attributes of ``LEARNED``, and those of the run in a dict of their own."""
        if "_learner" not in vars(self):
            return {}
        return {"run": self._learner.saved(), **super().learned_attributes()}

    def _set_learned(self, learned: dict[str, Any]) -> None:
        self._learner = Learner.restored(learned["run"])
        super()._set_learned({name: learned[name] for name in learned if name != "run"})

    def _validate_learned(self) -> None:
        super()._validate_learned()
        self._learner.validate(self.n_features_in_)
        axes, names = vars(self).get("axes_"), known_names(self)
        if axes is not None and math.prod(axes.shape) != self.n_features_in_:
            raise ValueError(f"axes of shape {axes.shape} for {self.n_features_in_} features")
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} names for {self.n_features_in_} features")

    # -- copies

    def __copy__(self) -> Self:
        """Return a model that goes on by itself; arrays are shared: nothing writes into them."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "_learner" in vars(self):
            twin._learner = copy(self._learner)
        return twin

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in vars(self) and self._learner.has_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = getattr(self, "max_time", None) is not None
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = bool(self.missing)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _encode(self, batch: Batch, gap: float | None = None) -> Codes:
        """Code exactly, or to this duality gap; warn where that was not reached."""
        algorithm, dictionary = self.algorithm_, self.state_.dictionary
        check_gap(gap)
        check_compatible(algorithm)
        with threads(self.n_jobs):
            return encode_exactly(algorithm.coder, batch, dictionary, algorithm.objective, gap=gap)
