"""Runs on rows of numbers: tables, arrays, patches of images, lines on standard input."""

from __future__ import annotations

import logging
import re
import warnings
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import atomstream
from atomstream.base import counted
from atomstream.base.parameters import number, one_of, whole
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import THEIR_LOSSES
from atomstream.exceptions import DataWarning, InputError
from atomstream.io.feed import Holdout, Piece, bad_rows
from atomstream.io.inputs import STANDARD_INPUT, axes_of, check_axes, open_inputs, register_reader
from atomstream.io.lines import Naming
from atomstream.io.source import InputOptions, divide_alike
from atomstream.loop import dominance
from atomstream.runs.settings import SENTINELS, Settings, checkpoints, option, sets
from atomstream.runs.tasks import _passes
from atomstream.schedules import Constant

log = logging.getLogger(__name__)

MODELS = {"nmf": "OnlineNMF", "dictionary": "OnlineDictionaryLearning", "convex": "OnlineConvexMF"}

# The package's own lazy names: what reads cells is loaded when some come.
register_reader(
    ".h5ad", lambda path, options: atomstream.cells.Cells(path, options.columns, options.drop)
)


@dataclass(frozen=True)
class RowsSettings(checkpoints, Settings):
    """Settings of a run on rows of numbers or images."""

    atoms: int = sets(OnlineNMF, "n_components")
    model: str = option(
        "nmf",
        "nmf: nonnegative codes and atoms; dictionary: signed ones; convex: atoms made of samples.",
        one_of(*MODELS),
    )
    loss: str = sets(OnlineNMF, "loss")
    updater: str = sets(OnlineNMF, "updater")
    zeros: str = option(
        "floor",
        "Where the loss is infinite at zeros: floor raises them to 1e-8, refuse ends the run.",
        one_of("floor", "refuse"),
    )
    alpha: float | None = sets(
        OnlineNMF, "alpha", default=None, shown="0 for nmf, 0.1 for the others"
    )
    scale: str = sets(OnlineNMF, "scale")
    schedule: str = sets(OnlineNMF, "schedule")
    half_life: float | None = option(
        None,
        "Number of samples after which the past weighs half; instead of --schedule.",
        number(above=True),
    )
    epochs: int | None = _passes.epochs_option("rows")
    batch_size: int = sets(OnlineNMF, "batch_size")
    missing: bool = sets(
        OnlineNMF, "missing", help="Treat empty fields and NaN as missing entries."
    )
    on_bad_line: str = option(
        "raise",
        "raise: a line that cannot be learned from ends the run; skip: it is left out and counted.",
        one_of("raise", "skip"),
    )
    columns: tuple[str, ...] = option(
        (),
        "Columns of tables: names, numbers from 1, ranges such as 3-7 or area-groove, or numeric "
        "for all that hold numbers.",
    )
    drop: tuple[str, ...] = option((), "Columns of tables to leave out, named as for --columns.")
    id: tuple[str, ...] = option(
        (),
        "Column of tables that names rows: kept beside codes, never learned; may be repeated.",
        whole=True,
    )
    decimal: str = option(".", "Decimal sign of tables of text.", one_of(".", ","))
    na: tuple[str, ...] = option((), SENTINELS, whole=True)
    key: str | None = option(None, "Name of the array in an .npz or HDF5 file, or a Zarr group.")
    sample_axes: str | None = option(
        None,
        "Axes of arrays of three axes or more that hold the samples, such as 0,1 for the pixels of "
        "a spectral image; the others hold the features.",
        shown="the first one",
    )
    patch: int = option(12, "Height and width of the patches of images, in pixels.", whole())
    grey: bool = option(False, "Turn colour images into grey ones.")
    per_image: int = option(20_000, "Patches drawn from each image in a pass.", whole())
    center: bool = option(False, "Subtract the mean of each patch (for --model dictionary).")
    holdout: float = option(
        0.05,
        "Share of the rows, at most 256 of them, to keep out of learning for the report.",
        number(0, 1, below=True),
    )
    jobs: int = sets(OnlineNMF, "n_jobs", default=1, free=True)
    representatives: int = option(
        150, "Number of samples that all atoms are made of (for --model convex).", whole()
    )

    def check(self) -> None:
        """Raise ValueError where the settings do not go together; keep our name of the loss."""
        # Names of scikit-learn are taken too; files then hold one name for one loss.
        object.__setattr__(self, "loss", THEIR_LOSSES.get(self.loss, self.loss))
        if self.half_life is not None and self.schedule != "power":
            raise ValueError(
                f"half_life={self.half_life!r} and schedule={self.schedule!r} exclude each other; "
                "give one of them."
            )
        # What was read cannot be read again: a second pass would need a file.
        if STANDARD_INPUT in self.inputs and (self.epochs or 1) > 1:
            raise InputError(f"Standard input can be read once, --epochs is {self.epochs}.")
        super().check()

    def input_options(self) -> InputOptions:
        """Return how inputs are to be read."""
        of_images = (self.patch, self.grey, self.per_image, "patch" if self.center else None)
        naming = Naming(self.id, kept=bool(self.id))
        of_tables = (self.decimal, self.on_bad_line == "skip", naming)
        axes = axes_of(self.sample_axes)
        return InputOptions(
            self.columns, self.key, *of_images, self.seed, *of_tables, axes, self.drop, self.na
        )

    def bad_rows(self, X: Any) -> NDArray:
        """Return which rows the model would refuse."""
        return bad_rows(X, missing=self.missing, nonnegative=self.model == "nmf")

    def new_model(self) -> Any:
        """Return the model that will learn."""
        kind, given = getattr(atomstream, MODELS[self.model]), self.parameters(OnlineNMF)
        flags = {each.metadata.get("sets"): each for each in fields(self)}
        # The settings are those of all three models together: one that a model lacks is an error
        # only where somebody has asked for it.
        for name in set(given) - set(kind.PARAMETERS):
            if given.pop(name) != flags[name].default:
                raise ValueError(f"The model {self.model!r} has no --{flags[name].name}.")
        if self.half_life is not None:
            given["schedule"] = Constant(half_life=self.half_life)
        if self.model == "convex":
            given["n_representatives"] = self.representatives
            if self.representatives < self.atoms:
                raise ValueError(
                    "The model 'convex' needs a representative for each atom, got "
                    f"{self.representatives} representatives of {self.atoms} atoms."
                )
        model = kind(**given)
        # Set only where asked: most losses have no such parameter.
        return model if self.zeros == "floor" else model.set_params(loss__zeros=self.zeros)


