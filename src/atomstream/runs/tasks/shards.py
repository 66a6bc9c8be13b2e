"""Runs on rows in rounds over shards, for as many workers as an engine has."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from atomstream.base import NamedColumns, counted
from atomstream.cluster.engines import Engine
from atomstream.cluster.rounds import Position, Rounds, RoundsReport
from atomstream.cluster.shards import Shards, shards
from atomstream.cluster.worker import chosen_rows, rows_at, without_rows
from atomstream.exceptions import EngineError, InputError
from atomstream.io import Holdout, Input
from atomstream.runs.task import AfterBatch, Pace, Task, Work, callbacks_set
from atomstream.runs.tasks._learn_settings import LearnSettings
from atomstream.runs.tasks.rows import RowsTask
from atomstream.watch import History


class _Listed(Input):
    """The shards of a run as its one input."""

    def __init__(self, listed: Shards, inputs: Sequence[str]) -> None:
        self._listed, self.name = listed, ", ".join(inputs)

    def fingerprint(self) -> str:
        """Return a digest of names, sizes and versions."""
        return self._listed.digest()


class ShardsTask(Task):
    """A dictionary of rows, learned in rounds over shards that workers open by themselves."""

    settings_type = LearnSettings
    help, many = RowsTask.help, RowsTask.many
    noted = ("horizon", "n_rounds", "n_missing", "n_entries", "n_skipped", "names", "shape")
    n_missing = n_entries = n_skipped = 0  # rows are read by the workers
    names = shape = None
    words = RowsTask.words
    reported: ClassVar = {**Task.reported, "slots": "settings.slots", "rounds": "n_rounds"}
    unit = "row"

    def __init__(self, settings: LearnSettings) -> None:
        super().__init__(settings)
        # Rows are read by workers, which send back sums and no rows: neither names nor places of
        # single rows come here.
        if (
            settings.on_bad_line != "raise"
            or settings.id
            or settings.settle
            or settings.label_column
        ):
            raise InputError(
                "--on-bad-line, --id, --label and --settle are for runs without --slots."
            )
        options = vars(settings.input_options()) | {"naming": settings.input_options().naming}
        self._shards = shards(settings.inputs, rows=settings.shard_rows, **options)
        # All shards as one input: a run over a million of them should not write a million names.
        self.sources = [_Listed(self._shards, settings.inputs)]
        named = {name: getattr(settings, f"round_{name}") for name in ("growth", "batch", "mode")}
        self._rounds = Rounds(settings.warmup, settings.round_rows, **named)
        self._at, self._epoch, self.horizon = Position(), 0, float("inf")
        self._skipped: list[tuple[str, str]] = []
        self.report, self.n_rounds = RoundsReport(), 0
        self.holdout = Holdout(settings.holdout, settings.seed)
        self._pace: Pace | None = None
        self._bar: Any = None
        self._stops = False

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, and where the rounds of this one stand."""
        return (self._epoch, *self._at)

    def work(self) -> Work:
        """Return how much there is to learn, from the sizes of the shards."""
        first: Any = self._shards[0]
        sizes = self._shards.n_rows, first._opened()[0].n_features, self.settings.epochs or 1
        return Work(*sizes, batch_size=self.settings.round_batch)

    @property
    def complete(self) -> bool:
        """Whether all passes are done; one, unless more are asked for."""
        # Rounds are for inputs too large for the rule of small ones.
        return self._epoch >= (self.settings.epochs or 1)

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model."""
        names, reasons = ([pair[i] for pair in self._skipped] for i in (0, 1))
        return super().notes() | {
            "skipped_shards": np.array(names, object),
            "skip_reasons": np.array(reasons, object),
            "rounds": self._figures(),
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(model, notes)
        self._epoch, self._at = notes["position"][0], Position(*notes["position"][1:])
        pairs = zip(notes["skipped_shards"], notes["skip_reasons"], strict=True)
        self._skipped = [(str(name), str(reason)) for name, reason in pairs]

    def _hold_out(self) -> None:
        """Read the rows to be kept out, but those that a round will complain about."""
        settings = self.settings
        for rows in chosen_rows(self._shards, settings.holdout, settings.seed):
            # A shard that cannot be read is left for the round that meets it, which raises or skips
            # as asked.
            with suppress(InputError):
                X = rows_at(self._shards, int(rows[0]), len(rows))
                X = X.X if isinstance(X, NamedColumns) else X
                good = ~settings.bad_rows(X)
                self.holdout.take(X[good], rows[good])

    def advance(self, pace: Pace) -> None:
        """Play the rounds that are left, in all passes."""
        self._pace, self._stops = pace, False
        settings = self.settings
        engine = Engine(settings.engine, round_timeout=settings.round_timeout)
        # Only at the very beginning; later the rows come from the checkpoint.
        if not any(self.position):
            self._hold_out()
        # Workers leave out these rows by their numbers; which they are was drawn before, here.
        learned = without_rows(self._shards, self.holdout.keys.astype(int))
        while not self.complete and not self._stops:
            self._bar = pace.bar("learning")
            # In front of the bar, which then shows the newest text.
            with callbacks_set(self.model, AfterBatch(self._look), self._bar):
                try:
                    self.model.fit_stream(
                        learned,
                        engine=engine,
                        slots=settings.slots,
                        rounds=self._rounds,
                        horizon=self.horizon,
                        on_bad_shard=settings.on_bad_shard,
                        checkpoint=self,
                    )
                except EngineError as error:
                    raise InputError(str(error)) from None
            if self._stops:
                return
            if not self.learned:
                raise InputError(f"{self.sources[0].name} has too few rows to learn from.")
            # The first pass has measured the mass that later passes keep the memory at.
            if self._epoch == 0 and (settings.epochs or 1) > 1:
                self.horizon = float(self.model.clock_.mass)
            self._epoch, self._at = self._epoch + 1, Position()

    # -- what keeps each round (as `atomstream.cluster.learning.Checkpoint`)

    def load(self, model: Any, layout: str) -> tuple[Position, list[tuple[str, str]]]:
        """Return where the rounds stand."""
        return self._at, list(self._skipped)

    def save(self, model: Any, layout: str, at: Position, skipped: list[tuple[str, str]]) -> None:
        """Note a round, and rest: the model is whole now."""
        assert self._pace is not None
        # Before the rest, which may write a checkpoint that holds all three.
        self._at, self._skipped, self.n_rounds = at, list(skipped), self.n_rounds + 1
        if self.learned:
            self._pace.note(model)
            self._stops = self._pace.rest()

    def _look(self, learner: Any) -> bool:
        """Show how time is spent, and return whether the run is to end after the last round."""
        report = getattr(learner, "rounds_report_", None)
        # The warm-up is learned without a round, and has no report.
        if report is not None:
            self.report, self._bar.text = report, _spent(report)
        return self._stops

    # -- what it came to

    def _figures(self) -> dict[str, float]:
        report = self.report
        known = {"rows per second": report.rows_per_second} if report.n_rows else {}
        return known | {f"share of {name}": part for name, part in report.shares().items()}

    def left_out(self) -> list[dict[str, Any]]:
        """Return the rows held out, and the shards that were left out, each with its reason."""
        shards = [{"what": "shard", "name": name, "why": why} for name, why in self._skipped]
        return [*super().left_out(), *shards]

    def tallies(self) -> dict[str, int]:
        """Return how many rounds were played and shards left out."""
        return {"rounds": self.n_rounds, "skipped_shards": len(self._skipped)}

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        skipped = [name for name, _ in self._skipped]
        return super().results() | {"skipped_shards": skipped} | self._figures()

    def advice(self, history: History) -> str | None:
        """Return what to do where one process would have been faster than the workers."""
        waited, worked = self.report.waited_and_worked()
        # One process does all the work and does not wait.
        if self.settings.engine is None or waited <= worked:
            return None
        return (
            f"Rounds waited {waited:.1f} s for {worked:.1f} s of work by the workers: one process, "
            "without --engine, would have been faster. Workers gain where rows are many and wide; "
            "a larger --round-rows gives them more to do between two waits."
        )

    @property
    def _learned_from(self) -> str:
        """How many rows, on how many slots, and what was left out."""
        rows, slots = counted(self._n_samples, "row"), counted(self.settings.slots, "slot")
        skipped = f", {counted(len(self._skipped), 'shard')} left out" if self._skipped else ""
        return f"{rows} on {slots}{skipped}"


def _spent(report: RoundsReport) -> str:
    """Return rounds and how time is spent, in a few words."""
    shares = sorted(report.shares().items(), key=lambda pair: -pair[1])[:2]
    said = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    return f"round {report.n_rounds} ({said})"
