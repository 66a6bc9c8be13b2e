"""Runs in passes over rows: what tables, images, arrays and tensors have in common."""

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from atomstream.base import Counted
from atomstream.base.parameters import whole
from atomstream.exceptions import InputError
from atomstream.io import MOST_ROWS, Feed, Piece, Position, Source, need
from atomstream.runs import Pace, Task, Work, option
from atomstream.watch import History

# Rows to learn, and passes, where no number of passes is given.
ROWS_TO_LEARN, MAX_PASSES = 50_000, 25
STILL = 0.02  # share by which the objective falls in a pass where more passes are worth it


def epochs_option(unit: str) -> Any:
    """Return the option of how many passes are made."""
    shown = f"until {ROWS_TO_LEARN:,} {unit} are learned, {MAX_PASSES} at most"
    return option(None, "Passes over the inputs.", whole(), free=True, shown=shown)


def settle_option() -> Any:
    """Return the option of how many rounds follow the passes."""
    return option(
        None,
        "Rounds over all rows after the passes, at most: each codes all rows with the same atoms "
        "before it improves them, and the last one gains next to nothing.",
        whole(0),
        free=True,
        shown="as many as passes; none with --epochs, or after one pass",
    )


def n_passes(asked: int | None, per_pass: float) -> int:
    """Return the passes asked for, or as many as a small input needs.

    Parameters
    ----------
    asked : int or None
    per_pass : float
        Mass of the rows of a pass; inf as long as the first is not complete.
    """
    if asked is not None:
        return asked
    return min(MAX_PASSES, max(1, math.ceil(ROWS_TO_LEARN / max(per_pass, 1))))


def rounds_left(settings: Any, model: Any, per_pass: float) -> int:
    """Return how many rounds over all rows a model may still make after its passes.

    A small input that comes many times settles unless the number of passes is given: a schedule
    that forgets leaves little more than its last batch in the memory.
    """
    most, rounds = getattr(settings, "settle", 0), getattr(model, "settling_", None)
    if most is None:
        passes = n_passes(settings.epochs, per_pass)
        most = passes if settings.epochs is None and passes > 1 else 0
    if not most or not model.algorithm_.updater.descends_on_full_data:
        return 0
    return most if rounds is None else (0 if rounds.settled else max(most - rounds.n_rounds, 0))


