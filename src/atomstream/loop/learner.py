"""One learner: an algorithm, what it has learned, and where its stream stands.

Estimators, slots, ensembles and twins each hold one. Everything that learning changes is in it, so
it is copied, saved and rolled back whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from operator import is_
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Choice, threads
from atomstream.base.saved_fields import check_fields, count, each, field_names, number, part
from atomstream.dictionaries.base import Dictionary
from atomstream.loop.explaining import CodingOptions, lengths
from atomstream.loop.online import Algorithm, Progress, learn
from atomstream.loop.reactive import Reactive
from atomstream.loop.scaling import Scaling
from atomstream.loop.settling import rounds
from atomstream.losses import Loss
from atomstream.memory import Delta
from atomstream.memory.state import State, Usage
from atomstream.problem import Accuracy, Batch, Clock

if TYPE_CHECKING:
    from atomstream.loop.merging import SlotResult
    from atomstream.loop.seen import Seen

log = logging.getLogger(__name__)

SHARES = Accuracy(gap=1e-3)  # of codes whose sums alone count
FIRST_ROUNDS = 100  # over the first batch of a stream whose entries have weights

# What files hold of a learner.
SAVED = (
    *(part("state", State, optional=True), part("clock", Clock)),
    *(part("rng", np.random.Generator), "loss"),
    *(count("n_reseeded"), count("n_iter", optional=True), number("batch_objective")),
    each(part("waiting", Batch)),
    *(part("scaling", Scaling, optional=True), part("reactive", Reactive, optional=True)),
    *(part("ridge", Choice, optional=True), part("seen", "spanning", optional=True)),
    part("rounds", "take", optional=True),
)
NAMES = field_names(SAVED)


class Learner:
    """An algorithm, what it has learned so far, and where its stream stands.

    Attributes
    ----------
    clock : Clock
    rng : Generator
        The one source of randomness.
    state : State
        Absent until a starting dictionary has been made.
    loss : Loss
        The loss that the memory was made for; absent as the state is.
    waiting : sequence of Batch
        Rows kept until there are enough for a starting dictionary; never changed in place.
    n_reseeded : int
        Atoms replaced because nothing used them.
    n_iter : int
        Passes that `fit` has made, and rounds over all rows.
    batch_objective : float
        Mean objective of the last batch, before the update it caused.
    scaling : Scaling
        The scale of the columns; absent where they have none.
    ridge : Choice
        The strength of the squared penalty on codes that was found in the data; absent where it was
        given, or no entry has been missing.
    seen : Seen
        Figures of past rows; absent where none may be missing and columns keep their means.
    reactive : Reactive
        The second learner; absent where the schedule needs none.
    rounds : StreamedRounds
        Those over all rows of a stream; absent where none has begun since the last step.
    algorithm : Algorithm
        The parts that learn, as long as `is_current`.
    n_jobs : int or None
        Threads that learning may use, as of `atomstream.base.threads`.
    """

    clock: Clock
    rng: np.random.Generator
    state: State
    loss: Loss
    waiting: Sequence[Batch] = ()
    scaling: Scaling
    ridge: Choice
    seen: Seen
    reactive: Reactive
    rounds: Any
    n_reseeded: int = 0
    n_iter: int = 0
    batch_objective: float = np.nan
    algorithm: Any
    n_jobs: int | None = None
    _settings: list[Any] | None = None

    def __init__(self, clock: Clock, rng: np.random.Generator) -> None:
        self.clock = clock
        self.rng = rng

    # -- the algorithm

    def is_current(self, settings: list[Any]) -> bool:
        """Return whether ``algorithm`` was assembled from these very values."""
        return self._settings is not None and all(map(is_, settings, self._settings))

    def assemble(self, algorithm: Algorithm | Any, settings: list[Any]) -> None:
        """Learn with this algorithm from now on; ``settings`` are what it was assembled from."""
        self.algorithm = algorithm
        # A list or dict may change in place without its identity.
        changeable = any(isinstance(value, list | dict) for value in settings)
        self._settings = None if changeable else settings

    # -- learning

    def start(self, dictionary: Dictionary | Any) -> None:
        """Begin to learn from a starting dictionary, with an empty memory."""
        (n_components, n_features), loss = dictionary.shape, self.algorithm.objective.loss
        memory = self.algorithm.statistics.start(n_components, n_features, loss)
        self.state, self.loss = State(dictionary, memory, Usage(n_components)), loss

    def join(self, groups: NDArray) -> None:
        """Make one atom of each group, (n_groups, n_components); their codes add up.

        Raises
        ------
        ValueError
            For memories whose sums are not linear in the codes, and beside a second learner.
        """
        if "reactive" in vars(self):
            raise ValueError("Atoms do not join under schedule='adaptive', which has two of each.")
        vars(self).pop("rounds", None)
        self.state = self.state.joined(groups)

    def learn(
        self, batches: Iterable[Batch], after: Callable[[Progress], bool] | None = None
    ) -> bool:
        """Run the loop over batches; return whether ``after``, called after each step, ended it."""
        vars(self).pop("rounds", None)  # a step changes the atoms that a round has begun with
        reactive, parts = self._pair(), (self.state, self.algorithm, self.clock, self.rng)

        def follow(progress: Progress) -> bool:
            """Let the second learner see the batch, and keep what the step reports."""
            if reactive is not None and reactive.follow(progress.batch, progress.delta, *parts):
                log.info("Step %d: the stream has changed; the past is left.", self.clock.step)
            return self._note(progress, after)

        return learn(batches, *parts, follow)

    def settle(
        self,
        blocks: list[Batch],
        after: Callable[[Progress | None], bool],
        *,
        choose: bool = False,
        **limits: Any,
    ) -> int | None:
        """Alternate over all of the data, as `rounds`; return their number, None if stopped.

        Updaters that do not settle on data at hand make no round. With ``choose`` the atoms at hand
        stand against other starts, where entries have weights (`choose_start`). Without ``limits``
        codes and atoms free of penalties are found entry by entry under Kullback-Leibler.
        """
        vars(self).pop("rounds", None)  # as in `learn`
        updater = self.algorithm.updater
        if blocks and updater.folds > 1 and self.algorithm.coder.uses_all_atoms:
            from atomstream.loop.whole_features import settle_on_whole_features

            parts = (blocks, self.state, self.algorithm)
            with threads(self.n_jobs):
                settle_on_whole_features(*parts, self.clock, self.rng, lambda: after(None))
        if not blocks or not updater.descends_on_full_data:
            return 0
        # Models that only read a stream do not load it.
        from atomstream.loop.coordinates import coordinate_rounds, settles_by_coordinates

        n_rounds = 0
        by_coordinates = not limits and settles_by_coordinates(blocks, self.algorithm)
        road = coordinate_rounds if by_coordinates else rounds
        with threads(self.n_jobs):
            if choose and any(block.has_entry_weights for block in blocks):
                from atomstream.loop.short_runs import choose_start

                choose_start(blocks, self.state, self.algorithm, self.rng)
            for progress in road(blocks, self.state, self.algorithm, self.clock, **limits):
                n_rounds, self.n_iter = n_rounds + 1, self.n_iter + 1
                if self._note(progress, after):
                    return None
        return n_rounds

    def add_to_round(self, batch: Batch) -> Progress | None:
        """Add rows to a round over all rows; None where the updater settles on no data."""
        if not self.algorithm.updater.descends_on_full_data or batch.mass == 0:
            return None
        from atomstream.loop.streamed_rounds import StreamedRounds

        if "rounds" not in vars(self):
            self.rounds = StreamedRounds(self.state, self.algorithm)
        with threads(self.n_jobs):
            progress: Progress = self.rounds.take(batch, self.state, self.algorithm)
        self._note(progress, None)
        return progress

    def end_round(self) -> bool:
        """Improve the atoms by the rows of the round; return whether more would gain nothing."""
        if "rounds" not in vars(self) or not self.rounds.mass:
            return True
        clock = copy(self.clock)
        clock.weight = 1.0  # as in `rounds`
        self.n_iter, self.batch_objective = self.n_iter + 1, self.rounds.objective
        with threads(self.n_jobs):
            self.rounds.finish(self.state, self.algorithm, clock)
        return bool(self.rounds.settled)

    def measure_usage(self, batch: Batch) -> None:
        """Let the usage of the atoms be that of the codes of a batch; nothing is learned."""
        if batch.mass > 0:
            parts, objective = self.algorithm, self.algorithm.objective
            with threads(self.n_jobs):
                codes = parts.coder.encode(batch, self.state.dictionary, objective, SHARES).values
            sizes = lengths(self.state.dictionary, objective.atoms)
            usage = batch.row_weights @ np.abs(codes) * sizes
            self.state.usage.absorb(Delta(usage=usage, objective=0.0, mass=batch.mass), 1.0)

    def learn_first(self, batch: Batch, *, choose: bool) -> None:
        """Learn the first batch of a stream whose entries have weights; it is no step.

        Where few rows have most of the weight, steps from a poor start end in poor minima. It is of
        no use before all rows are learned to their end.
        """
        self.settle([batch], lambda _: False, choose=choose, most=FIRST_ROUNDS)
        self.n_iter = 0  # of `fit`, which has made neither a pass nor a round of all rows

    def _note(self, progress: Progress, after: Callable[[Progress], bool] | None) -> bool:
        """Keep what a step reports, and hand it on."""
        means = "scaling" in vars(self) and self.scaling.moves_offset
        if means or self.algorithm.missing:
            self._look(progress, means)
        self.n_reseeded += progress.n_reseeded
        self.batch_objective = progress.delta.objective / progress.delta.mass
        return after is not None and after(progress)

    def _look(self, progress: Progress, means: bool) -> None:
        """Note the span of a batch, and the means that another offset of columns changes B by."""
        from atomstream.loop.seen import Seen

        batch, codes = progress.batch, progress.codes.values
        seen = vars(self).get("seen", Seen()).spanning(batch)
        if means:
            whole = batch.mask is None
            X = batch.X if whole else batch.complete(self.state.dictionary.decode(codes))
            seen = seen.averaged(codes, X, batch.row_weights, self.clock.weight)
        self.seen = seen

    def _pair(self) -> Reactive | None:
        """Return the second learner, begun or dropped as the schedule asks for one or not."""
        if not getattr(self.clock.schedule, "paired", False):
            vars(self).pop("reactive", None)
        elif "reactive" not in vars(self):
            self.reactive = Reactive(self.state, self.clock)
        return vars(self).get("reactive")

    # -- rounds over slots

    def take_in(self, results: Iterable[SlotResult]) -> Progress | None:
        """Take in what the slots of a round have learned, in their order; return what was done.

        The dictionary is improved for what all of them have added up to, judged by the last batch
        of the first slot. None comes back where there is no such batch.
        """
        from atomstream.loop.merging import SWEEPS, merged

        vars(self).pop("rounds", None)  # as in `learn`
        self.rng.integers(2**63)  # the seed of the round, which `next_seed` has told
        algorithm = self.algorithm
        with threads(self.n_jobs):
            outcome = merged(algorithm, self.state, self.clock, results)
            self.clock, latest = outcome.clock, outcome.latest
            if np.isnan(outcome.objective):
                return None
            self.state, self.batch_objective = outcome.state, outcome.objective
            if latest is None:
                algorithm.updater.update(self.state, algorithm.objective, self.clock)
                return None
            options = CodingOptions(self.clock.tolerance)
            codes, delta, shown = algorithm.explain(latest, self.state.dictionary, options)
            # Updaters that cross-fit judge by codes found on other features; without codes they
            # take the step that promises not to raise the surrogate.
            shown = shown if algorithm.updater.folds == 1 else []
            # Every update is judged: majorisers of the past alone would pull the average back.
            for _ in range(SWEEPS):
                algorithm.updater.update(self.state, algorithm.objective, self.clock, shown)
            n_reseeded = algorithm.reseed(latest, codes, self.state, self.rng)
        self.n_reseeded += n_reseeded
        return Progress(latest, codes, delta, n_reseeded)

    def next_seed(self) -> int:
        """Return the seed of the slots of the next round; `take_in` draws it."""
        # A copy is asked, so that telling the seed draws nothing.
        return int(deepcopy(self.rng).integers(2**63))

    # -- what has come

    @property
    def has_state(self) -> bool:
        """Whether a starting dictionary has been made."""
        return "state" in vars(self)

    @property
    def n_rows(self) -> int:
        """Number of rows that have come, those that wait included."""
        return self.clock.n_samples + sum(batch.X.shape[0] for batch in self.waiting)

    @property
    def dtype(self) -> Any:
        """Type of the numbers; None before any came."""
        if self.has_state:
            return self.state.dictionary.dtype
        return self.waiting[0].X.dtype if self.waiting else None

    @property
    def states(self) -> list[State]:
        """The states that learn: the own one, and that of a second learner."""
        if not self.has_state:
            return []
        return [self.state, *([self.reactive.state] if "reactive" in vars(self) else [])]

    # -- copies, files, and what a failed call puts back

    def holders(self) -> tuple[Any, ...]:
        """Return the objects whose attributes a step replaces."""
        found = [self, self.clock]
        for state in self.states:
            found += [state, state.dictionary, state.memory, state.usage]
        if "reactive" in vars(self):
            found += [self.reactive, self.reactive.clock]
        if "rounds" in vars(self):
            found += [self.rounds, self.rounds.memory, self.rounds.usage]
        return tuple(found)

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Self:
        """Return the learner that `saved` returned, read from a file."""
        learner = object.__new__(cls)
        vars(learner).update({name: saved[name] for name in NAMES if name in saved})
        return learner

    def saved(self) -> dict[str, Any]:
        """Return what files hold of the learner, as far as it is there."""
        return {name: getattr(self, name) for name in NAMES if hasattr(self, name)}

    def validate(self, n_features: int) -> None:
        """Refuse parts read from a file that do not fit together."""
        sizes = {"r": self.state.dictionary.shape[0]} if self.has_state else {}
        check_fields(self, SAVED, d=n_features, **sizes)
        # A clock moves with atoms only, rows wait for atoms only, and a loss belongs to a memory.
        good = not self.waiting if self.has_state else self.clock.step == 0
        paired = "reactive" not in vars(self) or self.has_state
        if not good or not paired or self.has_state != hasattr(self, "loss"):
            raise ValueError("a clock, a loss, rows or a second learner that fit no state")

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the algorithm, which the parameters stand for."""
        return {**vars(self), "algorithm": None, "_settings": None}

    def __copy__(self) -> Self:
        """Return a learner that goes on alone; arrays are shared, for nothing writes into them."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin.clock = copy(self.clock)
        # Two models with one generator would each see half of its numbers.
        twin.rng = deepcopy(self.rng)
        twin._settings = None  # the algorithm may be bound to the model that made it
        if self.has_state:
            twin.state = self.state.snapshot()
        if "reactive" in vars(self):
            twin.reactive = copy(self.reactive)
            twin.reactive.clock = copy(self.reactive.clock)
            twin.reactive.state = self.reactive.state.snapshot()
        if "rounds" in vars(self):
            twin.rounds = copy(self.rounds)
            twin.rounds.memory = copy(self.rounds.memory)
            twin.rounds.usage = copy(self.rounds.usage)
        return twin
