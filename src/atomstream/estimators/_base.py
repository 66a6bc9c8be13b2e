"""The body of the dictionary estimators: settings, data into batches, learning."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.cluster.learning import check_no_shards
from atomstream.cluster.shards import Shards
from atomstream.core.algorithm import Algorithm, check_compatible
from atomstream.core.batch import Batch
from atomstream.core.checks import generator
from atomstream.core.clock import Clock
from atomstream.core.first_dictionary import first_dictionary
from atomstream.core.fixed import are_fixed, fixed_atoms
from atomstream.core.loop import Progress, learn
from atomstream.core.machine import check_memory
from atomstream.core.parallel import one_blas_thread
from atomstream.core.settling import MOST, rounds
from atomstream.core.state import State
from atomstream.dictionaries.base import Dictionary
from atomstream.dictionaries.rows import Rows
from atomstream.estimators._apart import LearningApart
from atomstream.estimators._assessment import Assessment
from atomstream.estimators._callbacks import CallbackNotifier, with_callbacks
from atomstream.estimators._containers import check_stream, rows_and_weights
from atomstream.estimators._fitting import Fitting
from atomstream.estimators._rollback import Transaction
from atomstream.estimators._run_state import RunState
from atomstream.estimators._types import RandomSource, Samples
from atomstream.estimators._validation import (
    NotConvergedWarning,
    check_observed,
    check_settings,
    check_size,
    check_start,
    check_weights,
    cut,
    in_scale,
    row_ids,
    warn_of_schedule,
)
from atomstream.estimators.registry import SCHEDULES, resolve, resolve_tolerance
from atomstream.memory.usage import Usage

PASSES = 10  # before the rounds over all rows
BLOCK = 4096  # rows that are coded at a time in such a round


class OnlineDictionary(LearningApart, CallbackNotifier, Fitting, Assessment):
    """Common body of the dictionary estimators; a model adds its parameters and their algorithm.

    What a model may replace: `_make_method` and `_check_settings` (its parameters),
    `_rows` and `_samples` (what is no row by itself), `_look_at`, `_known` and `_observe` (how data
    become a batch), `_open` and `_starting_dictionary` (how a start is made).
    """

    SIGNED: ClassVar[str] = "use OnlineDictionaryLearning"  # for data with negative entries
    KNOWN: ClassVar[tuple[str, ...]] = ("n_features_in_",)  # of the shape of data, before learning
    # Parameters, which the constructors of the models store.
    n_components: int
    schedule: Any
    TOLERANCE: ClassVar[Any] = "root"
    batch_size: int
    n_epochs: int | None
    shuffle: bool
    init: Any
    fixed_components: Any
    n_jobs: int | None
    max_time: float | None
    random_state: RandomSource

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
            A pair (X, sample_weight), a tuple, is a batch with weights; a list of one array, as
            loaders of torch yield, is a batch.
        n_batches : int, optional
            How many batches will come at most, where that is known: progress bars then show what is
            left.
        horizon : float, default=inf
            For a second and later pass over the same data, the mass of one pass (``clock_.mass``
            after the first): what earlier passes measured is then replaced, as in `fit`, instead of
            outweighing what comes.
        column : str, optional
            Where batches are mappings, the key of the rows.
        engine : None, str, Executor, dask.distributed.Client or Engine, optional
            Where rounds over `atomstream.cluster.shards` run: None is this process.
        slots : int, default=1
            Parallel parts of each round; they decide what is learned, workers do not.
        rounds : atomstream.cluster.Rounds, optional
            How rows are dealt to slots. ``rounds_report_`` says how it went.
        on_bad_shard : {"raise", "skip"}, default="raise"
            Whether a shard that cannot be learned from ends learning or is left out.
        checkpoint : Checkpoint, optional
            What keeps model and position after each round; learning goes on from there.
        """
        if isinstance(batches, Shards):
            how = slots, rounds, horizon, on_bad_shard, checkpoint
            return self._fit_shards(batches, engine, *how)
        check_no_shards(batches, engine=engine, slots=slots, rounds=rounds, checkpoint=checkpoint)
        check_stream(batches)
        context, deadline = self._open_callbacks(n_batches), self._deadline()
        for item in batches:
            X, weights = rows_and_weights(item, column, several=self._several)
            with Transaction(self):
                _, batch = self._next_batch(X, weights, horizon=horizon)
                stopped = self._learn([batch], context, deadline)
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
        check_settings(self)

    def _check_change(self, algorithm: Algorithm) -> None:
        """Refuse parameters that a run cannot change."""
        check_size(self, self.state_.dictionary.shape[0])
        loss = algorithm.objective.loss
        learned = vars(self._run).get("loss", loss)  # the first files did not tell
        kind, known = type(self._memory(algorithm, 1, 1)), type(self.state_.memory)
        if loss != learned or kind is not known:
            raise ValueError(
                f"The model has learned with {learned!r} and {known.__name__}, its parameters now "
                f"ask for {loss!r} and {kind.__name__}; call fit to start over."
            )

    def _begin(self) -> RunState:
        """Start a run: an empty clock, a fresh source of randomness, no dictionary yet."""
        algorithm = self._assemble()
        clock = Clock(self._schedule(), resolve_tolerance(algorithm.coder, self.TOLERANCE))
        warn_of_schedule(self.schedule, clock.schedule)
        self._run = RunState(clock, generator(self.random_state))
        self._run.assemble(algorithm, self._settings())
        return self._run

    def _go_on(self) -> RunState:
        """Return the run, in which changed parameters take effect."""
        run, settings = self._run, self._settings()
        if not run.is_current(settings):
            algorithm = self._assemble()
            if run.has_state:
                self._check_change(algorithm)
            schedule = self._schedule()
            if schedule != run.clock.schedule:
                warn_of_schedule(self.schedule, schedule)
            run.clock.schedule = schedule
            run.clock.accuracy = resolve_tolerance(algorithm.coder, self.TOLERANCE)
            run.assemble(algorithm, settings)
        return run

    # -- data into batches

    def _look_at(self, X: Any, weights: NDArray | None, *, whole: bool = False) -> None:
        """Look at rows before they are learned from; ``whole``: at all the data there are."""

    def _known(
        self, data: Any, weights: NDArray | None, y: object, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        """Return what is known of each row; ``y`` and ``ids`` are for models that use them."""
        return {"weights": weights, "ids": row_ids(data, data.shape[0], position, ids)}

    def _next_batch(
        self,
        X: Samples,
        sample_weight: ArrayLike | None,
        y: object = None,
        ids: ArrayLike | None = None,
        horizon: float = np.inf,
    ) -> tuple[RunState, Batch]:
        """Return the run, begun if there is none, and the next rows of its stream."""
        first = "_run" not in vars(self)
        if first:
            self._check_settings()
        rows = self._rows(X, reset=first)
        weights = None if sample_weight is None else check_weights(sample_weight, rows)
        run = self._begin() if first else self._go_on()
        run.clock.horizon, run.clock.pace = horizon, None
        self._look_at(rows, weights)
        data, position = X if hasattr(X, "iloc") else rows, run.n_rows
        known = self._known(data, weights, y, ids, position)
        return run, self._observe(rows, **known, position=position)

    # -- learning from batches

    def _fit(
        self, X: Samples, y: object, sample_weight: ArrayLike | None, ids: ArrayLike | None = None
    ) -> Self:
        """Learn from scratch; ``y`` and ``ids`` are for models that make something of them."""
        with Transaction(self):
            self._check_settings()
            rows = self._rows(X, reset=True)
            weights = check_weights(sample_weight, rows)
            run = self._begin()
            self._look_at(rows, weights, whole=True)
            known = self._known(X if hasattr(X, "iloc") else rows, weights, y, ids, 0)
            run.clock.horizon = check_observed(rows, weights, missing=self.missing)
            n_rows = rows.shape[0]
            to_the_end, n_epochs = self.n_epochs is None, self.n_epochs or PASSES
            n_batches = -(-n_rows // self.batch_size) * n_epochs
            context = self._open_callbacks(None if to_the_end else n_batches)
            # The order has a source of its own: what else is drawn while learning does not change
            # it.
            order = np.random.default_rng(run.rng.integers(2**63)) if self.shuffle else None
            batches = cut(rows, known, self.batch_size, n_epochs, order, self._observe)
            deadline = self._deadline()
            stopped = self._learn(batches, context, deadline, n_rows)
            if to_the_end and not stopped and run.has_state:
                blocks = cut(rows, known, BLOCK, 1, None, self._observe)
                self._settle([block for block in blocks if block.mass > 0], context, deadline)
            if context is not None:
                context.call_on_fit_task_end(estimator=self)
        return self

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

    def _learn(
        self,
        batches: Iterable[Batch],
        context: Any = None,
        deadline: float = np.inf,
        n_rows: float = np.inf,
    ) -> bool:
        """Run the loop over batches of ``n_rows``; return whether a callback or time ended it."""
        run = self._run
        after_step = partial(self._after_step, context=context, deadline=deadline)
        # The threads of BLAS and of numba in turn cost more than twice the time of one kind alone.
        with one_blas_thread:
            if run.clock.step == 0:
                batches = iter(batches)
                first = in_scale(batches, self.algorithm_.objective)
                batches = chain(self._open(first, n_rows), batches)
                if not run.has_state:
                    return False
            parts = run.state, self.algorithm_, run.clock, run.rng
            return learn(batches, *parts, after_step, run.pair())

    def _after_step(self, progress: Progress, context: Any, deadline: float) -> bool:
        """Keep what a step reports; return whether a callback or time ends the run."""
        run = self._run
        run.n_reseeded += progress.n_reseeded
        run.batch_objective = progress.delta.objective / progress.delta.mass
        stopped = context is not None and self._notify(context, progress)
        return stopped or time.monotonic() >= deadline

    def _settle(self, blocks: list[Batch], context: Any, deadline: float, **limits: Any) -> None:
        """Alternate over all of the data until that gains nothing more, or to other limits."""
        run, n_rounds = self._run, 0
        if not blocks or not self.algorithm_.updater.settles:
            return
        with one_blas_thread:
            for progress in rounds(blocks, run.state, self.algorithm_, run.clock, **limits):
                n_rounds += 1
                if self._after_step(progress, context, deadline):
                    return
        if n_rounds == MOST:
            warnings.warn(
                f"fit ended after {MOST} rounds over all rows, and the last ones still gained; go "
                "on from these atoms with init=model.components_.",
                NotConvergedWarning,
                stacklevel=4,
            )

    def _deadline(self) -> float:
        return np.inf if self.max_time is None else time.monotonic() + self.max_time

    # -- the start

    def _open(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Make the start from the first batches of ``n_rows`` rows; return those that it took."""
        if self._run.has_state:
            return []
        first = next((batch for batch in batches if batch.mass > 0), None)
        if first is None:
            return []
        check_memory(self.n_components, first.X.shape[1])
        self._start(self._starting_dictionary(first))
        return [first]

    def _known_of_data(self) -> dict[str, Any]:
        """Return what the model knows of the shape of its data before it learns from them."""
        return {name: getattr(self, name) for name in self.KNOWN}

    def _starting_from(self, atoms: NDArray) -> Any:
        """Return atoms as rows in the form that ``from_components`` takes."""
        return atoms

    def _starting_dictionary(self, batch: Batch) -> Dictionary:
        """Return the dictionary given, or one made from the first batch."""
        if isinstance(self.init, str):
            parts = self.algorithm_, self._run.rng
            return first_dictionary(batch, self.n_components, self.init, *parts)
        penalty: Any = self.algorithm_.objective.atoms
        shape = (self.n_components, batch.X.shape[1])
        given = check_start(self.init, shape).astype(batch.X.dtype)
        # Given atoms are scaled onto a simplex: the projection would cut small entries to zero.
        on_simplex = penalty.shape and penalty.shape.total
        atoms = penalty.normalize(given) if on_simplex else penalty.prox(given, 0.0)
        # Fixed atoms stay as given, inside the set or not.
        stays = are_fixed(fixed_atoms(self.fixed_components, len(given)), len(given))
        atoms[stays] = given[stays]
        return Rows(atoms)

    def _start(self, dictionary: Any) -> None:
        """Begin to learn from a dictionary, with an empty memory."""
        algorithm, (n_components, n_features) = self.algorithm_, dictionary.shape
        memory = self._memory(algorithm, n_components, n_features)
        self._run.start(State(dictionary, memory, Usage(n_components)), algorithm.objective.loss)

    def _memory(self, algorithm: Algorithm, n_components: int, n_features: int) -> Any:
        """Return an empty memory of the kind that the algorithm keeps."""
        return algorithm.statistics.start(n_components, n_features, algorithm.objective.loss)
