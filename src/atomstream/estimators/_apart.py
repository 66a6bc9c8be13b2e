"""A model that learns in slots, apart from each other, and takes in what they have learned."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any, Self

import numpy as np

from atomstream.cluster.learning import Course
from atomstream.cluster.rounds import Rounds
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import packed
from atomstream.core.batch import Batch
from atomstream.core.checks import generator
from atomstream.core.explaining import CodingOptions, Whole, measured
from atomstream.core.loop import Progress, learn
from atomstream.core.merging import Alone, Part, check_additive, improve, merged
from atomstream.core.parallel import one_blas_thread
from atomstream.estimators._rollback import Transaction


class LearningApart:
    """What rounds over shards ask of a model (`atomstream.cluster.learning.Course`)."""

    _run: Any
    rounds_report_: Any

    def _fit_shards(
        self,
        shards: Shards,
        engine: Any,
        slots: int | None,
        rounds: Rounds | None,
        horizon: float,
        on_bad_shard: str,
        store: Any,
    ) -> Self:
        """Learn from shards in rounds, with callbacks and the limit of time after each."""
        course = Course(
            self,
            shards,
            1 if slots is None else slots,
            rounds,
            horizon=horizon,
            on_bad_shard=on_bad_shard,
            store=store,
        )
        model: Any = self
        context, deadline = model._open_callbacks(None), model._deadline()

        def after(progress: Progress | None) -> bool:
            """Return whether a callback or time ends learning."""
            stopped = progress is not None and context is not None
            stopped = stopped and model._notify(context, progress)
            return bool(stopped) or time.monotonic() >= deadline

        self.rounds_report_ = course.report
        course.play(engine, after)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        return self

    def _check_apart(self, *, frozen: bool) -> None:
        """Refuse a model whose parts cannot be merged."""
        model: Any = self
        algorithm = model._assemble()
        check_additive(algorithm, frozen=frozen)
        if getattr(self, "scale", "none") != "none":
            raise ValueError(
                f"scale={model.scale!r} is learned along the stream, and slots would each learn "
                "their own; scale the shards beforehand."
            )

    def _rows_seen(self) -> tuple[int, bool]:
        """Return how many rows have come, and whether there is a dictionary."""
        if "_run" not in vars(self):
            return 0, False
        return self._run.n_rows, self._run.has_state

    def _packed(self) -> tuple[bytes, int]:
        """Return the model as bytes for the workers, and a seed for the slots of the next round."""
        if "_run" not in vars(self):
            # Whoever begins the run must draw the same numbers, should the task be done twice.
            twin: Any = copy(self)
            twin.random_state = generator(twin.random_state)
            return packed(twin), 0
        # The source moves on in `_take_in`: a round that fails has changed nothing.
        return packed(self), int(deepcopy(self._run.rng).integers(2**63))

    def _learn_alone(self, batches: Iterable[Any], *, horizon: float) -> Alone:
        """Learn from the rows of the only slot of a round, as serial learning does."""
        model: Any = self
        latest: list[Any] = [None]

        def noted() -> Iterator[Any]:
            """Yield the batches and keep the last."""
            for latest[0] in batches:
                yield latest[0]

        model.fit_stream(noted(), horizon=horizon)
        return Alone(model.learned_attributes(), latest[0])

    def _learn_apart(
        self,
        batches: Iterable[Any],
        *,
        fold: float,
        seed: Sequence[int],
        before: int,
        frozen: bool,
        shows: bool,
        horizon: float,
    ) -> Part:
        """Learn from the rows of a slot; atoms that nothing uses are left to the merge.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features)
        fold : float
            How many rows each row stands for, where the slot takes steps.
        seed : sequence of int
        before : int
            Rows of the slots before this one.
        frozen : bool
            Whether the dictionary stays as it is.
        shows : bool
            Whether the last batch comes back: what atoms that nothing uses are replaced by.
        horizon : float
            As in ``fit_stream``.
        """
        run = self._run
        run.rng = np.random.default_rng(list(seed))
        run.clock.n_samples += before
        first, whole, latest, objective = run.clock.n_samples, None, None, np.nan

        def note(progress: Progress) -> bool:
            nonlocal whole, objective
            if frozen:
                whole = progress.delta if whole is None else whole + progress.delta
            objective = float(progress.delta.objective / progress.delta.mass)
            return False

        with one_blas_thread:
            for batch, alone in self._apart(batches, 1.0 if frozen else fold, horizon):
                parts = run.state, run.algorithm.without_reseeding(), run.clock, run.rng
                learn([batch], *parts, note, frozen=frozen)
                latest = alone if shows and batch.mass > 0 else latest
        state = None if frozen else run.state
        return Part(run.clock.n_samples - first, run.clock, state, whole, latest, objective)

    def _apart(
        self, batches: Iterable[Any], fold: float, horizon: float
    ) -> Iterator[tuple[Batch, Batch]]:
        """Yield batches whose rows count several times, and the same whose rows count once."""
        model: Any = self
        for X in batches:
            _, batch = model._next_batch(X, None if fold == 1 else fold, horizon=horizon)
            weights = None if batch.mask is None or batch.weights is None else batch.weights / fold
            yield batch, replace(batch, weights=weights)

    def _take_in(self, parts: Iterator[Any]) -> Progress | None:
        """Take in what the slots of a round have learned, in their order; return what was done."""
        model: Any = self
        first = next(parts)
        if isinstance(first, Alone):
            model._set_learned(first.learned)
            return self._progress_of(first.latest)
        with Transaction(model):
            run = model._go_on()
            run.rng.integers(2**63)  # the seed of the round, which `_packed` has told
            algorithm = run.algorithm
            with one_blas_thread:
                outcome = merged(algorithm, run.state, run.clock, chain([first], parts))
            state, run.clock = outcome.state, outcome.clock
            if np.isnan(outcome.objective):
                return None
            run.state, run.batch_objective = state, outcome.objective
            if outcome.latest is None:
                algorithm.updater.update(state, algorithm.objective, run.clock)
                return None
            with one_blas_thread:
                codes, n_reseeded = improve(algorithm, state, run.clock, outcome.latest, run.rng)
            run.n_reseeded += n_reseeded
            delta = measured(outcome.latest, codes, state.dictionary, algorithm)
            return Progress(outcome.latest, codes, delta, n_reseeded)

    def _progress_of(self, X: Any) -> Progress | None:
        """Return the outcome of a step on these rows for callbacks, if there are any."""
        model: Any = self
        if X is None or not getattr(self, "_skl_callbacks", None) or not self._run.has_state:
            return None
        batch = model._observe(model._rows(X, reset=False))
        algorithm, state = model.algorithm_, self._run.state
        accuracy = self._run.clock.tolerance
        codes, delta, _ = Whole().explain(
            batch, state.dictionary, algorithm, CodingOptions(accuracy)
        )
        return Progress(batch, codes, delta, 0)
