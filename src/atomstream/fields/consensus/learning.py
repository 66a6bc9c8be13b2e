"""How a consensus learns: settings into replicates, data into batches that all of them get."""

import logging
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import KW_ONLY, field
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from atomstream.base import RandomSource, RowDraws, Samples, counted, generator, threads
from atomstream.estimators._calls import Notifier, Transaction
from atomstream.estimators._estimator import Estimator, estimator
from atomstream.estimators._given import are_shards, as_stream, check_no_shards
from atomstream.estimators._matrix import _OnlineMatrixFactorization
from atomstream.estimators._sklearn import CallbackSupportMixin, with_callbacks
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import LossChoice
from atomstream.fields.consensus.ensemble import Ensemble
from atomstream.fields.tensors.model import OnlineCPDictionary

log = logging.getLogger(__name__)

RANKS = range(5, 31)  # that are compared where none are given
# Rows to learn, and passes, where no number of passes is given.
ROWS_TO_LEARN, MAX_PASSES = 50_000, 10
ROWS_ALONE = 30_000  # of starts alone, which have all of the rows, and not three in five
MAX_SETTLED_ROWS = 5_000  # rows up to which replicates then alternate over all of them
ROWS_OF_STARTS = 10_000  # in place of 50,000 before rounds that go on until they have settled
TIMED = 3  # batches after which the time left is told
# Shares of entries other than zero: above the first a batch is made dense where the loss is a
# function of products, below the second sparse where it needs sums only for zeros; once for all.
DENSE, SPARSE = 0.02, 0.35


class _Step(NamedTuple):
    """A batch for all replicates: checked rows, their places in the pass, masses of a pass."""

    rows: Any
    places: NDArray
    horizons: NDArray


