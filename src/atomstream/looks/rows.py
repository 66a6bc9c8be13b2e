"""Dictionaries of rows: atoms as patches, bars or curves, and rows held out."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import as_known, checked_array, counted, plural, renumbered
from atomstream.exceptions import DataWarning, InputError
from atomstream.io import (
    STANDARD_INPUT,
    Feed,
    Naming,
    Pictures,
    Piece,
    Position,
    bad_rows,
    kept_format,
    load_image,
    open_inputs,
)
from atomstream.io.input_options import AUTO, RAISE, SKIP, InputOptions
from atomstream.io.inputs import CHECKED, OF_COLUMNS
from atomstream.io.outputs import Labels
from atomstream.io.source import divide_alike
from atomstream.looks import Encoded, FileCoder, Look, Record, Table, drawings, report
from atomstream.looks.cards import Picture, bars
from atomstream.looks.rebuilt import place_of_image, write_rebuilt
from atomstream.looks.samples import Users
from atomstream.loop import scaling_of
from atomstream.streams.overlaps import reconstruct
from atomstream.watch import figures_on

ROWS = 4096  # coded at a time
MAX_ENTRIES = 1 << 23  # of rows held out, as a dense array
MAX_MASKED = 200  # rows in the picture of outliers
UNITS = {
    "std": "columns over their standard deviations",
    "max": "columns over their largest absolute values",
    "tfidf": "columns times their inverse document frequencies",
    "log1p": "log(1 + x)",
    "zscore": "columns without their means, over their standard deviations",
}


class RowsCoder(FileCoder):
    """Codes rows of tables, and rebuilds images from their patches."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of all inputs, block by block, with the columns that name rows.

        Rows that cannot be coded keep their place where they do not end it: their codes are NaN.
        """
        feed = Feed(_opened(record, inputs, ids), ROWS)
        names = (*feed.sources[0].row_names, *(["predicted"] if _predicts(record.model) else []))
        return Encoded(len(record.model.components_), _coded(record, feed), names)

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write an image rebuilt from its patches."""
        settings, shape = record.settings, record.shape
        if settings is None or shape is None or shape[:2] != (settings.patch, settings.patch):
            raise InputError(f"{record.path} is no run that has learned from images.")
        out = place_of_image(record, source, out)
        color = len(shape) == 3
        form, pixels = kept_format(out, source, color=color), load_image(source, color=color)
        if min(pixels.shape[:2]) < shape[0]:
            raise InputError(f"{source} is smaller than a patch of {shape[0]} x {shape[1]} pixels.")
        if stride > shape[0]:
            raise InputError(
                f"--stride is {stride}, needed is at most the size of a patch, {shape[0]}."
            )
        center = "patch" if settings.center else None
        rebuilt = reconstruct(record.model, pixels, shape[0], stride=stride, center=center)
        return write_rebuilt(out, pixels, rebuilt, form)

    def patch_shape(self, record: Record) -> tuple[int, ...]:
        """Return the shape of the patches, for a run on images."""
        return super().patch_shape(record) if record.shape is None else record.shape


