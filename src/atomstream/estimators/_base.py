"""The body of the dictionary estimators: settings, data into batches, learning."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.base import RandomSource, Samples, check_memory, generator, threads
from atomstream.base.fields import field_names
from atomstream.dictionaries import Dictionary, Rows
from atomstream.estimators import _validation
from atomstream.estimators._calls import Notifier, Transaction
from atomstream.estimators._estimator import estimator
from atomstream.estimators._given import are_shards, as_stream, check_no_shards, rows_and_weights
from atomstream.estimators._settling import Settling
from atomstream.estimators._sklearn import CallbackSupportMixin, with_callbacks
from atomstream.estimators.registry import SCHEDULES, ScheduleChoice, resolve, resolve_tolerance
from atomstream.loop import Algorithm, Learner, Progress, check_compatible
from atomstream.loop.first_dictionary import first_dictionary, inside, redraw
from atomstream.problem import Batch, Clock, joined

PASSES = 10  # before the rounds over all rows


@estimator
class OnlineDictionary(CallbackSupportMixin, Settling):
    """Common body of the dictionary estimators; a model adds its parameters and their algorithm.

    What a model may replace: `_make_algorithm` and `_check_settings` (its parameters),
    `_rows` and `_samples` (what is no row by itself), `_learn_scale`, `_row_facts` and `_to_batch`
    (how data become a batch), `_first_batches` and `_starting_dictionary` (how a start is made).
    """

    SIGNED: ClassVar[str] = "use OnlineDictionaryLearning"  # for data with negative entries
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

    def _row_facts(
        self, data: Any, weights: NDArray | None, y: object, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        """Return what is known of each row; ``y`` and ``ids`` are for models that use them."""
        return {"weights": weights, "ids": _validation.row_ids(data, data.shape[0], position, ids)}

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
        return run, self._to_batch(rows, **known, position=position)

    # -- learning from batches

    def _passes(self, n_rows: int) -> int:
        """Return how many passes `fit` makes where their number is not given."""
        return PASSES

    def _fit(
        self, X: Samples, y: object, sample_weight: ArrayLike | None, ids: ArrayLike | None = None
    ) -> Self:
        """Learn from scratch; ``y`` and ``ids`` are for models that make something of them."""
        with Transaction(self):
            self._check_settings()
            rows, make = self._rows_to_learn(X)
            weights = _validation.check_weights(sample_weight, rows)
            run = self._begin()
            self._learn_whole_scale(rows, weights)
            known = self._row_facts(X if hasattr(X, "iloc") else rows, weights, y, ids, 0)
            run.clock.horizon = self._mass(rows, weights)
            n_rows = rows.shape[0]
            to_the_end, n_epochs = self.n_epochs is None, self.n_epochs or self._passes(n_rows)
            n_batches = -(-n_rows // self.batch_size) * n_epochs
            after = Notifier(self, None if to_the_end else n_batches)
            # The order has a source of its own, so that what else is drawn does not change it.
            order = np.random.default_rng(run.rng.integers(2**63)) if self.shuffle else None
            batches = _validation.cut(rows, known, self.batch_size, n_epochs, order, make)
            stopped = self._learn(batches, after, n_rows)
            run.n_iter = -(-run.clock.n_samples // n_rows)
            if to_the_end and not stopped and run.has_state:
                self._settle_all(rows, known, after)
            self._review()
            after.close()
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
                first = _validation.in_scale(batches, self.algorithm_.objective)
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

    # -- the start

    def _first_batches(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Make the start from the first batches of ``n_rows`` rows; return those that it took."""
        if self._learner.has_state:
            return self._project_start(batches)
        first = next((b for b in batches if b.mass > 0), None)
        if first is None:
            return []
        check_memory(self.n_components, first.X.shape[1])
        if self.algorithm_.objective.loss.trims and isinstance(self.init, str):
            return self._warmed_up(chain([first], batches), n_rows)
        self._start(self._starting_dictionary(first))
        if not isinstance(self.init, str):
            self._redraw_start(first)
        if first.has_entry_weights and (self.n_epochs or n_rows == np.inf):
            self._current().learn_first(first, choose=isinstance(self.init, str))
        return [first]

    def _warmed_up(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Keep rows until outliers can be told from atoms; then make a start from all of them."""
        from atomstream.loop import n_warm_up_rows

        run, wanted = self._learner, n_warm_up_rows(self.n_components, n_rows)
        for batch in batches:
            run.waiting = [*run.waiting, batch]
            if sum(kept.X.shape[0] for kept in run.waiting) >= wanted:
                break
        else:
            return []
        taken, run.waiting = run.waiting, []
        self._start(self._starting_dictionary(joined(taken)))
        return list(taken)

    def _starting_from(self, atoms: NDArray) -> Any:
        """Return atoms as rows in the form that ``from_components`` takes."""
        return atoms

    def _starting_dictionary(self, batch: Batch) -> Dictionary:
        """Return the dictionary given, or one made from the first batch."""
        if isinstance(self.init, str):
            parts = self.algorithm_, self._learner.rng
            return first_dictionary(batch, self.n_components, self.init, *parts)
        shape = (self.n_components, batch.X.shape[1])
        given = _validation.check_start(self.init, shape).astype(batch.X.dtype)
        return Rows(inside(given, self.algorithm_))

    def _project_start(self, batches: Iterator[Batch]) -> list[Batch]:
        """Bring atoms that learning starts from into their set: codes of others are no good.

        Returns the batches that were looked at, up to the first one that counts.
        """
        dictionary, taken = self.state_.dictionary, list[Batch]()
        if type(dictionary) is Rows:
            dictionary.assign(inside(dictionary.atoms(), self.algorithm_))
        for batch in batches:
            taken.append(batch)
            if batch.mass > 0:
                self._redraw_start(batch)
                break
        return taken

    def _redraw_start(self, batch: Batch) -> None:
        """Replace given atoms that add nothing to others by rows of the first batch."""
        run = self._current()
        run.n_reseeded += redraw(run.state, batch, run.algorithm, run.rng)

    def _start(self, dictionary: Any) -> None:
        """Begin to learn from a dictionary, with an empty memory."""
        self._current().start(dictionary)
