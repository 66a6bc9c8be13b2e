"""The driver: plans rounds, gives them out, merges what comes back, and keeps checkpoints."""

import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from atomstream.base import check_count
from atomstream.cluster.engines import Engine, Pool, check_alike, opened
from atomstream.cluster.gathering import ROUND_LIMIT, Gathering, prepare
from atomstream.cluster.rounds import Position, Rounds, RoundsReport, RowRanges, plan
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import Payload, Slot, learn_slot
from atomstream.exceptions import BadShardError, InputError
from atomstream.files.codec import read_model, write_model

log = logging.getLogger(__name__)

# Rows of a step under the squared loss, in the warm-up and where the last round still gained much:
# atoms that are not told apart need many steps, and steps of slots are few and heavy.
SMALL_BATCH = 32
# Share of noise in the variance of the first rows above which steps stay as they are: few rows
# teach their noise, and small steps are worse in serial learning, too.
MAX_NOISE = 0.2
# Share of the objective that a round gains at most where learning is settled; and standard errors
# of that, from how far slots differ.
MAX_FALL, CLEARLY = 0.1, 3.0
HEAVY = 1 << 28  # bytes of the results of a round above which a warning is due


class RoundDriver:
    """A model that learns from shards in rounds.

    Parameters
    ----------
    learner : SlotLearner
        The model, as `atomstream.estimators` hands it over: it says how many rows have come, packs
        itself for the workers, and takes in what they send back.
    shards : Shards
    slots : int, default=1
        Parallel parts of a round; they are part of what decides the result, workers are not.
    rounds : Rounds, optional
        How rows are dealt to slots.
    horizon : float, default=inf
        Mass of one pass, for later passes over the same shards.
    on_bad_shard : {"raise", "skip"}, default="raise"
        Whether a shard that cannot be learned from ends learning or is left out.
    store : object, optional
        Where each round is kept, and from which to go on: with the methods of `Checkpoint`.
    """

    def __init__(
        self,
        learner: Any,
        shards: Shards,
        slots: int = 1,
        rounds: Rounds | None = None,
        *,
        horizon: float = np.inf,
        on_bad_shard: str = "raise",
        store: Any = None,
    ) -> None:
        if on_bad_shard not in ("raise", "skip"):
            raise ValueError(f"on_bad_shard must be 'raise' or 'skip', got {on_bad_shard!r}.")
        self.learner, self.shards, self.slots = learner, shards, check_count("slots", slots)
        self.rounds, self._horizon = rounds or Rounds(), horizon
        self._skips, self._store, self._heavy = on_bad_shard == "skip", store, False
        self.at, self.report, self.progress = Position(), RoundsReport(), None
        self._objectives: list[float] = []  # of the last batches of the slots in this round
        self._latest: Any = None  # the last rows of the first slot
        frozen = self.rounds.mode == "frozen"
        learner.check(apart=slots > 1 or frozen, frozen=frozen)
        self._small_steps = slots > 1 and not frozen and learner.is_quadratic
        found = None if store is None else store.load(learner.model, self.layout)
        if found is not None:
            self.at, self.report.skipped = found

    @property
    def layout(self) -> str:
        """All that decides the bits beside the model: shards, their order, slots and rounds."""
        return f"{self.shards.digest()} {self.slots} {self.rounds} {self._horizon}"

    def run(self, engine: Any, after: Callable[[Any], bool] | None = None) -> None:
        """Play the rounds that are left.

        Parameters
        ----------
        engine : None, str, Executor, Client or Engine
        after : callable, optional
            Called after each round, with the `atomstream.loop.online.Progress` of its merge or with
            None; a true answer ends learning.

        Raises
        ------
        BadShardError, ChangedShardError
            For a shard that cannot be learned from; the model is as it was after the last round.
        EngineError
            Where workers are lost, silent, or of other kinds.
        """
        engine = Engine.of(engine)
        with opened(engine.engine) as pool:
            self._prepare(pool, engine)
            began = perf_counter()
            try:
                while self._round(pool, engine):
                    if after is not None and after(self.progress):
                        break
                else:
                    self._warn_of_fall()
            finally:
                self.report.spend("whole", perf_counter() - began)

    def _warn_of_fall(self) -> None:
        """Warn where the last round still gained much."""
        if self.at.gaining and self.report.fall > 0:  # NaN where no round was played
            log.warning(
                "The objective fell by %.0f %% in the last round, so learning is not settled: pass "
                "over the shards again, or take fewer slots.",
                100 * self.report.fall,
            )

    def _gains(self, before: float) -> bool:
        """Return whether the slots are far below the objective of before; note how far."""
        found, n = np.array(self._objectives), len(self._objectives)
        self.report.fall = 1.0 - float(found.mean()) / before
        # What came before are the last batches of as many slots, or that of the warm-up alone.
        error = found.std(ddof=1) * np.sqrt(1 / n + (1 / n if self.at.shared else 1.0))
        return self.report.fall > MAX_FALL and before - found.mean() > CLEARLY * error

    def _prepare(self, pool: Pool, engine: Engine) -> None:
        """Let workers compile what the first rows need, before any clock runs."""
        hands, _ = self._assign(1, 4 * self.rounds.batch)
        if hands:
            slot = self._slots(hands * min(self.slots, 2), 0, shared=True)[0]
            prepare(pool, engine, self.learner.packed()[0], slot)

    def _round(self, pool: Pool, engine: Engine) -> bool:
        """Play one round; return False where no rows are left."""
        report, clock, before = self.report, perf_counter, self.learner.objective
        has_state = self.learner.rows_seen()[1]
        began = clock()
        sent, seed = self.learner.packed()
        report.spend("serialising", clock() - began)
        while True:  # until no shard of the round is bad
            hands, after = self._plan()
            if not hands:
                return False
            self._objectives = []
            slots = self._slots(hands, seed, shared=after.shared > self.at.shared)
            limit = engine.round_timeout or ROUND_LIMIT
            gathering = Gathering(pool, learn_slot, sent, [*slots], limit, report)
            try:
                with closing(gathering.payloads()) as payloads:
                    self._take_in(payloads, engine)
                break
            except BadShardError as error:
                if not self._skips:
                    raise
                log.warning("%s It is left out.", error)
                report.skipped.append((error.shard, error.reason))
        report.bytes_sent += len(sent)
        # From here on the round counts: everything before may be repeated from the old state.
        if len(self._objectives) > 1 and before > 0:
            after = after._replace(gaining=int(self._gains(before)))
        if self._small_steps and not has_state and self.learner.rows_seen()[1]:
            after = after._replace(noisy=int(self.learner.noise(self._latest) > MAX_NOISE))
        self.at, self._latest = after, None
        report.n_rounds += 1
        report.n_rows += sum(span.n_rows for hand in hands for span in hand)
        if self._store is not None:
            self._store.save(self.learner.model, self.layout, self.at, report.skipped)
        return True

    def _plan(self) -> tuple[list[RowRanges], Position]:
        seen, has_state = self.learner.rows_seen()
        # The warm-up has one slot: serial steps begin better than averages of slots (decision 017).
        wanted = max(self.rounds.warmup - seen, 0)
        if not has_state:  # a starting dictionary needs more rows than a small step has
            wanted = self.rounds.batch if self._small_steps else max(wanted, self.rounds.first)
        if self.slots == 1 and wanted == 0 and self.rounds.mode == "local":
            wanted = self.rounds.rows(self.at.round)
        return self._assign(self.slots, wanted)

    def _assign(self, slots: int, wanted: int) -> tuple[list[RowRanges], Position]:
        skipped = {name for name, _ in self.report.skipped}
        return plan(self.shards, self.at, skipped, self.rounds, slots, wanted)

    def _slots(self, hands: list[RowRanges], seed: int, *, shared: bool) -> list[Slot]:
        """Return the tasks of a round; each row counts for those of all slots."""
        sizes = [sum(span.n_rows for span in hand) for hand in hands]
        apart = shared and (len(hands) > 1 or self.rounds.mode == "frozen")
        batch = self.rounds.batch
        settles = self.at.noisy or (shared and not self.at.gaining)
        if self._small_steps and self.learner.rows_seen()[1] and not settles:
            batch = min(batch, SMALL_BATCH)
        slots = []
        for number, hand in enumerate(hands):
            how = None
            if apart:
                how = {
                    # A row stands for as many as all slots have beside it, so that clocks agree
                    # after the merge.
                    "multiplicity": sum(sizes) / sizes[number],
                    "seed": [seed, number],
                    "before": sum(sizes[:number]),
                    "frozen": self.rounds.mode == "frozen",
                    "keep_latest": number == 0,
                }
            slots.append(Slot(self.at.round, number, hand, batch, how, self._horizon))
        return slots

    def _take_in(self, payloads: Iterator[Payload], engine: Engine) -> None:
        """Merge what the slots learned, in their order, while others are at work."""
        spent, began = self.report.seconds, perf_counter()
        other = spent.get("waiting", 0.0) + spent.get("unpacking", 0.0)
        self.progress = self.learner.take_in(self._parts(payloads, engine))
        # The parts are pulled while they are merged: that time is not the merge's.
        other = spent["waiting"] + spent["unpacking"] - other
        self.report.spend("adding", perf_counter() - began - other)

    def _parts(self, payloads: Iterator[Payload], engine: Engine) -> Iterator[Any]:
        """Yield the parts of a round, and count what they cost."""
        report, size = self.report, 0
        while True:
            began = perf_counter()
            payload = next(payloads, None)
            report.spend("waiting", perf_counter() - began)
            if payload is None:
                break
            check_alike(payload.facts, engine)
            began = perf_counter()
            part = pickle.loads(payload.part)
            self._latest = part.latest if self._latest is None else self._latest
            if np.isfinite(part.objective):
                self._objectives.append(part.objective)
            report.spend("unpacking", perf_counter() - began)
            size += len(payload.part)
            report.bytes_returned += len(payload.part)
            for what, spent in payload.seconds.items():
                report.spend(what, spent)
            yield part
        if size > HEAVY and not self._heavy:
            self._heavy = True
            log.warning("The results of a round take %d MB; fewer slots take less.", size >> 20)


