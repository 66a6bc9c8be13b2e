"""Runs on rows of numbers: tables, arrays, patches of images, lines on standard input."""

import logging
import re
import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import atomstream
from atomstream.base import NamedColumns, counted
from atomstream.exceptions import DataWarning, InputError
from atomstream.io import STANDARD_INPUT, Holdout, Piece, check_axes, open_inputs
from atomstream.io.source import divide_alike
from atomstream.loop import dominance
from atomstream.runs.settings import Settings
from atomstream.runs.tasks import _passes
from atomstream.runs.tasks._learn_settings import LearnSettings
from atomstream.runs.tasks._rows_settings import RowsSettings

log = logging.getLogger(__name__)


class RowsTask(_passes.PassesTask):
    """A dictionary of rows: passes over the inputs, some rows kept out to judge by."""

    settings_type: ClassVar[type[Settings]] = LearnSettings
    help = (
        "INPUTS are images or folders of images, .csv, .tsv, .jsonl, .parquet, .arrow, .feather, "
        ".npy, .npz (dense or sparse), .mtx, .h5, .hdf5, .zarr or .h5ad files, or - for lines on "
        "standard input; text may be packed (.gz). Of the first .h5ad file the 2,000 genes are "
        "read that vary most for their mean, each over its standard deviation, or those that "
        "--columns names; of further ones the same genes. --key chooses a layer."
    )
    many = True
    noted = ("horizon", "n_missing", "n_entries", "n_skipped")
    omitted = (
        ("rows", "n_skipped", "could not be read or learned from (--on-bad-line skip)"),
        ("entries", "n_missing", "missing (--missing)"),
    )
    words = {  # noqa: RUF012 - read only
        "say missing=True": "say --missing",
        atomstream.OnlineNMF.SIGNED: "use --model dictionary or --on-bad-line skip",
        "OnlineNMF": "--model nmf",
        "classes=[...]": "--classes NAME, once for each",
    }

    def __init__(self, settings: RowsSettings) -> None:
        super().__init__(settings, open_inputs(settings.inputs, settings.input_options()))
        self._flattening = check_axes(self.sources, settings.sample_axes)
        # Genes of all files are divided by the deviations of the first: one dictionary, one scale.
        divide_alike(self.sources, self.sources[0].deviation)
        self.n_missing = self.n_entries = 0
        self.n_skipped = sum(source.n_left_out for source in self.sources)
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
        for source in self.sources:
            try:
                source.take_columns(names, "the run learned from")
            except InputError as error:
                if not source.live:
                    raise
                raise InputError(
                    f"{error} Where its first line is a row, resume with --header no: columns then "
                    "stand in the order that was learned."
                ) from None
        self.names = names
        super().restore(model, notes)

    def batch_of(self, piece: Piece) -> Any:
        """Return the rows that are not held out; None where all are."""
        piece, self._refusal = self._without_bad_rows(piece)
        held = self.holdout.choose(piece.X, piece.ids)
        if held.any():  # a row that the model refuses is for it to name
            places = np.flatnonzero(held)
            held[places[self.settings.bad_rows(piece.X[places])]] = False
        self._piece, self._held, self._learned_rows = piece, held, self._places[~held]
        # All rows are bad, or a small batch is by chance held out whole: nothing is to be learned.
        if held.all():
            return None
        rows = piece.X[~held] if held.any() else piece.X
        # Once: what is asked here is of the data as a whole, and the first batch stands for it.
        if not self.learned:
            self._look_at(rows)
        rows = rows if self.names is None else NamedColumns(rows, self.names)
        if self.settings.label_column is None:
            return rows
        return rows, self.settings.labels_of(piece.labels[0][~held])

    @property
    def held_labels(self) -> NDArray | None:
        """Labels of the rows held out; None without them."""
        labels = self.holdout.labels if self.settings.label_column is not None else None
        return None if labels is None else self.settings.labels_of(labels)

    def _look_at(self, rows: Any) -> None:
        """Warn where the first batch shows that what is learned may not be what was meant."""
        if self._flattening is not None:
            warnings.warn(self._flattening, DataWarning, stacklevel=2)
        settings, is_image = self.settings, self.sources[0].shape is not None
        if is_image or (settings.scale, settings.loss) != ("none", "squared"):
            return
        sentence = dominance(rows, self.names, "--scale std")
        if sentence is not None and "scale" in self.model.PARAMETERS:
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
                named = piece.labels if self.settings.label_column is None else piece.labels[:1]
                labels = [label[self._held] for label in named]
                self.holdout.keep(piece.X[self._held], piece.ids[self._held], labels)
        # Raised here and not where it was found: the rows before it are now learned and kept.
        if self._refusal is not None:
            self.at = self.at._replace(row=self.at.row + len(piece.ids))
            raise self._refusal

    def nothing_learned(self) -> str:
        """Return why a run over all inputs has learned nothing."""
        why = self.settings.why_nothing(self.sources[0].name) if self.n_entries else None
        return super().nothing_learned() if why is None else why

    def explained(self, error: ValueError) -> str:
        """Return the complaint in the words of the command line, with the row of the input."""
        sentence = super().explained(error)
        name, row = self.sources[self.at.source].name, self.at.row
        # The model counts rows of what it was given; people count lines of their file.
        found = re.search(r"first in row (\d+)(, column (?:\d+|'[^']*'))?", sentence)
        if found and self._piece.after.source == self.at.source:
            place = f"first in row {row + self._learned_rows[int(found[1])]}"
            return sentence.replace(found[0], f"{place}{found[2] or ''} of {name}")
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
        if self.at.epoch < 2 or not np.isfinite(self.horizon):
            return counted(self._n_samples, self.unit)
        return f"{self.at.epoch} passes over {counted(round(self.horizon), self.unit)}"


def _some(piece: Piece, rows: NDArray | slice) -> Piece:
    """Return some rows of a batch, with the place after all of them."""
    labels = tuple(label[rows] for label in piece.labels)
    return Piece(piece.X[rows], piece.ids[rows], piece.after, labels)
