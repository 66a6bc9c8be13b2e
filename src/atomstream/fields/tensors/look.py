"""Dictionaries of rank-one atoms: the loadings of each mode."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import counted, renumbered
from atomstream.base.axes import Axes
from atomstream.exceptions import InputError
from atomstream.fields.tensors.files import Tensor, open_tensor
from atomstream.io import naming_source
from atomstream.looks import Encoded, FileCoder, Look, Record, Table, canvas, report
from atomstream.looks.canvas import BLUE, IMAGE, TEXT, TICK, empty, heading, shown
from atomstream.looks.cards import Picture

MIDNIGHT = re.compile(r"(T00:00:00)?\.0{9}$")  # of dates: what they do not tell
DRAWN = 12  # atoms in the picture
MAX_LABELS = 12  # labels that the caption lists
LISTED = 3  # labels of a mode in tables
BARS = 8  # up to this number of entries is drawn as bars rather than as a curve
NARROW = 3  # an image whose sides have a larger ratio than this fills its panel
TINY = 1e-12


class TensorCoder(FileCoder):
    """Codes the samples of tensors."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of all samples, block by block."""
        tensors = [_opened(record, name) for name in inputs]
        codes = (((), codes) for tensor in tensors for codes in _coded(record.model, tensor))
        return Encoded(record.model.n_components, codes)