class RowsLook(Look):
    """The look of dictionaries of rows, nonnegative or signed."""

    files: ClassVar[FileCoder] = RowsCoder("rows", has_ids=True, skips=True, reads_tables=True)
    quality_on = "held-out rows"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, scale = record.model, scaling_of(record.model).kind
        n_held = record.notes.get("holdout", {}).get("n_held", 0)
        atoms, of = len(model.components_), counted(model.n_features_in_, "feature")
        return {
            "model": f"{type(model).__name__}, {counted(atoms, 'atom')} of {of}",
            plural(self.unit(record)): (
                f"{model.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}, passes included"
                + (f"; {n_held:,} more held out" if n_held else "")
            ),
            **({"scale": UNITS[scale]} if scale != "none" else {}),
            **_in_rounds(record),
        }

    def unit(self, record: Record) -> str:
        """Return what the objective is a mean over."""
        settings, shape = record.settings, record.shape
        if settings is None or shape is None:
            return "row"
        return "patch" if shape[:2] == (settings.patch, settings.patch) else "row"

    def quality(self, record: Record) -> dict[str, float]:
        """Return figures on the rows held out; empty where there are none."""
        # A checkpoint holds them: coding the rows once more loads the compiler.
        return super().quality(record) or figures_on(record.model, record.held_out)

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and the largest features of atoms."""

        def largest(atom: int) -> str:
            return largest_features(record.model.components_[atom], record.names)

        return report.atoms_table(record, most, "largest features", largest)

    def learned(self, record: Record) -> list[report.Section]:
        """Return the atoms as patches, bars or curves, and their shares."""
        model, table = record.model, self.table(record)
        n_atoms = n_drawn = len(model.components_)
        few = _few(record)
        shown, units = _in_units(model, of_data=not few)
        if record.shape is not None:
            figure, kind = drawings.atoms(shown, record.shape), "patches"
        elif few:
            figure = drawings.bars(model, record.names)
            kind = "the features that weigh most in each"
        else:
            figure, kind = drawings.curves(shown), "curves over the features"
        if record.shape is None:
            n_drawn = min(len(figure.axes), n_atoms)
        caption = (
            f"{n_drawn} of {counted(n_atoms, 'atom')} as {kind}, most important first (the order "
            f"of the table), with the importance of each.{units}"
        )
        if not any(row[-1] for row in table.rows):  # nothing to say: features have no names
            table = report.atoms_table(record, len(table.rows))
        return [report.Section("atoms", "Atoms", caption, figure), report.importance(record, table)]

    def users(self, record: Record) -> Users | None:
        """Return the rows held out, their codes, and how well these explain them."""
        model, rows = record.model, record.held_out
        if rows is None or not rows.shape[0]:
            return _kept(super().users(record), record)
        if rows.shape[0] * rows.shape[1] > MAX_ENTRIES:
            return None
        with warnings.catch_warnings(action="ignore"):
            codes = np.asarray(model.transform(rows))
            made = np.asarray(model.inverse_transform(codes), np.float64)
        rows = checked_array(rows, "rows", np.float64)
        names, shown = record.held_out_names, self.drawn(record, rows)
        return Users(
            codes,
            lambda i: f"held-out {self.unit(record)} {i if names is None else names[i]}",
            f"Samples are {counted(rows.shape[0], 'row')} that were kept out of learning.",
            lost=np.nansum((rows - made) ** 2, axis=1),
            energy=np.nansum(rows**2, axis=1),
            picture=shown.__getitem__ if shown else None,
            text=(lambda i: largest_features(rows[i], record.names)) if record.names else None,
        )

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return small pictures: bars where features are few or have names."""
        return [bars(row) for row in values] if _few(record) else super().drawn(record, values)

    def judged(self, record: Record) -> list[report.Section]:
        """Return what the model makes of the rows held out."""
        rows = record.held_out
        if rows is None or not rows.shape[0]:
            return []
        shown = "Rows kept out of learning, from the smallest relative error to the largest."
        model, units = record.model, ""
        if scaling_of(model).kind != "none" and _few(record):
            # In units of the data one column would hide the others.
            model, rows = _in_scale(model), scaling_of(model).apply(rows)
            units = f" In units of the scale ({UNITS[scaling_of(record.model).kind]})."
        if record.shape is not None:
            units += " Errors are red where too much is reconstructed, and blue where too little."
        figure = drawings.triples(model, rows, record.shape, names=record.names)
        measured = (
            f"On {counted(rows.shape[0], 'row')} that were kept out of learning. Stationarity is "
            "0 at a critical point; the surrogate gap tends to 0, up to the sampling error of "
            "these rows."
        )
        figures = report.rounded(self.quality(record))
        return [
            report.Section("held_out", "Held-out rows", shown + units, figure),
            *_outliers(record),
            report.Section("quality", "Figures", measured, facts=figures),
        ]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the rows."""
        notes, held = record.notes, record.held_out
        missing = 100 * notes["n_missing"] / max(notes["n_entries"], 1)
        skipped = record.settings.on_bad_line == "skip"
        return {
            "inputs": report.inputs(record),
            "rows learned from": f"{record.model.n_samples_seen_:,}, passes included",
            **({"rows left out as bad": f"{notes['n_skipped']:,}"} if skipped else {}),
            "rows held out": f"{0 if held is None else held.shape[0]:,}, kept out of learning",
            "missing entries": f"{missing:.2f} %" if record.settings.missing else "none allowed",
        }


def _outliers(record: Record) -> list[report.Section]:
    """Return which entries of the first rows held out are outliers, where the loss knows any."""
    if not getattr(record.model.algorithm_.objective.loss, "trims", False):
        return []
    found = record.model.outliers(as_known(record.model, record.held_out[:MAX_MASKED])) > 0
    caption = (
        f"The first {counted(len(found), 'row')} that were kept out of learning. Black entries, "
        f"{found.mean():.1%} of all, lie beyond the threshold of their row: they count as missing."
    )
    return [report.Section("outliers", "Outliers", caption, drawings.mask(found))]


def largest_features(row: NDArray, names: Sequence[str] | None) -> str:
    """Return the features that weigh most in a row, with their values."""
    row = np.nan_to_num(row)
    top = np.argsort(-np.abs(row), kind="stable")[:4]
    return ", ".join(f"{names[i]} {row[i]:.2g}" for i in top if names and row[i])


def _kept(users: Users | None, record: Record) -> Users | None:
    """Return samples that a run has kept by their largest features, where these have names."""
    values = record.notes.get("sample_values")
    if users is None or values is None or not _few(record):
        return users
    return replace(users, text=lambda i: largest_features(values[i], record.names))


def _few(record: Record) -> bool:
    """Return whether atoms are shown by their features, rather than as patches or curves."""
    named = record.names is not None or record.model.n_features_in_ <= drawings.MAX_BARS
    return named and record.shape is None


def _in_scale(model: Any) -> Any:
    """Return a dictionary that takes and gives rows in units of its scale."""
    scale = scaling_of(model)
    return SimpleNamespace(
        transform=lambda X: model.transform(as_known(model, scale.undo(X))),
        inverse_transform=lambda codes: scale.apply(model.inverse_transform(codes)),
    )


def _in_units(model: Any, *, of_data: bool) -> tuple[Any, str]:
    """Return atoms to draw, in units of the data or of the scale, and a sentence that says so."""
    scale = scaling_of(model)
    if scale.kind == "none":
        return model, ""
    if of_data and scale.linear:
        atoms = scale.undo_atoms(model.components_)
        shown = SimpleNamespace(components_=atoms, importance_=model.importance_)
        return shown, " Atoms are drawn in the units of the data."
    return model, f" Atoms are in units of the scale ({UNITS[scale.kind]})."


def _opened(record: Record, inputs: Sequence[str], ids: Sequence[str]) -> list[Any]:
    """Return the inputs as sources of rows with the features that were learned, in their order."""
    wanted = InputOptions() if record.settings is None else record.settings.input_options()
    # New inputs may lack columns that named rows while learning, and be of another kind.
    naming = Naming(ids, known=wanted.naming.ids, kept=True)
    skips = SKIP if record.skips_bad_rows else RAISE
    known = frozenset(CHECKED) - record.reading.keys() - OF_COLUMNS
    more: dict[str, Any] = {"naming": naming, "on_bad_line": skips, "where_used": known}
    if record.reading.get("triples") and not wanted.triples:
        more |= {"index": AUTO, "columns": (), "drop": ()}  # which are of other tables
    wanted = by_name = replace(wanted, **more | record.reading)
    # Columns that were chosen while learning are chosen by their names: numbers may choose others.
    if record.names is not None and not wanted.triples and (wanted.columns or wanted.drop):
        by_name = replace(wanted, columns=tuple(record.names), drop=())
    try:
        sources = open_inputs(inputs, by_name)
    except InputError:
        # A name that comes twice chooses nothing, where a number may.
        if by_name is wanted or STANDARD_INPUT in inputs:
            raise
        sources = open_inputs(inputs, wanted)
    for source in sources:
        source.take_columns(record.names, f"{record.path} has learned from")
    if isinstance(sources[0], Pictures):
        raise InputError("encode takes tables and arrays; reconstruct RUN IMAGE rebuilds an image.")
    found, n_features = sources[0], record.model.n_features_in_
    if found.n_features != n_features:
        n_columns = counted(found.n_features, "column")
        raise InputError(f"{found.name} has {n_columns}, {record.path} has learned {n_features}.")
    divide_alike(sources, record.notes.get("deviation"))
    return sources


def _coded(record: Record, feed: Feed) -> Iterator[tuple[Labels, NDArray]]:
    """Yield names of rows and codes; complaints tell the number of the row among all."""
    n_rows = n_bad = first = 0
    for piece in feed.batches(Position()):
        bad = _refused(record, piece.X)
        if bad.any() and not n_bad:
            first = n_rows + int(bad.argmax())
        places = n_rows + np.flatnonzero(~bad)
        try:
            codes = _codes(record.model, piece.X, bad)
            yield _labels(record.model, piece, codes, bad), codes
        except ValueError as error:
            sentence = renumbered(str(error), lambda row: f"first in row {places[row]}")  # noqa: B023
            raise InputError(sentence) from None
        n_rows, n_bad = n_rows + len(bad), n_bad + int(bad.sum())
    if n_bad:
        said = f"{n_bad:,} of {counted(n_rows, 'row')} could not be read or coded: the codes are"
        said += f" NaN there. The first is row {first}, counted from 0."
        warnings.warn(said, DataWarning, stacklevel=2)


def _predicts(model: Any) -> bool:
    return hasattr(type(model), "coef_")


def _labels(model: Any, piece: Piece, codes: NDArray, bad: NDArray) -> Labels:
    """Return what names rows, and what is predicted from their codes, nothing for bad ones."""
    if not _predicts(model):
        return piece.labels
    predicted = np.full(len(bad), None)
    predicted[~bad] = model._predicted(model._scored(codes[~bad]))
    return (*piece.labels, predicted)


def _codes(model: Any, X: Any, bad: NDArray) -> NDArray:
    """Return the codes of rows, NaN for bad ones."""
    if not bad.any():
        return np.asarray(model.transform(as_known(model, X)))
    codes = np.full((len(bad), len(model.components_)), np.nan)
    if not bad.all():
        codes[~bad] = model.transform(as_known(model, X[~bad]))
    return codes


def _refused(record: Record, X: Any) -> NDArray:
    """Return which rows are left without codes."""
    if not record.skips_bad_rows:
        return np.zeros(X.shape[0], bool)
    if record.settings is not None:
        return record.settings.bad_rows(X)
    tags = record.model.__sklearn_tags__().input_tags
    return bad_rows(X, missing=tags.allow_nan, nonnegative=tags.positive_only)


def _in_rounds(record: Record) -> dict[str, Any]:
    """Return rounds over shards and how time was spent; empty for runs without rounds."""
    notes = record.notes
    if "n_rounds" not in notes:
        return {}
    said = [f"{counted(notes['n_rounds'], 'round')} of {counted(record.settings.slots, 'slot')}"]
    figures = dict(notes["rounds"])
    if rate := figures.pop("rows per second", None):
        said.append(f"{rate:,.0f} rows per second")
    shares = sorted(figures.items(), key=lambda pair: -pair[1])
    said += [f"{part:.0%} {name.removeprefix('share of ')}" for name, part in shares]
    pairs = zip(notes["skipped_shards"], notes["skip_reasons"], strict=True)
    skipped = ", ".join(f"{name} ({why.rstrip('.')})" for name, why in pairs)
    return {"rounds": ", ".join(said), **({"shards left out": skipped} if skipped else {})}
