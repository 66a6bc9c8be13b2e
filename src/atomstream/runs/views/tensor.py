"""How dictionaries of rank-one atoms are looked at: the loadings of each mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.tensors import Tensor, open_tensor
from atomstream.runs.record import Record
from atomstream.runs.task import Encoded, Table
from atomstream.runs.tasks.tensor import TensorSettings, axes_of, in_samples, labels_of, plain
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.cards import Picture
from atomstream.viz.report import Section

if TYPE_CHECKING:
    from atomstream.estimators.cp import OnlineCPDictionary

DRAWN = 12  # atoms in the picture
FEW = 12  # labels that the caption lists
LISTED = 3  # labels of a mode in tables


class TensorView(common.CommonView):
    """Dictionaries of rank-one atoms."""

    learned_from = "a tensor"
    samples = "samples of the tensor; pictures are means over all but their two longest axes"
    quality_on = "the first samples learned from"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        sizes, steps = " x ".join(map(str, model.shape_in_)), counted(model.n_steps_, "step")
        return {
            "model": f"OnlineCPDictionary, {counted(model.n_components, 'atom')} of {sizes}",
            "axes": ", ".join(_names(model)),
            "samples": f"{model.n_samples_seen_:,} in {steps}, passes included",
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and where the loadings of atoms are largest."""
        last = "largest loadings of each axis"
        return common.atoms_table(record, most, last, lambda atom: _largest(record.model, atom))

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return small pictures of the two longest axes, with means over all others."""
        while values.ndim > 3:
            values = values.mean(axis=1 + int(np.argmin(values.shape[1:])))
        return super().drawn(record, values)

    def learned(self, record: Record) -> list[Section]:
        """Return the loadings of the atoms, and their shares."""
        model, n_atoms = record.model, record.model.n_components
        caption = (
            f"{min(DRAWN, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with the "
            "importance of each. An atom is the outer product of the vectors beside each "
            "other, one for each axis; entries are numbered from 0 in the order of the axis."
        ) + "".join(f" {name}: {labels}." for name, labels in _short_axes(model))
        note = f"Of each axis up to {LISTED} labels, the largest loading first."
        return [
            Section("atoms", "Atoms", caption, plots.loadings(model)),
            common.importance(record, self.table(record), note),
        ]

    def judged(self, record: Record) -> list[Section]:
        """Return the figures measured at the end of the run."""
        figures = common.rounded(self.quality(record))
        if not figures:
            return []
        n_judged = counted(record.notes["n_judged"], "sample")
        caption = f"On the first {n_judged}, from which the model has learned too."
        return [Section("quality", "Figures", caption, facts=figures)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the tensor."""
        return {
            "input": common.inputs(record),
            "samples": f"{record.notes['n_in_tensor']:,}, along axis {record.settings.axis}",
            "axes of a sample": ", ".join(_names(record.model)),
            "missing entries": "allowed" if record.settings.missing else "none allowed",
        }

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of all samples, block by block."""
        tensors = [_opened(record, name) for name in inputs]
        codes = (((), codes) for tensor in tensors for codes in _coded(record.model, tensor))
        return Encoded(record.model.n_components, codes)


def _opened(record: Record, name: str) -> Tensor:
    """Return a tensor whose samples have the axes that were learned."""
    known, model = record.settings or TensorSettings((name,)), record.model
    labels = labels_of(model.axes_)
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
            yield name, ", ".join(f"{place} {plain(label)}" for place, label in enumerate(known))


def _largest(model: OnlineCPDictionary, atom: int) -> str:
    """Return the labels of the largest loadings of an atom, axis by axis."""
    parts, labels = [], labels_of(model.axes_)
    for matrix, group in zip(model.loadings_, model.axes_.groups, strict=True):
        column = np.abs(matrix[:, atom])
        order = np.argsort(-column, kind="stable")[:LISTED]
        places = np.unravel_index(order, [len(labels[mode]) for mode in group])
        shown = [
            " ".join(plain(labels[mode][place]) for mode, place in zip(group, spot, strict=True))
            for value, *spot in zip(column[order], *places, strict=True)
            if value > 0
        ]
        parts.append(", ".join(shown) or "none")
    return " | ".join(parts)
