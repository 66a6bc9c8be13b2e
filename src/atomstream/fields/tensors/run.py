"""Runs on a tensor: passes over its samples, and a dictionary of rank-one atoms."""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.base.axes import Axes
from atomstream.base.parameters import whole
from atomstream.fields.tensors.files import Tensor, open_tensor
from atomstream.fields.tensors.look import axes_of, in_samples, label_text, labels_of
from atomstream.fields.tensors.model import OnlineCPDictionary
from atomstream.fields.tensors.update import LoadingSweep
from atomstream.io import Block, Piece
from atomstream.looks.cards import coarse
from atomstream.looks.samples import Sample, Samples
from atomstream.runs.settings import Settings, checkpoints, option, sets
from atomstream.runs.tasks._passes import PassesTask, epochs_option, settle_option
from atomstream.watch.diagnostics import UNEXPLAINED

JUDGED = 256  # samples that the figures are measured on, at most
LOOKED_AT = 20_000  # samples, at least, among which those that use an atom most are found
NAMED = 3  # entries of a sample that are named


@dataclass(frozen=True)
class TensorSettings(checkpoints, Settings):
    """Settings of a run on a tensor."""

    TASK = "tensor"
    ONE_INPUT = "A tensor is learned from one file"

    axis: str = option("0", "Axis of the samples: its number, or its name.")
    key: str | None = option(
        None, "Name of the array in .npz and Zarr, or of the variable in NetCDF."
    )
    columns: tuple[str, ...] = option(
        (),
        "Columns of a Parquet file: one for each axis, then the values.",
        shown="all, in their order",
    )
    atoms: int = sets(OnlineCPDictionary, "n_components")
    alpha: float = sets(OnlineCPDictionary, "alpha")
    ridge: float = sets(OnlineCPDictionary, "ridge")
    signed: bool = option(False, "Learn codes and atoms of both signs.")
    missing: bool = sets(OnlineCPDictionary, "missing")
    radius: str = option(
        "auto", "Bound on the step of a loading matrix: auto, none, or a number above 0."
    )
    sweeps: int = option(LoadingSweep.n_sweeps, "Sweeps over the modes per step.", whole())
    schedule: str = sets(OnlineCPDictionary, "schedule")
    batch_size: int = sets(OnlineCPDictionary, "batch_size")
    epochs: int | None = epochs_option("samples")
    settle: int | None = settle_option()
    jobs: int = sets(OnlineCPDictionary, "n_jobs", default=1, free=True)

    def opened(self) -> Tensor:
        """Return the tensor."""
        return open_tensor(self.inputs[0], key=self.key, axis=self.axis, columns=self.columns)

    def new_model(self) -> OnlineCPDictionary:
        """Return the model that will learn."""
        # One flag for both: where codes may be of any sign, so may atoms.
        signed: dict[str, Any] = {"codes": "free", "atoms": "unit_ball"} if self.signed else {}
        updater = LoadingSweep(n_sweeps=self.sweeps, radius=self._radius())
        return OnlineCPDictionary(**self.parameters(), **signed, updater=updater)

    def _radius(self) -> float | str | None:
        if self.radius in ("auto", "none"):
            return "auto" if self.radius == "auto" else None
        try:
            number = float(self.radius)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise ValueError(
                f"radius is {self.radius!r}, needed is auto, none or a number above 0."
            )
        return number


def _largest_entries(values: NDArray, axes: Axes) -> str:
    """Return the largest entries of a sample by the labels of their places."""
    # Missing entries count as zero here, so that they are never the largest.
    order = np.argsort(-np.abs(np.nan_to_num(values)), axis=None, kind="stable")[:NAMED]
    named = []
    for place in zip(*np.unravel_index(order, values.shape), strict=True):
        names = (label_text(labels[i]) for labels, i in zip(labels_of(axes), place, strict=True))
        named.append(f"{' '.join(names)} {values[place]:.2g}")
    return ", ".join(named)


class TensorTask(PassesTask):
    """A dictionary of rank-one atoms, and the tensor it learns from, batch by batch."""

    settings_type = TensorSettings
    help = (
        "TENSOR is a .npy, .npz (dense, or coordinates of a sparse array), .zarr, .nc (NetCDF) or "
        ".parquet file (a line for each entry) with three axes or more, one of them the samples."
    )
    argument = "tensor"
    reported: ClassVar = {**PassesTask.reported, "shape": "shape"}
    noted = ("horizon", "n_in_tensor")
    words = {  # noqa: RUF012 - read only
        "say missing=True": "say --missing",
        OnlineCPDictionary.BOTH_SIGNS: "say --signed",
    }
    model: OnlineCPDictionary

    def __init__(self, settings: TensorSettings) -> None:
        # Before the base, which asks the source for its number of features.
        self.tensor = settings.opened()
        super().__init__(settings, [self.tensor])
        self.axes = axes_of(self.tensor)
        # Kept for the report, which must not need the tensor.
        self.n_in_tensor, self.shape = self.tensor.n_rows, list(self.tensor.shape)

    def batch_of(self, piece: Piece) -> Any:
        """Return samples as tensors."""
        return self.axes.restore(piece.X)

    def commit(self, piece: Piece) -> None:
        """Give the model the names of the axes."""
        # Set after the batch: a first fit makes axes without names from the shape alone.
        if self.axes.names:
            self.model.axes_ = self.axes

    def finish(self, folder: Path) -> dict[str, Any]:
        """Measure how much of the first samples the atoms leave unexplained."""
        # The first samples, in-sample: the figure says how well the atoms explain, not how they
        # predict.
        rows = next(self.tensor.blocks(0, 0)).X[:JUDGED]
        # Zeros that are not stored have no energy.
        values = (rows.data if sp.issparse(rows) else np.asarray(rows)).astype(np.float64)
        energy = 0.5 * float(np.nansum(values**2))
        left = float(self.model.losses(self.axes.restore(rows)).sum())
        figures = {UNEXPLAINED: left / energy if energy else 0.0}
        return {"n_judged": rows.shape[0], "figures": figures, **self._samples().notes()}

    def _samples(self) -> Samples:
        """Return the samples that use each atom most, among the first ones."""
        found = Samples()
        for block in self.tensor.blocks(0, 0):
            codes = self.model.transform(self.axes.restore(block.X))
            found.look(codes, partial(self._sample, block))
            if found.n_seen >= LOOKED_AT:
                break
        return found

    def _sample(self, block: Block, i: int) -> Sample:
        """Return a sample of a block, with the labels of its largest entries."""
        row, number, known = block.X[[i]], int(block.ids[i]), self.tensor.sample_labels
        values = (row.toarray() if sp.issparse(row) else np.asarray(row)).reshape(self.axes.shape)
        name = f"sample {number}" if known is None else label_text(known[number])
        text = _largest_entries(values, self.axes)
        while values.ndim > 2:  # a picture has two axes: the shortest ones are averaged away
            values = values.mean(axis=int(np.argmin(values.shape)))
        return Sample(name, text, coarse(values) if values.ndim == 2 else values)

    def explained(self, error: ValueError) -> str:
        """Return the complaint in the words of the command line, with the number of the sample."""
        return in_samples(super().explained(error), self.at.row, self.tensor.name)

    @property
    def _learned_from(self) -> str:
        """How many samples, and of which shape."""
        sizes = " x ".join(map(str, self.tensor.shape))
        return f"{counted(self._n_samples, 'sample')} of {sizes}"