class TensorLook(Look):
    """The look of dictionaries of rank-one atoms."""

    files = TensorCoder("a tensor")
    samples = "samples of the tensor; pictures are means over all but their two longest axes"
    quality_on = "the first samples learned from"
    note = f"Of each axis up to {LISTED} labels, the largest loading first."

    def plot(self, model: Any, **options: Any) -> canvas.Figure:
        """Draw the loadings of each mode."""
        return loadings(model, **options)

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        sizes, steps = " x ".join(map(str, model.shape_in_)), counted(model.n_steps_, "step")
        return {
            "model": f"OnlineCPDictionary, {counted(model.n_components, 'atom')} of {sizes}",
            "axes": ", ".join(_sizes(model)),
            "samples": f"{model.n_samples_seen_:,} in {steps}, passes included",
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and where the loadings of atoms are largest."""
        last = "largest loadings of each axis"
        return report.atoms_table(record, most, last, lambda atom: _largest(record.model, atom))

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return small pictures of the two longest axes, with means over all others."""
        # The shortest axis goes first: it loses least.
        while values.ndim > 3:
            values = values.mean(axis=1 + int(np.argmin(values.shape[1:])))
        return super().drawn(record, values)

    def caption(self, record: Record) -> str:
        """Return what the picture of the atoms shows."""
        n_atoms = record.model.n_components
        return (
            f"{min(DRAWN, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with the "
            "importance of each. An atom is the outer product of the vectors beside each "
            "other, one for each axis; entries are numbered from 0 in the order of the axis."
        ) + "".join(f" {name}: {labels}." for name, labels in _short_axes(record.model))

    def judged(self, record: Record) -> list[report.Section]:
        """Return the figures measured at the end of the run."""
        figures = report.rounded(self.quality(record))
        if not figures:
            return []
        n_judged = counted(record.notes["n_judged"], "sample")
        caption = f"On the first {n_judged}, from which the model has learned too."
        return [report.Section("quality", "Figures", caption, facts=figures)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the tensor."""
        return {
            "input": report.inputs(record),
            "samples": f"{record.notes['n_in_tensor']:,}, along axis {record.settings.axis}",
            "axes of a sample": ", ".join(_sizes(record.model)),
            "missing entries": "allowed" if record.settings.missing else "none allowed",
        }


def axes_of(tensor: Tensor) -> Axes:
    """Return the axes of the samples of a tensor, each a mode of its own."""
    groups = tuple((mode,) for mode in range(len(tensor.shape)))
    return Axes(tensor.shape, groups, tensor.axes, tensor.labels)


def labels_of(axes: Axes) -> list[NDArray]:
    """Return the labels along each axis of a sample, numbers from 0 where it has none."""
    found = axes.labels or (None,) * len(axes.shape)
    return [
        np.arange(size) if labels is None else labels
        for labels, size in zip(found, axes.shape, strict=True)
    ]


def label_text(label: object) -> str:
    """Return a label as text, a date without its midnight."""
    return MIDNIGHT.sub("", str(label))


def in_samples(sentence: str, first: int, name: str) -> str:
    """Return a complaint about rows in terms of samples, the first of which has this number."""
    return renumbered(sentence, lambda row: f"first in sample {first + row} of {name}")


def _opened(record: Record, name: str) -> Tensor:
    """Return a tensor whose samples have the axes that were learned."""
    settings, model, how = record.settings, record.model, {}
    if settings is not None:
        # Those of the run were for its own file; other kinds of files have no columns.
        columns = settings.columns if name.lower().endswith(".parquet") else ()
        how = {"key": settings.key, "axis": settings.axis, "columns": columns}
    # By the labels that were learned, so that entries of a list come to their places.
    tensor = open_tensor(name, **how, known=labels_of(model.axes_))
    if tensor.shape != model.shape_in_:
        raise InputError(
            f"{name} has samples of shape {tensor.shape}, {record.path} has learned "
            f"{model.shape_in_}."
        )
    names = model.axes_.names
    if tensor.axes and names and name.lower().endswith(".parquet") and tensor.axes != names:
        raise InputError(
            f"{name} has the axes {', '.join(tensor.axes)} after the samples, {record.path} has "
            f"learned {', '.join(names)}; bring the columns into that order."
        )
    return tensor


def _coded(model: Any, tensor: Tensor) -> Iterator[NDArray]:
    """Yield the codes of the samples of a tensor."""
    axes = axes_of(tensor)
    with naming_source(tensor.name):
        modes, orders = model.axes_.orders(axes)
    for block in tensor.blocks(0, 0):
        X = axes.restore(block.X)
        # Sparse samples are read by the labels that were learned.
        X = X if sp.issparse(X) else X.transpose(0, *(mode + 1 for mode in modes))
        for axis, order in enumerate(orders, 1):
            X = X if order is None else np.take(X, order, axis=axis)
        try:
            yield model.transform(X)
        except ValueError as error:
            sentence = in_samples(str(error), int(block.ids[0]), tensor.name)
            # Whoever encodes cannot change how the model was learned.
            raise InputError(sentence.replace(", or say missing=True", "")) from None


def _sizes(model: Any) -> list[str]:
    """Return the names of the axes of a sample with their sizes."""
    names = model.axes_.names or [f"mode {mode}" for mode in range(len(model.shape_in_))]
    return [f"{name} ({size})" for name, size in zip(names, model.shape_in_, strict=True)]


def _short_axes(model: Any) -> Iterator[tuple[str, str]]:
    """Yield the axes with few labels, and these."""
    names, labels = model.axes_.names or (), model.axes_.labels or ()
    for name, known in zip(names, labels, strict=True):
        # More labels than that would fill the page.
        if known is not None and len(known) <= MAX_LABELS:
            labelled = (f"{place} {label_text(label)}" for place, label in enumerate(known))
            yield name, ", ".join(labelled)


def _largest(model: Any, atom: int) -> str:
    """Return the labels of the largest loadings of an atom, axis by axis."""
    parts, labels = [], labels_of(model.axes_)
    for matrix, group in zip(model.loadings_, model.axes_.groups, strict=True):
        # By size: signed loadings matter at both ends.
        column = np.abs(matrix[:, atom])
        order = np.argsort(-column, kind="stable")[:LISTED]
        places = np.unravel_index(order, [len(labels[mode]) for mode in group])
        shown = [
            " ".join(label_text(labels[mode][i]) for mode, i in zip(group, spot, strict=True))
            for value, *spot in zip(column[order], *places, strict=True)
            if value > 0
        ]
        parts.append(", ".join(shown) or "none")
    return " | ".join(parts)


def loadings_data(
    model: Any, n_atoms: int = 12, order: str = "importance"
) -> tuple[list[NDArray], NDArray]:
    """Return what `loadings` draws: the loadings of the most important atoms, and their shares.

    Parameters
    ----------
    model : fitted OnlineCPDictionary
    n_atoms : int, default=12
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.

    Returns
    -------
    columns : list of ndarray of shape (n_atoms, ...)
        One per mode or group of modes; each loading vector has the shape of its group.
    shares : ndarray of shape (n_atoms,)
        Shares of the code.
    """
    drawn = shown(model, n_atoms, order)
    columns = []
    for matrix, group in zip(model.loadings_, model.axes_.groups, strict=True):
        sizes = [model.axes_.shape[mode] for mode in group]
        columns.append(matrix.T[drawn].reshape(len(drawn), *sizes))
    return columns, model.importance_[drawn]


def loadings(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    n_atoms: int = 12,
    n_columns: int = 2,
    order: str = "importance",
) -> canvas.Figure:
    """Draw the loadings of the most important atoms, the modes of an atom side by side.

    A single mode is drawn as a curve, or as bars if it is short. A group of two modes is drawn as
    an image. A group of three modes is drawn as a colour image if the last one has three entries.
    Each image has its own scale. Larger groups are drawn as curves.

    Parameters
    ----------
    model : fitted OnlineCPDictionary
    names : sequence of str, optional
        Names of the modes or groups of modes; by default those of the data array that the model has
        learned from, or numbers from 0.
    n_atoms : int, default=12
    n_columns : int, default=2
        Number of atoms in a row.
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    columns, shares = loadings_data(model, n_atoms, order)
    numbers = shown(model, n_atoms, order)
    names = _names(model) if names is None else list(names)
    if len(names) != len(columns):
        raise ValueError(
            f"names must have one name for each of {len(columns)} modes or groups of modes, "
            f"got {len(names)}."
        )
    n_columns, n_modes = min(n_columns, len(shares)), len(columns)
    n_rows = -(-len(shares) // n_columns)
    figure = empty(1.7 * n_columns * n_modes, 1.25 * n_rows + 0.3)
    grid = figure.subplots(n_rows, n_columns * n_modes, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for place, (atom, share) in enumerate(zip(numbers, shares, strict=True)):
        row, first = place // n_columns, n_modes * (place % n_columns)
        for mode, values in enumerate(columns):
            axes = grid[row, first + mode]
            _draw(axes, values[place])
            axes.set_title(heading(atom, share) if mode == 0 else "", fontsize=TEXT)
            if place + n_columns >= len(shares):
                axes.set_xlabel(names[mode], fontsize=TEXT)
    return figure


def _names(model: Any) -> list[str]:
    """Return the names of the modes, or of groups of modes."""
    known, groups = model.axes_.names, model.axes_.groups
    if known:
        return [", ".join(known[mode] for mode in group) for group in groups]
    return [f"mode{'s' * (len(group) > 1)} {', '.join(map(str, group))}" for group in groups]


def _draw(axes: canvas.Axes, values: NDArray) -> None:
    """Draw one loading vector: an image, bars, or a curve."""
    axes.axis("on")
    axes.tick_params(labelsize=TICK, length=2)
    if values.ndim == 2 or (values.ndim == 3 and values.shape[2] == 3):
        low = min(float(values.min()), 0.0)
        shown = (values - low) / max(float(values.max()) - low, TINY)
        narrow = max(shown.shape[:2]) > NARROW * min(shown.shape[:2])
        aspect: Literal["auto", "equal"] = "auto" if narrow else "equal"
        axes.imshow(shown, cmap=IMAGE, vmin=0, vmax=1, interpolation="nearest", aspect=aspect)
        axes.set(xticks=[], yticks=[])
        return
    values = values.ravel()
    if len(values) <= BARS:
        axes.bar(range(len(values)), values, color=BLUE)
        axes.set_xticks(range(len(values)))
    else:
        axes.plot(values, color=BLUE, linewidth=1)
        axes.margins(x=0)
    if values.min() >= 0:
        axes.set_ylim(0, 1.08 * max(float(values.max()), TINY))


canvas.say_reads((loadings, loadings_data), "loadings_", "an OnlineCPDictionary")
