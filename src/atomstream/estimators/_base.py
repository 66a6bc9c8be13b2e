"""What every dictionary estimator does: take in data, learn, code, and tell how well."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy, deepcopy
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from atomstream.coders import Codes
from atomstream.core.batch import Batch
from atomstream.core.checks import generator
from atomstream.core.clock import Clock
from atomstream.core.loop import Progress, learn
from atomstream.core.method import Method, check_compatible
from atomstream.core.parallel import one_blas_thread
from atomstream.core.state import State
from atomstream.dictionaries.rows import Rows
from atomstream.estimators._assessment import Assessment
from atomstream.estimators._callbacks import Watched, with_callbacks
from atomstream.estimators._rollback import untouched
from atomstream.estimators._validation import (
    check_observed,
    check_settings,
    check_size,
    check_start,
    check_weights,
    check_X,
    cut,
    observe,
    row_ids,
)
from atomstream.estimators.encoding import encode_exactly
from atomstream.estimators.registry import resolve_tolerance
from atomstream.memory.usage import Usage
from atomstream.updates.reseeding import starting_atoms

__all__ = ["OnlineDictionary"]


class OnlineDictionary(
    Assessment, Watched, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Common body of the dictionary estimators; a model adds its parameters and the method they make."""

    SIGNED: ClassVar[str] = "use OnlineDictionaryLearning"  # for data with negative entries
    STARTS: ClassVar[tuple[str | None, ...]] = (
        "auto",
        "samples",
        "spread",
        "svd",
        "random",
    )  # names for init
    # What the constructors of the models store.
    n_components: int
    tol: Any
    batch_size: int
    n_epochs: int
    shuffle: bool
    init: Any
    fixed_components: int
    missing: bool
    n_jobs: int | None
    max_time: float | None
    random_state: Any
    # What learning makes.
    state_: State
    clock_: Clock
    n_reseeded_: int
    batch_objective_: float
    n_features_in_: int

    @abstractmethod
    def _schedule(self) -> Callable[[int, float, float], float]:
        """Return the schedule that the parameters stand for."""

    # -- learning
    #
    #
    #
    #
    #
    # -------------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn anew from data at hand, in ``n_epochs`` passes over batches of ``batch_size`` rows.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k counts a row k times; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Make one step on these rows, uncut; the first call also makes the starting dictionary.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, sample_weight)

    @with_callbacks
    def fit_stream(
        self, batches: Iterable[Any], *, n_batches: int | None = None, horizon: float = np.inf
    ) -> Self:
        """Go on learning from a stream, finite or not: each item makes one step, as `partial_fit` would.

        A batch that is refused, or a stream that breaks, leaves the model as it was after the last
        good batch.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features), or of pairs
            A pair (X, sample_weight) is a batch with weights.
        n_batches : int, optional
            How many batches will come at most, where that is known: progress bars then show what is
            left.
        horizon : float, optional
            For a second and later pass over the same data, the mass of one pass (``clock_.mass``
            after the first): what earlier passes measured is then replaced, as in `fit`, instead of
            outweighing what comes.

        Returns
        -------
        self
        """
        if hasattr(batches, "shape"):
            raise ValueError(
                f"fit_stream needs an iterable of batches, got one array of shape {batches.shape}; "
                "wrap it in a list, or cut it with atomstream.streams.batches."
            )
        context, deadline = self._watching(n_batches), self._deadline()
        for item in batches:
            X, weights = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
            with untouched(self):
                batch, rng = self._next_batch(X, weights)
                self.clock_.horizon = horizon
                stopped = self._steps([batch], rng, context, deadline)
            if stopped:
                break
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        return self

    @classmethod
    def from_components(cls, components: Any, **params: Any) -> Self:
        """Make a model that codes with known atoms at once and can go on learning.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            The atoms, taken as they are; the set is enforced when they are first updated.
        **params
            Any other parameters of the model.

        Returns
        -------
        model
            With empty memory and the clock at 0.
        """
        atoms = check_start(components)
        model = cls(**{"n_components": len(atoms), "init": atoms, **params})
        check_size(model, len(atoms))
        model.n_features_in_ = atoms.shape[1]
        model._begin()
        model._set_state(atoms.copy())
        return model

    # -- coding
    #
    #
    #
    #
    #
    # ---------------------------------------------------------------------------------------------------

    def transform(self, X: Any, *, sparse_output: bool = False) -> Any:
        """Return the codes of samples, exactly: to a certified duality gap of 1e-9 (float32: 1e-6).

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        sparse_output : bool, default=False
            Return a CSR array: most codes of an l1 penalty are zero.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        codes = self._encode(self._batch(X)).values
        return sp.csr_array(codes) if sparse_output else codes

    def transform_stream(
        self, batches: Iterable[Any], *, sparse_output: bool = False
    ) -> Iterator[Any]:
        """Yield the codes of each batch of a stream, for codes of data larger than memory.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features)
        sparse_output : bool, default=False
            Yield CSR arrays.
        """
        for X in batches:
            yield self.transform(X, sparse_output=sparse_output)

    def inverse_transform(self, codes: Any) -> NDArray:
        """Return the reconstructions of codes.

        Parameters
        ----------
        codes : array-like or sparse of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = codes if sp.issparse(codes) else np.asarray(codes)
        dictionary = self.state_.dictionary
        if codes.ndim != 2 or codes.shape[1] != dictionary.shape[0]:
            raise ValueError(
                f"codes must be of shape (n_samples, {dictionary.shape[0]}), got {codes.shape}; "
                "give what transform returned."
            )
        return self._give_out(dictionary.decode(codes.astype(dictionary.dtype, copy=False)))

    def impute(self, X: Any) -> NDArray:
        """Return the samples with missing entries filled by their reconstructions, observed ones as they are.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
            NaN where an entry is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            Where entries are missing and the model was not told ``missing=True``.

        Warns
        -----
        UserWarning
            Where rows have fewer observed entries than there are atoms and nothing in the model
            (alpha, ridge, a bounded set of codes) holds their codes back: what is filled in there
            may be anything.
        """
        check_is_fitted(self)
        batch = self._batch(X)
        if batch.mask is None:
            return self._give_out(batch.X.toarray() if sp.issparse(batch.X) else np.array(batch.X))
        n_seen, codes, r = (
            batch.mask.sum(axis=1),
            self.method_.objective.codes,
            self.state_.dictionary.shape[0],
        )
        loose = int(((n_seen > 0) & (n_seen < r)).sum())
        if loose and not (codes.l1 or np.isfinite(codes.conjugate(np.ones((1, r)))).all()):
            warnings.warn(
                f"{loose} of {len(n_seen)} rows have fewer observed entries than the {r} atoms: "
                "nothing determines what is filled in there; set ridge (0.001 to 0.1) or take fewer atoms.",
                UserWarning,
                stacklevel=2,
            )
        return self._give_out(
            batch.complete(self.state_.dictionary.decode(self._encode(batch).values))
        )

    # -- what was learned
    # -----------------------------------------------------------------------------------------

    @property
    def components_(self) -> NDArray:
        """The atoms, (n_components, n_features), read-only."""
        check_is_fitted(self)
        return self.state_.dictionary.atoms()

    @property
    def memory_(self) -> Any:
        """What is kept of the stream: for the squared loss ``gram`` = A and ``cross`` = B."""
        check_is_fitted(self)
        return self.state_.memory

    @property
    def importance_(self) -> NDArray:
        """Share of each atom in the sum of absolute codes times sample weights over the run, (n_components,)."""
        check_is_fitted(self)
        usage = self.state_.usage.total
        return usage / max(usage.sum(), np.finfo(float).tiny)

    @property
    def n_steps_(self) -> int:
        """Number of steps made."""
        check_is_fitted(self)
        return self.clock_.step

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows met, in all passes."""
        check_is_fitted(self)
        return self.clock_.n_samples

    @property
    def _n_features_out(self) -> int:
        return self.state_.dictionary.shape[0]

    def __sklearn_is_fitted__(self) -> bool:
        return "state_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = bool(self.missing)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- the engine room
    # ------------------------------------------------------------------------------------------

    def _fit(self, X: Any, sample_weight: Any, y: Any = None, ids: Any = None) -> Self:
        """Learn anew; ``y`` and ``ids`` are for models that make something of them."""
        with untouched(self):
            frame, X = X, self._take_in(X, reset=True)
            weights = check_weights(sample_weight, X)
            rng = self._begin()
            known = {
                "weights": weights,
                "ids": row_ids(frame, X.shape[0], ids=ids),
                "labels": self._labels(y, X),
            }
            self.clock_.horizon = check_observed(X, weights, missing=self.missing)
            context = self._watching(-(-X.shape[0] // self.batch_size) * self.n_epochs)
            # The order has a source of its own: what else is drawn while learning does not change
            # it.
            order = np.random.default_rng(rng.integers(2**63)) if self.shuffle else None
            batches = cut(X, known, self.batch_size, self.n_epochs, order, self._observe)
            self._steps(batches, rng, context, self._deadline())
            if context is not None:
                context.call_on_fit_task_end(estimator=self)
        return self

    def _partial_fit(self, X: Any, sample_weight: Any, y: Any = None, ids: Any = None) -> Self:
        """Make one step; ``y`` and ``ids`` are for models that make something of them."""
        with untouched(self):
            batch, rng = self._next_batch(X, sample_weight, y, ids)
            self._steps([batch], rng)
        return self

    def _labels(self, y: Any, X: Any) -> NDArray | None:
        """Return the atoms that rows are known to belong to."""
        return None

    @property
    def _begun(self) -> bool:
        """Whether a run has begun that the next rows belong to."""
        return "state_" in self.__dict__

    @property
    def _n_met(self) -> int:
        """Number of rows that have come."""
        return self.clock_.n_samples

    @property
    def _dtype(self) -> Any:
        """Type that data are turned into, once it is known."""
        return self.state_.dictionary.dtype

    def __copy__(self) -> Self:
        """Return a model that goes on by itself; arrays are shared, for nothing ever writes into them."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if "state_" in self.__dict__:
            twin.state_, twin.clock_, twin._rng = (
                self.state_.snapshot(),
                copy(self.clock_),
                deepcopy(self._rng),
            )
        return twin

    def _begin(self) -> np.random.Generator:
        """Start a run: an empty clock, a fresh source of randomness, no dictionary yet."""
        check_settings(self)
        check_compatible(self.method_)
        self.__dict__.pop("state_", None)
        self._rng = generator(self.random_state)
        self.clock_ = Clock(self._schedule(), resolve_tolerance(self.tol))
        self.n_reseeded_ = 0
        self.batch_objective_ = np.nan
        return self._rng

    def _next_batch(
        self, X: Any, sample_weight: Any, y: Any = None, ids: Any = None
    ) -> tuple[Batch, np.random.Generator]:
        """Check the next rows of the stream; start a run if there is none; let changed parameters take effect."""
        first = not self._begun
        frame, X = X, self._take_in(X, reset=first)
        weights = check_weights(sample_weight, X)
        if first:
            self._begin()
        else:
            check_settings(self)
            method = self.method_
            check_compatible(method)
            if "state_" in self.__dict__:
                check_size(self, self.state_.dictionary.shape[0])
                self._check_memory(method)
            self.clock_.schedule, self.clock_.accuracy = (
                self._schedule(),
                resolve_tolerance(self.tol),
            )
        self.clock_.horizon = np.inf
        position = self._n_met
        names = row_ids(frame, X.shape[0], position, ids)
        return self._observe(
            X, weights, ids=names, labels=self._labels(y, X), position=position
        ), self._rng

    def _batch(self, X: Any) -> Batch:
        """Return checked samples that are only looked at."""
        return self._observe(self._take_in(X, reset=False))

    def _take_in(self, X: Any, *, reset: bool) -> Any:
        """Return checked samples as rows; models of samples that are no rows flatten them first."""
        return check_X(self, X, reset=reset)

    def _give_out(self, rows: Any) -> Any:
        """Return rows as the samples that they are."""
        return rows

    def _observe(self, X: Any, weights: NDArray | None = None, **known: Any) -> Batch:
        """Return checked data as a batch; models whose loss has a narrower domain say more."""
        return observe(X, weights, missing=self.missing, **known)

    def _memory(self, n_components: int, n_features: int) -> Any:
        """Return an empty memory of the kind that the method keeps."""
        method = self.method_
        return method.statistics.start(n_components, n_features, method.objective.loss)

    def _check_memory(self, method: Method) -> None:
        """Refuse to go on with a method for whose loss the memory was not made."""
        loss = method.objective.loss
        kind = type(method.statistics.start(1, 1, loss))
        learned, known = self.__dict__.get("_loss", loss), type(self.state_.memory)
        if loss != learned or kind is not known:
            raise ValueError(
                f"The model has learned with {learned!r} and {known.__name__}, its parameters now ask for "
                f"{loss!r} and {kind.__name__}; call fit to start anew."
            )

    def _set_state(self, atoms: NDArray) -> None:
        self._loss = self.method_.objective.loss
        self.state_ = State(Rows(atoms), self._memory(*atoms.shape), Usage(len(atoms)))

    def _start(self, batch: Batch, rng: np.random.Generator) -> None:
        """Make the starting dictionary: the array given, or one made from the first batch."""
        penalty = self.method_.objective.atoms
        if isinstance(self.init, str):
            soft = not self.method_.objective.loss.quadratic
            how = self.init if self.init != "auto" else "svd" if soft else "samples"
            atoms = starting_atoms(batch, self.n_components, how, penalty, rng, soft)
        else:
            given = check_start(self.init, (self.n_components, batch.X.shape[1])).astype(
                batch.X.dtype
            )
            atoms = (
                penalty.normalize(given)
                if penalty.shape and penalty.shape.total
                else penalty.prox(given, 0.0)
            )
            atoms[: self.fixed_components] = given[: self.fixed_components]
        self._set_state(atoms)

    def _opening(self, batches: Iterator[Batch], rng: np.random.Generator) -> list[Batch]:
        """Take from a stream what the starting dictionary is made from, make it, and return what was taken."""
        first = next((batch for batch in batches if batch.mass > 0), None)
        if first is None:
            return []
        self._start(first, rng)
        return [first]

    def _steps(
        self,
        batches: Iterable[Batch],
        rng: np.random.Generator,
        context: Any = None,
        deadline: float = np.inf,
    ) -> bool:
        """Run the one loop over these batches; return whether a callback or the deadline ended it."""
        stopped, batches = False, iter(batches)
        if "state_" not in self.__dict__:
            first = self._opening(batches, rng)
            if not first:
                return False
            batches = chain(first, batches)

        def watch(progress: Progress) -> bool:
            """Note what the step told, and say whether to stop."""
            nonlocal stopped
            self.n_reseeded_ += progress.n_reseeded
            self.batch_objective_ = progress.delta.objective / progress.delta.mass
            stopped = self._tell(context, progress) or time.monotonic() >= deadline
            return stopped

        with one_blas_thread():
            learn(batches, self.state_, self.method_, self.clock_, rng, watch)
        return stopped

    def _deadline(self) -> float:
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    def _encode(self, batch: Batch) -> Codes:
        """Code exactly; warn where that was not reached."""
        method = self.method_
        check_compatible(method)
        return encode_exactly(method.coder, batch, self.state_.dictionary, method.objective)