@estimator
class ConsensusLearning(CallbackSupportMixin, Estimator):
    """The learning half of `ConsensusNMF`."""

    n_components: Any = None
    _: KW_ONLY
    n_replicates: int = 100
    loss: LossChoice = "squared"
    model: Any = None
    holdout: float = 0.1
    bootstrap: bool | None = None
    to_the_end: bool = False
    rule: str = "auto"
    min_share: float = 0.7
    min_cosine: float = 0.9
    block_size: int = 1
    batch_size: int = 512
    n_epochs: int | None = None
    shuffle: bool = True
    n_jobs: int | None = None
    max_time: float | None = None
    random_state: RandomSource = None

    ensemble_: Ensemble = field(init=False)

    @with_callbacks
    def fit(self, X: Samples, y: object = None) -> Self:
        """Learn from scratch, in ``n_epochs`` passes over batches of ``batch_size`` rows.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        """
        with Transaction(self, anew=True):
            self._begin()
            rows = self._checked(X, reset=True)
            n_rows = rows.shape[0]
            n_epochs = self.n_epochs or self._n_passes(n_rows)
            self._say_cost(n_rows, n_epochs)
            n_batches = n_epochs * -(-n_rows // self.batch_size)
            begun = time.monotonic()
            stopped = self._learn(self._cut(rows, n_epochs), n_batches)
            settles = self.n_epochs is None or n_epochs > self._n_passes(n_rows)
            if settles and n_rows <= MAX_SETTLED_ROWS and not stopped:
                deadline = begun + (np.inf if self.max_time is None else self.max_time)
                rows = rows if sp.issparse(rows) else self._served(rows)
                with threads(self.n_jobs):
                    self.ensemble_.settle(
                        rows, front=self.front_, deadline=deadline, to_the_end=self.to_the_end
                    )
            self._conclude()
        return self

    @with_callbacks
    def fit_stream(
        self,
        batches: Iterable[Any],
        *,
        n_batches: int | None = None,
        horizon: float = np.inf,
        engine: Any = None,
    ) -> Self:
        """Go on learning from a stream of batches, finite or not: an item is a step of all.

        Conclusions are drawn when they are first asked for.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features)
        n_batches : int, optional
            How many to take at most; without it all there are.
        horizon : float, default=inf
            For a second and later pass over the same rows in the same order, the number of rows of
            one pass: each row has then the weights that it had in the first.
        engine : None, str, Executor, dask.distributed.Client or Engine, optional
            Where ranks learn from `atomstream.cluster.shards` in one pass, each by itself: the same
            as here, to the bit. Callbacks and ``max_time`` are left out then.
        """
        if are_shards(batches):
            return self._learn_from_shards(batches, engine)
        check_no_shards(batches, engine=engine)
        stream, known = as_stream(batches, n_batches)
        self._learn((self._next(X, horizon) for X in stream), known)
        return self

    def _learn_from_shards(self, shards: Any, engine: Any) -> Self:
        """Let each rank learn from all shards, and take in what all of them have learned."""
        from atomstream.cluster.jobs import learned_apart
        from atomstream.cluster.worker import bare

        with Transaction(self):
            if not hasattr(self, "ensemble_"):
                self._begin()
            n_ranks, learner = len(self.ensemble_.ranks), RankLearner(bare(self))
            parts = learned_apart(learner, n_ranks, shards, engine, self.batch_size)
            self.__dict__.update(parts[0])
            self.ensemble_ = Ensemble.joined([part["ensemble_"] for part in parts])
            self.__dict__.pop("_found", None)
        return self

    def _learn_rank(self, number: int, batches: Iterator[Any]) -> dict[str, Any]:
        """Return all that learning changes, for the replicates of one rank."""
        self.ensemble_ = self.ensemble_.of_rank(number)
        begun = self.ensemble_.n_rows > 0
        steps = (self._next(X, np.inf, first=not begun and not n) for n, X in enumerate(batches))
        self._learn(steps, None)
        known = ("ensemble_", "front_", "n_steps_", "n_features_in_", "feature_names_in_")
        return {name: vars(self)[name] for name in known if name in vars(self)}

    def partial_fit(self, X: Samples, y: object = None) -> Self:
        """Make one step of every replicate on these rows, uncut.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        """
        self._learn((self._next(rows, np.inf) for rows in [X]), 1)
        return self

    def joined(self, other: Self) -> Self:
        """Return a model of the ranks of two that have learned alike from the same rows.

        It is what `fit` makes of all of these ranks, to the bit: replicates of a rank do not
        depend on those of others.

        Parameters
        ----------
        other : ConsensusNMF
            With the same settings and ``random_state``, fitted to other ranks.

        Raises
        ------
        ValueError
            For models of other seeds or rows, and for ranks that both have.
        """
        ours, theirs = self.ensemble_, other.ensemble_
        alike = ours.draws == theirs.draws and ours.n_rows == theirs.n_rows
        if not alike or set(ours.ranks) & set(theirs.ranks):
            raise ValueError(
                "joined needs models of different ranks that learned from the same rows with the "
                f"same random_state, got ranks {ours.ranks} and {theirs.ranks}."
            )
        single = [each.of_rank(i) for each in (ours, theirs) for i in range(len(each.ranks))]
        whole = copy(self)
        whole.ensemble_ = Ensemble.joined(sorted(single, key=lambda each: each.ranks))
        whole.n_components = whole.ensemble_.ranks
        whole.__dict__.pop("_found", None)
        return whole

    # -- settings

    def _n_passes(self, n_rows: int) -> int:
        """Return the passes over so many rows where their number is not given."""
        algorithm, n_wanted = self.front_.algorithm_, ROWS_TO_LEARN
        exact = algorithm.updater.descends_on_full_data and algorithm.objective.loss.quadratic
        if exact and not self.ensemble_.draws.bootstrap:
            n_wanted = ROWS_ALONE if n_rows > MAX_SETTLED_ROWS else ROWS_OF_STARTS
        if self.to_the_end and n_rows <= MAX_SETTLED_ROWS:
            n_wanted = 1  # only a start: the rounds that follow go to the end
        return min(MAX_PASSES, max(1, -(-n_wanted // n_rows)))

    def check(self) -> None:
        """Refuse settings out of range."""
        self._validate_params()
        template = self._template()
        template.set_params(n_components=self._ranks()[0]).check()

    def _ranks(self) -> list[int]:
        given = RANKS if self.n_components is None else self.n_components
        single = np.ndim(given) == 0 and not isinstance(given, str | Iterable)
        ranks = np.array([given] if single else sorted(set(given)))
        if not len(ranks) or ranks.dtype.kind not in "iu" or ranks[0] < 1:
            raise ValueError(
                f"n_components must be a whole number or several, each at least 1, got {given!r}."
            )
        return [int(rank) for rank in ranks]

    def _template(self) -> Any:
        """Return the model that replicates are clones of."""
        if self.model is None:
            return OnlineNMF(loss=self.loss)
        if not isinstance(self.model, _OnlineMatrixFactorization | OnlineCPDictionary):
            raise ValueError(
                "model must be an OnlineNMF, an OnlineDictionaryLearning or an OnlineCPDictionary, "
                f"which learn samples with weights, got {self.model!r:.80}."
            )
        scale = getattr(self.model, "scale", "none")
        if scale != "none":
            raise ValueError(
                f"Replicates would each have a scale of their own, got scale={scale!r}; "
                "scale the rows first."
            )
        if self.loss != "squared":
            raise ValueError(f"loss={self.loss!r} belongs into model=, which is given.")
        return clone(self.model)

    def _begin(self) -> None:
        """Start with replicates that have learned nothing."""
        self.check()
        template, ranks = self._template(), self._ranks()
        self.seed_ = int(generator(self.random_state).integers(2**63))
        # Replicates take turns in leaving a part out, so that every row is judged by some.
        n_parts = round(1 / self.holdout)
        self.front_ = clone(template).set_params(n_components=ranks[0], random_state=self.seed_)
        # One model checks and cuts the data for all replicates.
        self.front_._begin()
        loss, resampled = self.front_.algorithm_.objective.loss, self.bootstrap
        if resampled is None:
            resampled = not loss.quadratic
        alone = loss.ratio_power is not None and not resampled
        if alone and isinstance(template.init, str) and template.init == "auto":
            # Singular vectors are one start for all: replicates would end alike, and miss others.
            template.set_params(init="samples")
        draws = RowDraws(self.seed_, n_parts, self.block_size, resampled)
        self.ensemble_ = Ensemble(template, ranks, self.n_replicates, draws)
        self.n_steps_ = 0

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Return rows as the models take them."""
        front = self.front_
        rows = front._rows(X, reset=reset)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if name in vars(front):
                setattr(self, name, getattr(front, name))
        return rows

    # -- batches

    def _cut(self, rows: Any, n_epochs: int) -> Iterator[_Step]:
        """Yield the batches of all passes."""
        n_rows, draws = rows.shape[0], self.ensemble_.draws
        rng = np.random.default_rng(self.seed_)
        blocks = (np.arange(i, min(i + 4096, n_rows)) for i in range(0, n_rows, 4096))
        # The mass of a pass differs by replicate, for each counts rows its own number of times.
        horizons = sum(draws.weights(self.n_replicates, block).sum(axis=1) for block in blocks)
        for epoch in range(n_epochs):
            mass = np.asarray(horizons) if epoch else np.full(self.n_replicates, np.inf)
            order = rng.permutation(n_rows) if self.shuffle else np.arange(n_rows)
            for start in range(0, n_rows, self.batch_size):
                places = order[start : start + self.batch_size]
                yield _Step(rows[places], places, mass)

    def _next(self, X: Any, horizon: float, *, first: bool = False) -> _Step:
        """Return the next rows of a stream; ``first`` where only the start has been made."""
        if not hasattr(self, "ensemble_"):
            self._begin()
            first = True
        rows = self._checked(X, reset=first)
        places = self.ensemble_.n_rows + np.arange(rows.shape[0])
        if np.isfinite(horizon):
            # A later pass meets the same rows in the same order: each has its weights again.
            places %= int(horizon)
        # On average: a replicate leaves one part of the rows out.
        mass = horizon * (1 - 1 / self.ensemble_.draws.n_parts)
        return _Step(rows, places, np.full(self.ensemble_.n_replicates, mass))

    def _learn(self, steps: Iterator[_Step], n_batches: int | None) -> bool:
        """Make steps until the stream, the time or a callback ends; not the stream: return true."""
        self._validate_params()  # before a limit of time is reckoned with
        begun, after, n_made, stopped = time.monotonic(), Notifier(self, n_batches), 0, False
        while not stopped:
            with Transaction(self):
                step = next(steps, None)
                if step is None:
                    break
                self._make(step)
            n_made += 1
            if n_made == TIMED and n_batches is not None:
                left = (n_batches - n_made) * (time.monotonic() - begun) / n_made
                log.info("About %.0f s are left.", left)
            stopped = after.notify(step.rows)
            if after.late:
                stopped = True
                log.info("max_time ends learning after %s.", counted(n_made, "batch", "batches"))
        after.close()
        return stopped

    def _make(self, step: _Step) -> None:
        """Make one step of all replicates."""
        rows = self._served(step.rows)
        with threads(self.n_jobs):
            self.ensemble_ = self.ensemble_.stepped(
                rows, step.places, step.horizons, front=self.front_
            )
        self.n_steps_ += 1
        self.__dict__.pop("_found", None)

    def _served(self, rows: Any) -> Any:
        """Return rows dense or sparse, whichever costs all models together less."""
        loss, size = self.front_.algorithm_.objective.loss, rows.shape[0] * rows.shape[1]
        if sp.issparse(rows):
            return rows.toarray() if loss.quadratic and rows.nnz > DENSE * size else rows
        if loss.ratio_power is None or self.front_.missing:
            return rows
        return sp.csr_array(rows) if np.count_nonzero(rows) < SPARSE * size else rows

    def _say_cost(self, n_rows: int, n_epochs: int) -> None:
        ranks = self._ranks()
        log.info(
            "Learning %s (%s with %s each) in %s over %s.",
            counted(len(ranks) * self.n_replicates, "model"),
            counted(len(ranks), "rank"),
            counted(self.n_replicates, "replicate"),
            counted(n_epochs, "pass", "passes"),
            counted(n_rows, "row"),
        )

    @abstractmethod
    def _conclude(self) -> Any:
        """Compare the replicates."""


class RankLearner:
    """A model of which workers learn one rank each."""

    def __init__(self, model: ConsensusLearning) -> None:
        self._model = model

    def learn_part(self, number: int, batches: Iterator[Any]) -> dict[str, Any]:
        """Return what the rank of this number has learned."""
        return self._model._learn_rank(number, batches)