@dataclass(frozen=True)
class LearnSettings(RowsSettings):
    """Settings of a run on rows, which can be cut into rounds over shards for many workers."""

    settle: int | None = _passes.settle_option()
    engine: str | None = option(
        None,
        "Where rounds over shards run: threads, processes, processes:4 or dask://host:port.",
        free=True,
    )
    slots: int | None = option(
        None,
        "Parallel parts of a round; they decide what is learned, the number of workers does not.",
        whole(),
        shown="4 with --engine",
    )
    shard_rows: int = option(65_536, "Rows of a shard, at most (with --slots).", whole())
    warmup: int = option(4096, "Rows learned before rounds have several slots.", whole(0))
    round_rows: int = option(512, "Rows of each slot in the first round.", whole())
    round_batch: int = option(128, "Rows per step of a slot.", whole())
    round_growth: float = option(
        1.05, "Growth of the rows of a slot from round to round.", number(1)
    )
    round_mode: str = option(
        "local",
        "local: slots take steps and are averaged; frozen: one step a round on all their rows.",
        one_of("local", "frozen"),
    )
    on_bad_shard: str = option(
        "raise",
        "raise: a shard that cannot be learned from ends the run; skip: it is left out and listed.",
        one_of("raise", "skip"),
    )
    round_timeout: float | None = option(
        None,
        "Time without any result after which tasks are given out again, and then the run ends.",
        number(above=True),
        duration=True,
        free=True,
        shown="1h",
    )

    def check(self) -> None:
        """Settle the number of slots, which belongs to the run, where only an engine is given."""
        if self.engine is not None and self.slots is None:
            # Written to the settings, so that a resume with another engine keeps the same slots.
            object.__setattr__(self, "slots", 4)
        super().check()


