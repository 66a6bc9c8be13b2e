"""Plots of the dictionaries of videos."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.viz.plots.canvas import Fitted, empty, heading, most_important
from atomstream.viz.plots.style import BLUE, IMAGE, ORANGE, TEXT, TICK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from atomstream.callbacks import Learner
    from atomstream.domains.series.change_points import ChangePoints

__all__ = [
    "spatial_atoms",
    "spatial_atoms_data",
    "temporal_atoms",
    "temporal_atoms_data",
    "time_courses",
    "time_courses_data",
]


class VideoAtoms(Fitted, Protocol):
    """A fitted dictionary of a video."""

    @property
    def mode(self) -> str:
        """What the samples are: "frames" or "pixels"."""

    @property
    def snapshot_times_(self) -> NDArray:
        """Frames learned from before each snapshot."""

    @property
    def snapshots_(self) -> NDArray:
        """Atoms at these times."""

    @property
    def learner_(self) -> Learner:
        """The dictionary estimator inside."""


def spatial_atoms_data(model: VideoAtoms) -> tuple[NDArray, NDArray]:
    """Return what `spatial_atoms` draws: times of the snapshots, and their atoms.

    Times count the frames learned from. Each atom is divided by its largest absolute entry.

    Returns
    -------
    times : ndarray of int of shape (n_snapshots,)
        Only the end if there are no snapshots.
    images : ndarray of shape (n_snapshots, n_components, height, width[, n_channels])
    """
    if model.mode != "frames":
        raise ValueError(f"spatial_atoms needs mode='frames', got mode={model.mode!r}.")
    times, images = model.snapshot_times_, model.snapshots_
    if not len(times):
        times, images = np.array([model.learner_.n_samples_seen_]), model.components_[None]
    largest = np.abs(images).reshape(*images.shape[:2], -1).max(axis=2)
    largest = np.where(largest > 0, largest, 1)
    return times, images / largest.reshape(*largest.shape, *(1,) * (images.ndim - 2))


def spatial_atoms(model: VideoAtoms, *, frames: NDArray | None = None) -> Figure:
    """Draw the atoms of frames at the times of the snapshots, from top to bottom.

    Parameters
    ----------
    model : fitted VideoDictionary
        With mode "frames".
    frames : array of shape (n_frames, height, width[, n_channels]), optional
        The video; the frame of each snapshot is drawn on the left.
    """
    times, images = spatial_atoms_data(model)
    n_atoms, first = images.shape[1], int(frames is not None)
    height, width = images.shape[2:4]
    across = min(1.5, 1.6 * width / height)
    figure = empty(
        across * (n_atoms + first) + 0.5, (across * height / width + 0.1) * len(times) + 0.3
    )
    grid = figure.subplots(len(times), n_atoms + first, squeeze=False)
    for row, time, atoms in zip(grid, times, images, strict=True):
        shown = [] if frames is None else [frames[time - 1]]
        for axes, image in zip(row, [*shown, *atoms], strict=True):
            axes.imshow(image, cmap=IMAGE, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(f"frame {time}", fontsize=TEXT)
    names = ([] if frames is None else ["video"]) + [f"atom {number}" for number in range(n_atoms)]
    for axes, name in zip(grid[0], names, strict=True):
        axes.set_title(name, fontsize=TEXT)
    return figure


def temporal_atoms_data(
    model: VideoAtoms, changes: ChangePoints | None = None
) -> tuple[NDArray, NDArray]:
    """Return what `temporal_atoms` draws: atoms, most important first, and times of change.

    Each atom is divided by its largest absolute entry.
    """
    if model.mode != "pixels":
        raise ValueError(f"temporal_atoms needs mode='pixels', got mode={model.mode!r}.")
    times = np.zeros(0, int) if changes is None else changes.times
    return _relative(model.components_[most_important(model)]), times


def temporal_atoms(model: VideoAtoms, changes: ChangePoints | None = None) -> Figure:
    """Draw temporal atoms as curves over the frames, most important first.

    Parameters
    ----------
    model : fitted VideoDictionary
        With mode "pixels".
    changes : ChangePoints, optional
        Result of `VideoDictionary.change_points`, drawn as lines before the first frame of each new
        regime.
    """
    curves, times = temporal_atoms_data(model, changes)
    figure = _curves(model, curves, np.arange(curves.shape[1]))
    for axes in figure.axes:
        for time in times:
            axes.axvline(time - 0.5, color=ORANGE, linewidth=1.2)
    if len(times):
        listed = ", ".join(str(time) for time in times)
        figure.axes[-1].set_xlabel(f"frame, from 0; a new regime begins at {listed}", fontsize=TEXT)
    return figure


def time_courses_data(model: VideoAtoms, codes: NDArray) -> NDArray:
    """Return what `time_courses` draws: a curve for each atom, most important first.

    Each curve is divided by its largest absolute value.
    """
    if model.mode != "frames":
        raise ValueError(f"time_courses needs mode='frames', got mode={model.mode!r}.")
    return _relative(np.asarray(codes).T[most_important(model)])


def time_courses(model: VideoAtoms, codes: NDArray, *, every: int = 1) -> Figure:
    """Draw how much of each atom is in the frames, as curves over time, most important first.

    Parameters
    ----------
    model : fitted VideoDictionary
        With mode "frames".
    codes : array of shape (n_frames, n_components)
        What ``model.transform`` returns of a video.
    every : int, default=1
        Frames from one row of ``codes`` to the next.
    """
    curves = time_courses_data(model, codes)
    return _curves(model, curves, every * np.arange(curves.shape[1]))


def _relative(curves: NDArray) -> NDArray:
    """Return curves over their largest absolute values."""
    largest = np.abs(curves).max(axis=1, keepdims=True)
    return curves / np.where(largest > 0, largest, 1)


def _curves(model: VideoAtoms, curves: NDArray, frames: NDArray) -> Figure:
    """Draw relative curves over frames below each other, with the shares of the atoms."""
    order = most_important(model)
    figure = empty(7.0, 0.85 * len(curves) + 0.6)
    grid = figure.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0]
    low = -1.05 if curves.min() < 0 else 0
    for axes, atom, curve in zip(grid, order, curves, strict=True):
        axes.plot(frames, curve, color=BLUE, linewidth=1)
        if low:
            axes.axhline(0, color="#bbbbbb", linewidth=0.6, zorder=0)
        title = heading(atom, model.importance_[atom])
        axes.set_ylabel(title, fontsize=TEXT, rotation=0, ha="right", va="center")
        axes.set(yticks=[], ylim=(low, 1.05))
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=TICK)
    grid[-1].set_xlabel("frame, from 0", fontsize=TEXT)
    return figure
