"""How dictionaries of rows are looked at: atoms as patches, bars or curves, and rows held out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.domains import images
from atomstream.estimators.image import ImageDictionary
from atomstream.exceptions import InputError
from atomstream.io.feed import Feed, Position
from atomstream.io.images import Pictures, load_image
from atomstream.io.inputs import InputOptions, open_inputs
from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["RowsView"]

MOST_LISTED = 20
TABLES = (".csv", ".tsv", ".gz", ".parquet")
ROWS = 4096  # coded at a time


class RowsView(View):
    """Dictionaries of rows: nonnegative, signed, or made of samples."""

    learned_from = "rows"
    quality_on = "held-out rows"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        model = record.model
        size = f"{len(model.components_)} atoms of {model.n_features_in_} features"
        return {
            "model": f"{type(model).__name__}, {size}",
            "samples": f"{model.n_samples_seen_:,} in {model.n_steps_:,} steps",
            **common.progress(record),
            **common.objective(record, "sample"),
        }

    def quality(self, record: Record) -> dict[str, float]:
        """Return figures on the rows held out; empty where there are none."""
        model, rows = record.model, record.held_out
        if rows is None or not rows.shape[0]:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = rows.data if sp.issparse(rows) else rows
            energy = 0.5 * float(np.nansum(values.astype(float) ** 2)) / rows.shape[0]
            return {
                "unexplained share of the energy": -model.score(rows) / energy if energy else 0.0,
                "mean objective": model.objective(rows),
                "stationarity": model.stationarity(rows),
                "surrogate": model.surrogate(),
                "surrogate gap": model.surrogate_gap(rows),
            }

    def table(self, record: Record, most: int = MOST_LISTED) -> Table:
        """Return shares of code and energy, and the largest features or samples of atoms."""
        model, names = record.model, record.names
        energy, rows = common.energy_shares(model), []
        for atom in np.argsort(-model.importance_, kind="stable")[:most]:
            row = model.components_[atom]
            top = np.argsort(-np.abs(row), kind="stable")[:4]
            text = (
                ""
                if names is None
                else ", ".join(f"{names[i]} {row[i]:.2g}" for i in top if row[i])
            )
            if hasattr(model, "explain"):
                parts = model.explain(int(atom))
                text = ", ".join(f"{part.share:.0%} of row {part.id}" for part in parts)
            rows.append((int(atom), float(model.importance_[atom]), float(energy[atom]), text))
        last = "made of" if hasattr(model, "explain") else "largest features"
        heads = {"code_share": "share of the code", "energy_share": "share of the energy"}
        return Table("atom", heads | {"features": last}, rows)

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        return [
            *self._atoms(record),
            *self._how_well(record),
            *_from_what(record),
            *common.how(record),
        ]

    def _atoms(self, record: Record) -> list[Section]:
        model, named = record.model, record.names is not None
        n_atoms = len(model.components_)
        if record.shape is not None:
            figure, kind = plots.atoms(model, record.shape), "patches"
        elif named or model.n_features_in_ <= plots.FEW:
            figure, kind = plots.bars(model, record.names), "the features that weigh most in each"
        else:
            figure, kind = plots.curves(model), "curves over the features"
        n_drawn = n_atoms if record.shape is not None else min(len(figure.axes), n_atoms)
        caption = (
            f"{n_drawn} of {n_atoms} atoms as {kind}, most important first (the order of the "
            "table), with the share of each in all codes."
        )
        table = self.table(record)
        if not any(row[-1] for row in table.rows):  # nothing to say: features have no names
            heads = {name: head for name, head in table.columns.items() if name != "features"}
            table = Table("atom", heads, [row[:-1] for row in table.rows])
        unused = int((model.importance_ == 0).sum())
        title = f"The {len(table.rows)} most important of {n_atoms} atoms"
        note = f"{unused} atoms were never used." if unused else ""
        return [
            Section("atoms", "Atoms", caption, figure, chapter="What was learned"),
            common.table_section("importance", title, table, note),
        ]

    def _how_well(self, record: Record) -> list[Section]:
        found: list[Section] = []
        rows, chapter = record.held_out, "How well"
        if rows is not None and rows.shape[0]:
            caption = (
                "Rows that were kept out of learning, from the smallest relative error to the "
                "largest."
            )
            figure = plots.triples(record.model, rows, record.shape, names=record.names)
            found.append(Section("held_out", "Held-out rows", caption, figure, chapter=chapter))
            figures = {name: f"{value:.4g}" for name, value in self.quality(record).items()}
            caption = (
                f"On {rows.shape[0]} rows that were kept out of learning. Stationarity is 0 at a "
                "critical point; "
                "the surrogate gap tends to 0, up to the sampling error of these rows."
            )
            found.append(Section("quality", "Figures", caption, facts=figures))
            chapter = ""
        return found + common.learning(record, "samples", chapter)

    # -- codes and reconstructions

    def encode(self, record: Record, inputs: Sequence[str]) -> tuple[int, Iterator[NDArray]]:
        """Return the number of atoms, and the codes of all inputs, block by block."""
        sources = _opened(record, inputs)
        return len(record.model.components_), (
            codes for _, codes in _coded(record.model, Feed(sources, ROWS))
        )

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write an image rebuilt from its patches."""
        settings, shape = record.settings, record.shape
        if settings is None or shape is None or shape[:2] != (settings.patch, settings.patch):
            raise InputError(f"{record.path} is no run that has learned from images.")
        out = common.place_of_image(record, source, out)
        pixels = load_image(source, color=len(shape) == 3)
        if min(pixels.shape[:2]) < shape[0]:
            raise InputError(f"{source} is smaller than a patch of {shape[0]} x {shape[1]} pixels.")
        if stride > shape[0]:
            raise InputError(
                f"--stride is {stride}, needed is at most the size of a patch, {shape[0]}."
            )
        center = "patch" if settings.center else None
        rebuilt = images.reconstruct(record.model, pixels, shape[0], stride=stride, center=center)
        return common.write_rebuilt(out, pixels, rebuilt)

    def image_dictionary(self, record: Record) -> Any:
        """Return the atoms of a run on images as an `ImageDictionary`."""
        if record.shape is None:
            return super().image_dictionary(record)
        try:
            return ImageDictionary.from_learner(record.model, record.shape)
        except ValueError as error:
            raise InputError(f"{record.path}: {error}") from None