class PassesTask(Task):
    """A run in passes over sources of rows, which rests after every batch.

    Parameters
    ----------
    settings : Settings
        With ``batch_size``, ``epochs``, ``jobs`` and ``new_model``.
    sources : sequence of Source
    """

    sources: Sequence[Source]
    noted: ClassVar[tuple[str, ...]] = ("horizon",)

    def __init__(self, settings: Any, sources: Sequence[Source]) -> None:
        super().__init__(settings)
        self.sources = sources
        n_features = sources[0].n_features
        # Atoms, what is known of each entry of them, and what a step makes of these.
        # Asked before the first row is read: a table of a million columns should not fail after an
        # hour.
        need(32 * self.n_atoms * n_features, f"A dictionary of {n_features:,} features")
        self.at, self.horizon = Position(), float("inf")
        self._feed = Feed(list(sources), settings.batch_size)
        self._stream_ended = False

    @property
    def n_atoms(self) -> int:
        """Number of atoms that are learned at once."""
        return int(self.settings.atoms)

    @property
    def pass_mass(self) -> float:
        """Mass of the rows of the first pass, at its end."""
        return float(self.model.clock_.mass)

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, the number of the input, the row in it, and rounds completed."""
        rounds = self._settling
        return tuple(self.at) if rounds is None else (*self.at, rounds.n_rounds)

    @property
    def _settling(self) -> Any:
        """The rounds after the passes; None before the first of them."""
        return getattr(self.model, "settling_", None) if self.learned else None

    @property
    def beyond(self) -> tuple[int, ...]:
        """Where it stands in a further pass; a round is none."""
        return tuple(self.at[1:]) if self._settling is None else ()

    @property
    def complete(self) -> bool:
        """Whether all passes are done; a live stream has one, which may be continued."""
        # The horizon is infinite until the first pass has measured it: until then one pass is asked
        # for.
        if self._stream_ended or not self._passes_done:
            return self._stream_ended
        return not self.learned or rounds_left(self.settings, self.model, self.horizon) == 0

    @property
    def _passes_done(self) -> bool:
        return self.at.epoch >= n_passes(self.settings.epochs, self.horizon)

    @classmethod
    def finished(cls, settings: Any, model: Any, notes: dict[str, Any]) -> bool | None:
        """Return whether all passes are done, and the rounds after them."""
        done = notes["position"][0] >= n_passes(settings.epochs, notes["horizon"])
        return bool(done and rounds_left(settings, model, notes["horizon"]) == 0)

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(model, notes)
        self.at = Position(*notes["position"][:3])

    def work(self) -> Work:
        """Return how much there is to learn, from the sizes of the inputs."""
        settings, n_rows = self.settings, 0
        for source in self.sources:
            if (found := source.about_rows()) is None:
                raise InputError(f"{source.name} does not tell how long it is: no estimate.")
            n_rows += found
        n_learned = n_rows - min(MOST_ROWS, int(getattr(settings, "holdout", 0) * n_rows))
        passes = n_passes(settings.epochs, n_learned)
        rounds = rounds_left(settings, self.model, n_learned)
        sizes = (n_rows, self.sources[0].n_features, passes, rounds, settings.batch_size)
        return Work(*sizes, self._feed.n_rows is not None, sum(s.mapped for s in self.sources))

    @property
    def live(self) -> bool:  # type: ignore[override]
        """Whether it learns from a stream that can be read only once."""
        return self._feed.live

    def stop(self) -> None:
        """Stop waiting for rows."""
        self._feed.stop()

    @abstractmethod
    def batch_of(self, piece: Piece) -> Any:
        """Return what the model learns of these rows; None where nothing is left to learn."""

    @abstractmethod
    def commit(self, piece: Piece) -> None:
        """Take note of rows that have been learned."""

    def nothing_learned(self) -> str:
        """Return why a run over all inputs has learned nothing."""
        return f"{self.sources[0].name} has no rows to learn from."

    def advance(self, pace: Pace) -> None:
        """Make the passes that are left."""
        # A live stream may be silent for hours: checkpoints are kept and ends are answered
        # meanwhile.
        self._feed.idle = pace.rest
        while not self.complete:
            if self._passes_done:
                self.settle(pace)
                if pace.rest():
                    break
                continue
            epoch, epochs = self.at.epoch, n_passes(self.settings.epochs, self.horizon)
            text = "learning" if epochs == 1 else f"pass {epoch + 1} of {epochs}"
            self.model.set_callbacks(pace.bar(text))
            self.model.fit_stream(self._counted(pace), horizon=self.horizon)
            if pace.rest():
                break
        if self.complete and not self.learned:
            raise InputError(self.nothing_learned())

    def settle(self, pace: Pace) -> None:
        """Go on with a round over all rows, and end it when all have come."""
        epoch, known = self.at.epoch, self._settling
        text = f"round {1 if known is None else known.n_rounds + 1} over all {self.unit}s"
        self.model.set_callbacks(pace.bar(text))
        self.model.settle_stream(self._counted(pace))
        if self.at.epoch > epoch:
            self.at = Position(epoch)
            self.model.end_round()

    def advice(self, history: History) -> str | None:
        """Return what to do where the last pass still gained, or atoms are too many."""
        n_rows, n_atoms = self.horizon, self.n_atoms
        # With an atom for each row the objective is as good as it gets, and the atoms say nothing.
        if n_atoms > n_rows:
            return (
                f"{n_atoms} atoms for {n_rows:.0f} rows: each row can have its own; ask for fewer "
                "with --atoms."
            )
        seen, values = np.array(history.n_samples), np.array(history.objective)
        last = seen > self.model.n_samples_seen_ - n_rows
        # Whole passes are compared: batches within one differ by their rows more than by what was
        # learned.
        before = ~last & (seen > self.model.n_samples_seen_ - 2 * n_rows)
        # A thinned history may hold no point of a short pass.
        if self.at.epoch < 2 or self._settling is not None or not (last.any() and before.any()):
            return None
        now, then = values[last].mean(), values[before].mean()
        if not now < (1 - STILL) * then:
            return None
        return (
            f"The objective still fell by {100 * (1 - now / then):.0f} % in the last of "
            f"{self.at.epoch} passes; resume with --epochs {2 * self.at.epoch} to learn on."
        )

    def _batches(self, pace: Pace) -> Iterator[Any]:
        """Yield what is left of a pass, batch by batch; asking for the next has learned the last.

        All that a checkpoint holds besides the model changes here, after the step; an error within
        a step, which puts the model back, finds all of it as it was before.
        """
        for piece in self._feed.batches(self.at):
            batch = self.batch_of(piece)
            if batch is not None:
                yield batch
                if self.learned and not self._passes_done:  # rounds make no steps
                    pace.note(self.model)
            # Only now, when the model has asked for the next batch, is this one learned: an end
            # before it would have the position point behind rows that the model never saw.
            self.commit(piece)
            self.at = piece.after
            if self.learned and pace.rest() and not self._feed.live:
                return
        if not self._feed.ended:  # stopped while waiting for rows
            return
        if self._feed.live:
            self._stream_ended = True
            return
        if self.at.epoch == 0 and self.learned:  # later passes replace what the first measured
            self.horizon = self.pass_mass
        self.at = Position(self.at.epoch + 1)

    def _counted(self, pace: Pace) -> Counted:
        """Return what is left of a pass, with the number of batches where it is known."""
        n_rows = self._feed.n_rows or 0
        done = sum(source.n_rows or 0 for source in self.sources[: self.at.source]) + self.at.row
        return Counted(self._batches(pace), -(-max(n_rows - done, 0) // self.settings.batch_size))
