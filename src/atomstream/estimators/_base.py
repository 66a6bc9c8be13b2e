"""The body of the dictionary estimators: settings, data into batches, learning."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import (
    ArrayLike,
    Choice,
    RandomSource,
    Samples,
    generator,
    threads,
    without_mask,
)
from atomstream.base.saved_fields import field_names
from atomstream.dictionaries import Rows
from atomstream.estimators import _validation, registry
from atomstream.estimators._calls import Notifier, Transaction
from atomstream.estimators._columns import learn_names
from atomstream.estimators._estimator import estimator
from atomstream.estimators._given import (
    are_shards,
    as_stream,
    check_no_shards,
    rows_and_weights,
)
from atomstream.estimators._sklearn import CallbackSupportMixin, with_callbacks
from atomstream.estimators._starting import Starting
from atomstream.estimators.registry import SCHEDULES, ScheduleChoice, resolve, resolve_tolerance
from atomstream.exceptions import DataWarning
from atomstream.loop import Algorithm, Learner, Progress, check_compatible
from atomstream.problem import Batch, Clock
from atomstream.streams.on_disk import at_once

LOOKED_AT = 1024  # rows, at the end of a fit with missing entries
PASSES = 10  # before the rounds over all rows


@estimator
class OnlineDictionary(CallbackSupportMixin, Starting):
    """Common body of the dictionary estimators; a model adds its parameters and their algorithm.

    What a model may replace: `_make_algorithm` and `_check_settings` (its parameters),
    `_rows` and `_samples` (what is no row by itself), `_learn_scale`, `_row_facts` and `_to_batch`
    (how data become a batch), `_first_batches` and `_starting_dictionary` (how a start is made).
    """

    # Where data may be negative beside nonnegative factors: what fits them.
    BOTH_SIGNS: ClassVar[str] = ""
    # For data with negative entries.
    SIGNED: ClassVar[str] = (
        'use OnlineDictionaryLearning(codes="nonnegative", atoms="nonnegative"), whose data may be '
        "negative"
    )
    KNOWN: ClassVar[tuple[str, ...]] = ("n_features_in_",)  # of the shape of data, before learning
    TOLERANCE: ClassVar[Any] = "root"

    # Parameters of all models; their defaults where a model has no other.
    _: KW_ONLY
    alpha: float = 0.0
    ridge: float = 0.0
    schedule: ScheduleChoice = "power"
    batch_size: int = 256
    n_epochs: int | None = None
    shuffle: bool = True
    n_jobs: int | None = None
    max_time: float | None = None
    random_state: RandomSource = None

    def _schedule(self) -> Callable[[int, float, float], float]:
        """Return the schedule that the parameter stands for."""
        return resolve("schedule", self.schedule, SCHEDULES, "__call__")

    # -- learning

    @with_callbacks
    def fit_stream(
        self,
        batches: Iterable[Any],
        *,
        n_batches: int | None = None,
        horizon: float = np.inf,
        column: str | None = None,
        engine: Any = None,
        slots: int | None = None,
        rounds: Any = None,
        on_bad_shard: str = "raise",
        checkpoint: Any = None,
    ) -> Self:
        """Continue to learn from a stream, finite or not: an item is one step, as in `partial_fit`.

        A batch that is refused, or a stream that breaks, leaves the model as it was after the last
        good batch.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features), or of pairs
            They come once; ``fit(streams.OnDisk(rows))`` makes passes over rows on disk.
            A pair (X, sample_weight), a tuple, is a batch with weights; a list of one array, as
            loaders of torch yield, is a batch.
        n_batches : int, optional
            How many batches to take at most; without it all there are. Progress bars show what is
            left, also of a list.
        horizon : float, default=inf
            For a second and later pass over the same data, the mass of one pass (``clock_.mass``
            after the first): what earlier passes measured is then replaced, as in `fit`, instead of
            outweighing what comes.
        column : str, optional
            Where batches are mappings, the key of the rows.
        engine : None, str, Executor, dask.distributed.Client or Engine, optional
            Where rounds over `atomstream.cluster.shards` run: None is this process.
        slots : int, optional
            Parallel parts of each round; they decide what is learned, workers do not.
        rounds : atomstream.cluster.Rounds, optional
            How rows are dealt to slots. ``rounds_report_`` says how it went.
        on_bad_shard : {"raise", "skip"}, default="raise"
            Whether a shard that cannot be learned from ends learning or is left out.
        checkpoint : Checkpoint, optional
            What keeps model and position after each round; learning goes on from there.
        """
        if are_shards(batches):
            from atomstream.estimators._slots import fit_shards

            how = {"horizon": horizon, "on_bad_shard": on_bad_shard, "store": checkpoint}
            given: Any = batches
            fit_shards(self, given, engine, slots, rounds, **how)
            return self
        check_no_shards(batches, engine=engine, slots=slots, rounds=rounds, checkpoint=checkpoint)
        stream, n_batches = as_stream(batches, n_batches)
        after = Notifier(self, n_batches)
        for item in stream:
            given = self._unpacked(item, column)
            with Transaction(self):
                _, batch = self._next_batch(**given, horizon=horizon)
                stopped = self._learn([batch], after)
            if stopped:
                break
        after.close()
        return self

    @classmethod
    def from_components(cls, components: Any, **params: Any) -> Self:
        """Make a model that codes with known atoms at once and can go on learning.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            The atoms, taken as they are to code; brought into their set before the first batch
            is learned from.
        **params
            Any other parameters of the model.

        Returns
        -------
        model
            With empty memory and the clock at 0.
        """
        atoms = _validation.check_start(components)
        model = cls(**{"n_components": len(atoms), "init": atoms, **params})
        _validation.check_size(model, len(atoms))
        model.n_features_in_ = atoms.shape[1]
        learn_names(model, components)
        model._begin()
        model._start(Rows(atoms.copy()))
        return model

    # -- settings

    def check(self) -> None:
        """Refuse settings out of range, and parts that do not fit together."""
        self._schedule()
        resolve_tolerance(self._assemble().coder, self.TOLERANCE)

    def _assemble(self) -> Algorithm:
        """Return the algorithm that the parameters stand for, checked."""
        self._check_settings()
        algorithm = self._make_algorithm()
        check_compatible(algorithm)
        return algorithm

    def _check_settings(self) -> None:
        """Refuse parameters out of range."""
        _validation.check_settings(self)

    def _choices(self) -> dict[str, Choice]:
        """Return the parts that the settings stand for, and how far learning goes and on what."""
        found = registry.chosen_parts(self)
        if self.n_epochs is None and self.n_iter_:
            why = "passes, and rounds over all rows until one gained next to nothing"
            found["n_epochs"] = Choice(self.n_iter_, why)
        return found | {"n_jobs": registry.chosen_threads(self.n_jobs)}

    def _check_change(self, algorithm: Algorithm) -> None:
        """Refuse parameters that a run cannot change."""
        _validation.check_size(self, self.state_.dictionary.shape[0])
        loss = algorithm.objective.loss
        learned = self._learner.loss
        kind, known = type(algorithm.statistics.start(1, 1, loss)), type(self.state_.memory)
        if loss != learned or kind is not known:
            raise ValueError(
                f"The model has learned with {learned!r} and {known.__name__}, its parameters now "
                f"ask for {loss!r} and {kind.__name__}; call fit to start over."
            )

    def _begin(self) -> Learner:
        """Return a new learner: an empty clock, a fresh source of randomness, no dictionary yet."""
        for name in field_names(self.LEARNED[len(OnlineDictionary.LEARNED) :]):
            self.__dict__.pop(name, None)  # what the model itself has learned
        # And what was chosen for other data, such as a ridge: the parts must not know it.
        self.__dict__.pop("_learner", None)
        algorithm = self._assemble()
        clock = Clock(self._schedule(), resolve_tolerance(algorithm.coder, self.TOLERANCE))
        _validation.warn_of_schedule(self.schedule, clock.schedule)
        self._learner = Learner(clock, generator(self.random_state))
        self._learner.assemble(algorithm, self._settings())
        return self._learner

    def _updated_learner(self) -> Learner:
        """Return the learner, in which changed parameters take effect."""
        run, settings = self._learner, self._settings()
        if not run.is_current(settings):
            algorithm = self._assemble()
            if run.has_state:
                self._check_change(algorithm)
            schedule = self._schedule()
            if schedule != run.clock.schedule:
                _validation.warn_of_schedule(self.schedule, schedule)
            run.clock.schedule = schedule
            run.clock.accuracy = resolve_tolerance(algorithm.coder, self.TOLERANCE)
            run.assemble(algorithm, settings)
        return run

    # -- data into batches

    def _unpacked(self, item: Any, column: str | None) -> dict[str, Any]:
        """Return the item of a stream as arguments of `_next_batch`."""
        X, weights = rows_and_weights(item, column, several=self._several)
        return {"X": X, "sample_weight": weights}

    def _learn_scale(self, X: Any, weights: NDArray | None, *, whole: bool = False) -> None:
        """Look at rows before they are learned from; ``whole``: at all the data there are."""

    def _learn_ridge(self, rows: Any, known: dict[str, NDArray | None]) -> None:
        """Look at rows, and at what is known of each, for the strength of a penalty."""

    def _row_facts(
        self, data: Any, weights: NDArray | None, y: object, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        """Return what is known of each row; ``y`` and ``ids`` are for models that use them."""
        return {"weights": weights, "ids": _row_ids(data, data.shape[0], position, ids)}

    def _next_batch(
        self,
        X: Samples,
        sample_weight: ArrayLike | None,
        y: object = None,
        ids: ArrayLike | None = None,
        horizon: float = np.inf,
    ) -> tuple[Learner, Batch]:
        """Return the learner, begun if there is none, and the next rows of its stream."""
        first = "_learner" not in vars(self)
        if first:
            self._check_settings()
        rows = self._rows(X, reset=first)
        weights = None if sample_weight is None else _validation.check_weights(sample_weight, rows)
        run = self._begin() if first else self._updated_learner()
        run.clock.horizon, run.clock.pace = horizon, None
        self._learn_scale(rows, weights)
        data, position = X if hasattr(X, "iloc") else rows, run.n_rows
        known = self._row_facts(data, weights, y, ids, position)
        self._learn_ridge(rows, known)
        return run, self._to_batch(rows, **known, position=position)

    # -- learning from batches

    def _passes(self, n_rows: int) -> int:
        """Return how many passes `fit` makes where their number is not given."""
        return PASSES

    def _settles(self, n_rows: int) -> bool:
        """Return whether rounds over all rows follow the passes of `fit`: not after few alone."""
        return self.n_epochs is None or self.n_epochs > self._passes(n_rows)

    def _fit(
        self, X: Samples, y: object, sample_weight: ArrayLike | None, ids: ArrayLike | None = None
    ) -> Self:
        """Learn from scratch; ``y`` and ``ids`` are for models that make something of them."""
        with Transaction(self, anew=True):
            self._check_settings()
            rows, make = self._rows_to_learn(X)
            weights = _validation.check_weights(sample_weight, rows)
            run = self._begin()
            self._learn_whole_scale(rows, weights)
            known = self._row_facts(X if hasattr(X, "iloc") else rows, weights, y, ids, 0)
            self._learn_ridge(rows, known)
            run.clock.horizon = self._mass(rows, weights)
            n_rows = rows.shape[0]
            to_the_end, n_epochs = self._settles(n_rows), self.n_epochs or self._passes(n_rows)
            n_batches = -(-n_rows // self.batch_size) * n_epochs
            after = Notifier(self, None if to_the_end else n_batches)
            # The order has a source of its own, so that what else is drawn does not change it.
            order = np.random.default_rng(run.rng.integers(2**63)) if self.shuffle else None
            batches = _validation.cut(rows, known, self.batch_size, n_epochs, order, make)
            stopped = self._learn(batches, after, n_rows)
            run.n_iter = -(-run.clock.n_samples // n_rows)
            if run.has_state:
                memory = run.state.memory
                if to_the_end and not stopped:
                    self._settle_all(rows, known, after)
                # A round puts another memory in place, and the usage of all rows.
                if run.state.memory is memory and not after.late:
                    self._measure_usage(rows, known, make)
            self._review()
            self._warn_of_doubt(rows, known, make)
            after.close()
        return self

    def _warn_of_doubt(
        self, rows: Any, known: dict[str, NDArray | None], make: Callable[..., Batch]
    ) -> None:
        """Warn where unseen entries of the first rows learned from are not to be believed."""
        if not self.missing or not self._learner.has_state:
            return
        n_rows = min(LOOKED_AT, at_once(4 * rows.shape[1]))  # of some ten arrays of their size
        batch = next(_validation.cut(rows, known, n_rows, 1, None, make))
        if batch.mask is None:
            return
        if sentence := self._doubt(batch, self._encode(batch).values, "their codes"):
            warnings.warn(sentence, DataWarning, stacklevel=4)  # the caller of fit

    def _partial_fit(
        self,
        X: Samples,
        y: object,
        sample_weight: ArrayLike | None,
        ids: ArrayLike | None = None,
        time: object = None,
    ) -> Self:
        """Make one step; ``y`` and ``ids`` are for models that make something of them."""
        with Transaction(self):
            run, batch = self._next_batch(X, sample_weight, y, ids)
            run.clock.arrive(time, batch.mass)
            self._learn([batch])
        return self

    def _current(self) -> Learner:
        """Return the learner, its algorithm made of the parameters as they are now."""
        learner, settings = self._learner, self._settings()
        if not learner.is_current(settings):
            learner.assemble(self._make_algorithm(), settings)
            learner.n_jobs = self.n_jobs
        return learner

    def _learn(
        self,
        batches: Iterable[Batch],
        after: Callable[[Progress], bool] | None = None,
        n_rows: float = np.inf,
    ) -> bool:
        """Run the loop over batches of ``n_rows``; return whether ``after`` a step it ended."""
        # The threads of BLAS and of numba in turn cost more than twice the time of one kind alone.
        with threads(self.n_jobs):
            if self._learner.clock.step == 0:
                batches = iter(batches)
                first = _validation.in_scale(batches, self.algorithm_.objective, self.BOTH_SIGNS)
                batches = chain(self._first_batches(first, n_rows), batches)
                if not self._learner.has_state:
                    return False
            stopped = self._current().learn(batches, after)
            if n_rows == np.inf:
                self._review()
            return stopped

    def _review(self) -> None:
        """Warn of what was learned in a call that is over."""
        if self._learner.has_state:
            self._current().algorithm.updater.review(self.state_)


def _row_ids(data: Any, n_rows: int, position: int = 0, ids: ArrayLike | None = None) -> NDArray:
    """Return the names of rows: ``ids``, the index of a frame, or their numbers in the stream."""
    if ids is not None:
        names = np.asarray(without_mask(ids))
        if names.shape != (n_rows,):
            raise ValueError(
                f"ids must be of shape ({n_rows},), one per row of X, got {names.shape}."
            )
        return names
    return (
        np.asarray(data.index) if hasattr(data, "iloc") else np.arange(position, position + n_rows)
    )