def _opened(record: Record, inputs: Sequence[str]) -> list[Any]:
    """Return the inputs as sources of rows with the features that were learned, in their order."""
    wanted = InputOptions() if record.settings is None else record.settings.input_options()
    sources = open_inputs(inputs, wanted)
    by_name = record.names is not None and all(name.endswith(TABLES) for name in inputs)
    if by_name and any(source.names not in (None, record.names) for source in sources):
        sources = open_inputs(inputs, replace(wanted, columns=tuple(record.names or ())))
    if isinstance(sources[0], Pictures):
        raise InputError(
            "encode takes tables and arrays; to rebuild an image use: atomstream reconstruct RUN "
            "IMAGE"
        )
    n_features = record.model.n_features_in_
    if sources[0].n_features != n_features:
        raise InputError(
            f"{sources[0].name} has {sources[0].n_features} columns, {record.path} has learned "
            f"{n_features}."
        )
    return sources


def _coded(model: Any, feed: Feed) -> Iterator[tuple[Any, NDArray]]:
    """Yield rows and their codes; complaints tell the number of the row among all."""
    n_rows = 0
    for piece in feed.batches(Position()):
        try:
            yield piece.X, model.transform(piece.X)
        except ValueError as error:
            sentence = re.sub(
                r"first in row (\d+)",
                lambda found: f"first in row {n_rows + int(found[1])}",  # noqa: B023
                str(error),
            )
            raise InputError(sentence) from None
        n_rows += piece.X.shape[0]


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    notes, held = record.notes, record.held_out
    missing = notes["n_missing"] / max(notes["n_entries"], 1)
    facts = {
        "inputs": common.inputs(record),
        "rows learned from": f"{record.model.n_samples_seen_:,}, passes included",
        "rows held out": f"{0 if held is None else held.shape[0]:,}, kept out of learning",
        "missing entries": f"{100 * missing:.2f} %" if record.settings.missing else "none allowed",
    }
    return [Section("inputs", "", facts=facts, chapter="From what")]