class RowsTask(_passes.PassesTask):
    """A dictionary of rows: passes over the inputs, some rows kept out to judge by."""

    settings_type: ClassVar[type[Settings]] = LearnSettings
    help = (
        "INPUTS are images or folders of images, .csv, .tsv, .jsonl, .parquet, .arrow, .feather, "
        ".npy, .npz (dense or sparse), .mtx, .h5, .hdf5, .zarr or .h5ad files, or - for lines on "
        "standard input; text may be packed (.gz). Of an .h5ad file the 2,000 genes that vary most "
        "for their mean are read, each over its standard deviation, or those that --columns names."
    )
    many = True
    noted = ("horizon", "n_missing", "n_entries", "n_skipped")
    words = {  # noqa: RUF012 - read only
        "say missing=True": "say --missing",
        "use OnlineDictionaryLearning": "use --model dictionary or --on-bad-line skip",
        "OnlineNMF": "--model nmf",
    }

    def __init__(self, settings: RowsSettings) -> None:
        super().__init__(settings, open_inputs(settings.inputs, settings.input_options()))
        self._flattening = check_axes(self.sources, settings.sample_axes)
        # Genes of all files are divided by the deviations of the first: one dictionary, one scale.
        divide_alike(self.sources, self.sources[0].deviation)
        self.n_missing = self.n_entries = self.n_skipped = 0
        # Rows are chosen by their numbers and the seed, never in order of arrival: a resumed run
        # keeps out the same ones.
        self.holdout = Holdout(settings.holdout, settings.seed)
        self.unit = self.sources[0].unit
        self.names = next((source.names for source in self.sources if source.names), None)

    @classmethod
    def finished(cls, settings: Any, model: Any, notes: dict[str, Any]) -> bool | None:
        """Return whether all passes are done; None for standard input that has not ended."""
        # A stream that stopped may be continued by more lines; only its writer knows whether it has
        # ended.
        if STANDARD_INPUT in settings.inputs:
            return True if notes["finished"] else None
        return super().finished(settings, model, notes)

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model."""
        return super().notes() | {
            "names": None if self.names is None else np.array(self.names, object),
            "shape": None if self.sources[0].shape is None else list(self.sources[0].shape),
            "deviation": self.sources[0].deviation,
        }

    def restore(self, model: Any, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint; the columns of a stream must be those of before."""
        names = None if notes["names"] is None else list(notes["names"])
        # A file was checked by its fingerprint; a stream shows its columns only in its first line.
        if None not in (names, self.names) and names != self.names:
            raise InputError(
                f"{self.sources[0].name} has different names of columns than the run learned from."
            )
        self.names = names
        super().restore(model, notes)

    def batch_of(self, piece: Piece) -> Any:
        """Return the rows that are not held out; None where all are."""
        piece, self._refusal = self._without_bad_rows(piece)
        held = self.holdout.choose(piece.X, piece.ids)
        self._piece, self._held, self._learned_rows = piece, held, self._places[~held]
        # All rows are bad, or a small batch is by chance held out whole: nothing is to be learned.
        if held.all():
            return None
        rows = piece.X[~held] if held.any() else piece.X
        # Once: what is asked here is of the data as a whole, and the first batch stands for it.
        if not self.learned:
            self._look_at(rows)
        return rows

    def _look_at(self, rows: Any) -> None:
        """Warn where the first batch shows that what is learned may not be what was meant."""
        if self._flattening is not None:
            warnings.warn(self._flattening, DataWarning, stacklevel=2)
        settings, is_image = self.settings, self.sources[0].shape is not None
        if is_image or (settings.scale, settings.loss) != ("none", "squared"):
            return
        sentence = dominance(rows, self.names, "--scale std")
        if sentence is not None and settings.model != "convex":
            warnings.warn(sentence, DataWarning, stacklevel=2)

    def _without_bad_rows(self, piece: Piece) -> tuple[Piece, InputError | None]:
        """Return rows that can be learned, and what is to be said after them, if anything is.

        Of a stream that cannot be read again the good rows before a bad one are learned.
        """
        skip = self.settings.on_bad_line == "skip"
        # A file is checked by the model itself, which names the row; a stream has to learn the rows
        # before the bad one first, for they will not come again.
        bad = self.settings.bad_rows(piece.X) if skip or self._feed.live else np.zeros(0, bool)
        self._n_bad, self._places = 0, np.arange(piece.X.shape[0])
        if not bad.any():
            return piece, None
        first, name = int(bad.argmax()), self.sources[self.at.source].name
        row = self.at.row + first
        if skip:
            self._n_bad, self._places = int(bad.sum()), np.flatnonzero(~bad)
            text = "%d of %d rows of %s left out, the first of them row %d, counted from 0."
            log.info(text, self._n_bad, len(bad), name, row)
            return _some(piece, ~bad), None
        # The places in the batch of the rows that are learned: an error names a row of the input.
        self._places = self._places[:first]
        said = InputError(
            f"{name} has entries in row {row} (counted from 0) that are missing, infinite or, for "
            "--model nmf, negative; say --missing, or leave such rows out with --on-bad-line skip."
        )
        return _some(piece, slice(first)), said

    def commit(self, piece: Piece) -> None:
        """Count a batch that has been learned, and keep its rows that were held out."""
        piece = self._piece
        # Later passes meet the same rows, which must not be counted twice.
        if self.at.epoch == 0:
            self.n_skipped += self._n_bad
            self.n_entries += int(np.prod(piece.X.shape))
            if self.settings.missing:
                values = piece.X.data if sp.issparse(piece.X) else piece.X
                self.n_missing += int(np.isnan(values).sum())
            if self._held.any():
                labels = [label[self._held] for label in piece.labels]
                self.holdout.keep(piece.X[self._held], piece.ids[self._held], labels)
        # Raised here and not where it was found: the rows before it are now learned and kept.
        if self._refusal is not None:
            self.at = self.at._replace(row=self.at.row + len(piece.ids))
            raise self._refusal

    def nothing_learned(self) -> str:
        """Return why a run over all inputs has learned nothing."""
        if self.settings.model == "convex" and self.n_entries:
            name, needed = self.sources[0].name, self.settings.representatives
            return f"{name} has fewer rows than representatives={needed}."
        return super().nothing_learned()

    def explained(self, error: ValueError) -> str:
        """Return the complaint in the words of the command line, with the row of the input."""
        sentence = super().explained(error)
        name, row = self.sources[self.at.source].name, self.at.row
        # The model counts rows of what it was given; people count lines of their file.
        found = re.search(r"first in row (\d+)(, column (\d+))?", sentence)
        if found and self._piece.after.source == self.at.source:
            place = f"first in row {row + self._learned_rows[int(found[1])]}"
            if found[3]:
                place += f", column {self.names[int(found[3])] if self.names else found[3]!r}"
            return sentence.replace(found[0], f"{place} of {name}")
        where = f"in the batch that begins with row {row} of {name}, counted from 0"
        return f"{sentence.rstrip('.')} ({where})."

    def results(self) -> dict[str, Any]:
        """Return what the run came to."""
        return super().results() | self.tallies()

    def tallies(self) -> dict[str, int]:
        """Return how many rows were left out in the first pass."""
        return {"skipped": self.n_skipped} if self.settings.on_bad_line == "skip" else {}

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        return f"{counted(self.settings.atoms, 'atom')} from {self.passes}"

    @property
    def passes(self) -> str:
        """The rows learned from, in words, and how often where that was more than once."""
        if self.at.epoch < 2:
            return counted(self._n_samples, self.unit)
        return f"{self.at.epoch} passes over {counted(round(self.horizon), self.unit)}"


def _some(piece: Piece, rows: NDArray | slice) -> Piece:
    """Return some rows of a batch, with the place after all of them."""
    labels = tuple(label[rows] for label in piece.labels)
    return Piece(piece.X[rows], piece.ids[rows], piece.after, labels)