class Checkpoint:
    """A model file that is written after every round; the same call goes on from it.

    Parameters
    ----------
    path : path
        Its folder must exist. `atomstream.load` reads the model.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from atomstream import Checkpoint, OnlineNMF
    >>> from atomstream.cluster import shards
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/rows.npy", np.random.default_rng(0).random((600, 4)))
    >>> rows = shards(folder + "/rows.npy")
    >>> kept = Checkpoint(folder + "/model.atoms")
    >>> model = OnlineNMF(2, random_state=0).fit_stream(rows, checkpoint=kept)
    >>> again = OnlineNMF(2, random_state=0).fit_stream(rows, checkpoint=kept)  # nothing is left
    >>> again.rounds_report_.n_rounds, bool((again.components_ == model.components_).all())
    (0, True)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def load(self, model: Any, layout: str) -> tuple[Position, list[tuple[str, str]]] | None:
        """Bring the model to where it stood; None where there is no file.

        Parameters
        ----------
        model : estimator
            The one that is to learn.
        layout : str
            Digest of shards, slots and rounds.

        Returns
        -------
        position : Position
            After the last round that was kept.
        skipped : list of (name, reason)
            Shards that were left out before it.

        Raises
        ------
        InputError
            Where the file is of other shards, slots, rounds, or of another kind of model.
        """
        if not self.path.exists():
            return None
        found, notes = read_model(self.path)
        if notes.get("layout") != layout or type(found) is not type(model):
            raise InputError(
                f"{self.path} was written by a run over other shards, slots or rounds, or by "
                "another model; give the same ones, or another file."
            )
        model.restore_learned(found.learned_attributes())
        pairs = zip(notes["skipped"], notes["reasons"], strict=True)
        return Position(*notes["position"]), [(str(name), str(why)) for name, why in pairs]

    def save(self, model: Any, layout: str, at: Position, skipped: list[tuple[str, str]]) -> None:
        """Write the model and where it stands, whole or not at all; not before it has atoms.

        Parameters
        ----------
        model : estimator
            After a round.
        layout : str
            As in `load`.
        at : Position
            Where the rounds stand.
        skipped : list of (name, reason)
            Shards that were left out.
        """
        # Rows that wait for a start are read again by whoever goes on.
        if not model.__sklearn_is_fitted__():
            return
        notes = {
            "layout": layout,
            "position": list(at),
            "skipped": np.array([name for name, _ in skipped], object),
            "reasons": np.array([reason for _, reason in skipped], object),
        }
        write_model(self.path, model, notes)
