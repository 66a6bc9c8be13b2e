"""A model as rounds over shards see it: what is sent to slots, and what comes back from them."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from atomstream.base import dense, generator
from atomstream.cluster.learning import RoundDriver
from atomstream.cluster.rounds import Rounds
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import bare
from atomstream.estimators._calls import Notifier, Transaction
from atomstream.loop import (
    CodingOptions,
    Progress,
    SerialResult,
    SlotResult,
    check_additive,
    slot_result,
)
from atomstream.problem import Batch


def fit_shards(
    model: Any, shards: Shards, engine: Any, slots: int | None, rounds: Rounds | None, **how: Any
) -> None:
    """Let a model learn from shards in rounds, with callbacks and the limit of time after each."""
    driver = RoundDriver(SlotLearner(model), shards, 1 if slots is None else slots, rounds, **how)
    after = Notifier(model)
    model.rounds_report_ = driver.report
    driver.run(engine, after)
    after.close()


class SlotLearner:
    """A model that learns in slots, apart from each other, and takes in what they have learned.

    Parameters
    ----------
    model : OnlineDictionary
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def check(self, *, apart: bool, frozen: bool) -> None:
        """Refuse settings out of range, and ``apart`` a model whose slots cannot be merged."""
        model = self.model
        model.check()
        if not apart:
            return
        check_additive(model._assemble(), frozen=frozen)
        if getattr(model, "scale", "none") != "none":
            raise ValueError(
                f"scale={model.scale!r} is learned along the stream, and slots would each learn "
                "their own; scale the shards beforehand."
            )

    @property
    def is_quadratic(self) -> bool:
        """Whether the loss is the squared one."""
        return bool(self.model._assemble().objective.loss.quadratic)

    @property
    def objective(self) -> float:
        """The mean objective of the last batches; NaN before any was learned from."""
        learner = vars(self.model).get("_learner")
        return float("nan") if learner is None else float(learner.batch_objective)

    def noise(self, X: Any) -> float:
        """Return the share of noise in the variance of first rows, or NaN where none can be told.

        No atoms leave less than what lies beyond as many principal components.
        """
        learner = self.model._current()
        batch = self.model._to_batch(self.model._rows(X, reset=False))
        (n, d), r = batch.X.shape, learner.state.dictionary.shape[0]
        if batch.mask is not None or min(n - 1, d) <= r:
            return float("nan")
        # Of the rows, for features may be many.
        products = np.asarray(dense(batch.X @ batch.X.T), float)
        products -= products.mean(axis=0)
        products -= products.mean(axis=1, keepdims=True)
        energies = np.linalg.eigvalsh(products)
        share = energies[:-r].sum() / max(energies.sum(), np.finfo(float).tiny)
        # Noise lies in the first components, too.
        return float(share * (n - 1) * d / ((n - 1 - r) * (d - r)))

    def rows_seen(self) -> tuple[int, bool]:
        """Return how many rows have come, and whether there is a dictionary."""
        learner = vars(self.model).get("_learner")
        return (0, False) if learner is None else (learner.n_rows, learner.has_state)

    def packed(self) -> tuple[bytes, int]:
        """Return this as bytes for the workers, and a seed for the slots of the next round."""
        model, seed = bare(self.model), 0
        if "_learner" in vars(model):
            seed = model._learner.next_seed()
        else:  # whoever begins must draw the same numbers, should the task be done twice
            model.random_state = generator(model.random_state)
        return pickle.dumps(SlotLearner(model), protocol=5), seed

    def learn_alone(self, batches: Iterable[Any], *, horizon: float) -> SerialResult:
        """Learn from the rows of the only slot of a round, as serial learning does."""
        latest: list[Any] = [None]

        def noted() -> Iterator[Any]:
            """Yield the batches and keep the last."""
            for latest[0] in batches:
                yield latest[0]

        self.model.fit_stream(noted(), horizon=horizon)
        return SerialResult(self.model.learned_attributes(), latest[0])

    def learn_apart(
        self,
        batches: Iterable[Any],
        *,
        multiplicity: float,
        seed: Sequence[int],
        before: int,
        frozen: bool,
        keep_latest: bool,
        horizon: float,
    ) -> SlotResult:
        """Learn from the rows of one slot of several.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features)
        multiplicity : float
            How many rows each row stands for, where the slot takes steps.
        seed : sequence of int
        before : int
            Rows of the slots before this one.
        frozen, keep_latest : bool
            As in `slot_result`; in the batch that is kept every row counts once.
        horizon : float
            As in ``fit_stream``.
        """
        learner, times = self.model._current(), 1.0 if frozen else multiplicity
        # A slot draws by its place in the round, never by who runs it.
        learner.rng = np.random.default_rng(list(seed))
        # Rows are named by their place in the stream, of which slots before this one have a part.
        learner.clock.n_samples += before
        weight = None if times == 1 else times
        rows = (self.model._next_batch(X, weight, horizon=horizon)[1] for X in batches)
        result = slot_result(learner, rows, frozen=frozen, keep_latest=keep_latest)
        return replace(result, latest=_counted_once(result.latest, times))

    def take_in(self, results: Iterator[Any]) -> Progress | None:
        """Take in what the slots of a round have learned, in their order; return what was done."""
        model, first = self.model, next(results)
        # A round of one slot is serial learning: what it ends with is the next state as it stands.
        if isinstance(first, SerialResult):
            model._set_learned(first.learned)
            return self._progress_of(first.latest)
        with Transaction(model):
            return model._updated_learner().take_in(chain([first], results))

    def _progress_of(self, X: Any) -> Progress | None:
        """Return the outcome of a step on these rows for callbacks, if there are any."""
        model = self.model
        if X is None or not getattr(model, "_skl_callbacks", None):
            return None
        learner = model._current()
        if not learner.has_state:
            return None
        batch, options = model._to_batch(model._rows(X, reset=False)), learner.clock.tolerance
        explained = learner.algorithm.explain(
            batch, learner.state.dictionary, CodingOptions(options)
        )
        return Progress(batch, explained[0], explained[1], 0)


def _counted_once(batch: Batch | None, times: float) -> Batch | None:
    """Return a batch whose rows counted several times with rows that count once."""
    if batch is None or batch.weights is None:
        return batch
    # Without a mask weights were nothing but the multiplicity.
    return replace(batch, weights=None if batch.mask is None else batch.weights / times)
