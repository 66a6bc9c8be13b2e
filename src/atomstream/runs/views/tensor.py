"""How dictionaries of rank-one atoms are looked at: the loadings of each mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.tensors import Tensor, open_tensor
from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.tasks.tensor import TensorSettings, axes_of, in_samples
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

if TYPE_CHECKING:
    from atomstream.estimators.cp import OnlineCPDictionary

__all__ = ["TensorView"]

DRAWN = 12  # atoms in the picture
FEW = 12  # labels that the caption lists
LISTED = 3  # labels of a mode in tables
MIDNIGHT = re.compile(r"(T00:00:00)?\.0{9}$")  # of dates: what they do not tell


class TensorView(View):
    """Dictionaries of rank-one atoms."""

    learned_from = "a tensor"
    quality_on = "the first samples learned from"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        model = record.model
        sizes = " x ".join(map(str, model.shape_in_))
        return {
            "model": f"OnlineCPDictionary, {counted(model.n_components, 'atom')} of {sizes}",
            "axes": ", ".join(_names(model)),
            "samples": f"{model.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}, "
            "passes included",
            **common.progress(record),
            **common.objective(record, "sample"),
        }

    def quality(self, record: Record) -> dict[str, float]:
        """Return what was measured at the end of the run."""
        return dict(record.notes.get("figures", {}))

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and where the loadings of atoms are largest."""
        model = record.model
        energy, rows = common.energy_shares(model), []
        for atom in np.argsort(-model.importance_, kind="stable")[:most]:
            shares = float(model.importance_[atom]), float(energy[atom])
            rows.append((int(atom), *shares, _largest(model, atom)))
        heads = {"code_share": "share of the code", "energy_share": "share of the energy"}
        return Table("atom", heads | {"features": "largest loadings of each axis"}, rows)

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        model, table = record.model, self.table(record)
        n_atoms = model.n_components
        n_drawn = min(DRAWN, n_atoms)
        caption = (
            f"{n_drawn} of {counted(n_atoms, 'atom')}, most important first, with the share "
            "of each in all "
            "codes. An atom is the outer product of the vectors beside each other, one for each "
            "axis; entries are numbered from 0 in the order of the axis."
        ) + "".join(f" {name}: {labels}." for name, labels in _short_axes(model))
        title = f"The {len(table.rows)} most important of {counted(n_atoms, 'atom')}"
        note = f"Of each axis up to {LISTED} labels, the largest loading first."
        unused = int((model.importance_ == 0).sum())
        note += f" Atoms that were never used: {unused}." if unused else ""
        return [
            Section("atoms", "Atoms", caption, plots.loadings(model), "What was learned"),
            common.table_section("importance", title, table, note),
            *_how_well(record, self.quality(record)),
            *_from_what(record),
            *common.how(record),
        ]

    def encode(self, record: Record, inputs: Sequence[str]) -> tuple[int, Iterator[NDArray]]:
        """Return the number of atoms, and the codes of all samples, block by block."""
        tensors = [_opened(record, name) for name in inputs]
        return record.model.n_components, (
            codes for tensor in tensors for codes in _coded(record.model, tensor)
        )


def _opened(record: Record, name: str) -> Tensor:
    """Return a tensor whose samples have the axes that were learned."""
    known, model = record.settings or TensorSettings((name,)), record.model
    labels = _labels(model)
    columns = known.columns if name.lower().endswith(".parquet") else ()
    tensor = open_tensor(name, key=known.key, axis=known.axis, columns=columns, known=labels)
    if tensor.shape != model.shape_in_:
        raise InputError(
            f"{name} has samples of shape {tensor.shape}, {record.path} has learned "
            f"{model.shape_in_}."
        )
    return tensor


def _coded(model: OnlineCPDictionary, tensor: Tensor) -> Iterator[NDArray]:
    """Yield the codes of the samples of a tensor."""
    axes = axes_of(tensor)
    for block in tensor.blocks(0, 0):
        try:
            yield model.transform(axes.restore(block.X))
        except ValueError as error:
            sentence = in_samples(str(error), int(block.ids[0]), tensor.name)
            raise InputError(sentence.replace(", or say missing=True", "")) from None


def _names(model: OnlineCPDictionary) -> list[str]:
    """Return the names of the axes of a sample with their sizes."""
    names = model.axes_.names or [f"mode {mode}" for mode in range(len(model.shape_in_))]
    return [f"{name} ({size})" for name, size in zip(names, model.shape_in_, strict=True)]


def _short_axes(model: OnlineCPDictionary) -> Iterator[tuple[str, str]]:
    """Yield the axes with few labels, and these."""
    names, labels = model.axes_.names or (), model.axes_.labels or ()
    for name, known in zip(names, labels, strict=True):
        if known is not None and len(known) <= FEW:
            yield name, ", ".join(f"{place} {_plain(label)}" for place, label in enumerate(known))


def _plain(label: object) -> str:
    return MIDNIGHT.sub("", str(label))


def _labels(model: OnlineCPDictionary) -> list[NDArray]:
    """Return the labels along each axis of a sample, numbers from 0 where it has none."""
    found = model.axes_.labels or (None,) * len(model.shape_in_)
    return [
        np.arange(size) if labels is None else labels
        for labels, size in zip(found, model.shape_in_, strict=True)
    ]


def _largest(model: OnlineCPDictionary, atom: int) -> str:
    """Return the labels of the largest loadings of an atom, axis by axis."""
    parts, labels = [], _labels(model)
    for matrix, group in zip(model.loadings_, model.axes_.groups, strict=True):
        column = np.abs(matrix[:, atom])
        order = np.argsort(-column, kind="stable")[:LISTED]
        places = np.unravel_index(order, [len(labels[mode]) for mode in group])
        shown = [
            " ".join(_plain(labels[mode][place]) for mode, place in zip(group, spot, strict=True))
            for value, *spot in zip(column[order], *places, strict=True)
            if value > 0
        ]
        parts.append(", ".join(shown) or "none")
    return " | ".join(parts)


def _how_well(record: Record, figures: dict[str, float]) -> list[Section]:
    if not figures:
        return common.learning(record, "samples", "How well")
    caption = (
        f"On the first {counted(record.notes['n_judged'], 'sample')}, from which the "
        "model has learned too."
    )
    shown = {name: f"{value:.4g}" for name, value in figures.items()}
    quality = Section("quality", "Figures", caption, facts=shown, chapter="How well")
    return [quality, *common.learning(record, "samples")]


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    facts = {
        "input": common.inputs(record),
        "samples": f"{record.notes['n_in_tensor']:,}, along axis {record.settings.axis}",
        "axes of a sample": ", ".join(_names(record.model)),
        "missing entries": "allowed" if record.settings.missing else "none allowed",
    }
    return [Section("inputs", "", facts=facts, chapter="From what")]
