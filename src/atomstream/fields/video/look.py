"""Dictionaries of videos: atoms as images or as curves over time, and changes."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import checked_array, counted
from atomstream.fields.series.change_points import ChangePoints
from atomstream.fields.video.frames import Video, as_frames, open_video
from atomstream.io import Labels, naming_source
from atomstream.looks import Encoded, FileCoder, Look, Record, Table, canvas, drawings, report
from atomstream.looks.canvas import BLUE, IMAGE, ORANGE, TEXT, TICK, empty, heading, most_important

SHORTEST = 16  # frames that changes can be looked for in: two times the least between them
FRAMES = 256  # coded at a time
COLUMNS = 8  # of the picture of all atoms
TALL = 20  # rows of small pictures that fit below each other


class VideoCoder(FileCoder):
    """Codes frames, or the courses of pixels."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of frames, by their files where they have some, or of pixels."""
        settings, model = record.settings, record.model
        key = None if settings is None else settings.key
        videos = [open_video(name, key=key, grey=model.grey) for name in inputs]
        named = model.mode == "frames" and all(video.names for video in videos)
        blocks = (block for video in videos for block in _coded(model, video, named))
        return Encoded(model.n_components, blocks, ["file"] if named else ())


class VideoLook(Look):
    """The look of dictionaries of the frames of a video, or of the courses of its pixels."""

    files = VideoCoder("a video")
    samples = "{unit} of the video"

    def plot(self, model: Any, **options: Any) -> canvas.Figure:
        """Draw the atoms as images or as curves."""
        return (spatial_atoms if model.mode == "frames" else temporal_atoms)(model, **options)

    def unit(self, record: Record) -> str:
        """Return what the objective is a mean over."""
        return "frame" if record.model.mode == "frames" else "pixel"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, learner = record.model, record.learner
        sizes = " x ".join(map(str, model.frame_shape_))
        length = counted(learner.n_features_in_, "frame")
        seen = f"{learner.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}"
        head = f"VideoDictionary, mode {model.mode}, {counted(model.n_components, 'atom')} of"
        if model.mode == "frames":
            snapshots = len(model.snapshot_times_)
            return {"model": f"{head} {sizes} pixels", "frames": seen, "snapshots": snapshots}
        return {
            "model": f"{head} {length}",
            "video": f"{length} of {sizes} pixels",
            "pixels": f"{seen}, passes included",
            "changes": _told(_changes(record)),
        }

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines; of frames it is not known how many are left."""
        facts = super().facts(record)
        if "state" in facts and not record.complete and record.model.mode == "frames":
            n_frames = counted(record.notes["position"][1], "frame")
            facts["state"] = f"{n_frames} learned, the video goes on"
        return facts

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy of atoms, and where curves are farthest from 0."""
        if record.model.mode == "frames":
            return report.atoms_table(record, most)
        tops = np.abs(record.model.components_).argmax(axis=1)
        return report.atoms_table(record, most, "peak at", lambda atom: f"frame {tops[atom]}")

    def learned(self, record: Record) -> list[report.Section]:
        """Return the atoms as images or as curves, and their shares."""
        if record.model.mode == "frames":
            drawn = [*_images(record), *_courses(record)]
        else:
            drawn = _regimes(record)
        return [*drawn, report.importance(record, self.table(record))]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the video."""
        sizes = " x ".join(map(str, record.model.frame_shape_))
        return {
            "input": report.inputs(record),
            "size of a frame": f"{sizes} (height, width and channels)",
            "colours": "turned into grey" if record.settings.grey else "as they are",
        }


def _coded(model: Any, video: Video, named: bool) -> Iterator[tuple[Labels, NDArray]]:
    """Yield the codes of frames, perhaps with the names of their files, or those of pixels."""
    with naming_source(video.name):
        if model.mode == "pixels":  # courses of pixels need all frames: one block for them all
            yield (), model.transform(video.whole()).reshape(-1, model.n_components)
            return
        frames, first = as_frames(video, grey=model.grey), 0
        names = np.array(video.names, object)
        while block := list(islice(frames, FRAMES)):
            codes = model.transform(np.stack(block))
            yield (names[first : first + len(codes)],) if named else (), codes
            first += len(codes)


def changes_of(model: Any) -> ChangePoints | None:
    """Return the frames at which temporal atoms change; None where there are too few frames."""
    if model.learner_.n_features_in_ < SHORTEST:
        return None
    return model.change_points()


def _changes(record: Record) -> ChangePoints | None:
    """Return the changes found at the end of the run, or found now; None for short videos."""
    notes = record.notes
    if "changes" in notes:
        return ChangePoints(notes["changes"], notes["p_values"], np.empty(0))
    return changes_of(record.model)


def _told(changes: ChangePoints | None) -> str:
    if changes is None:
        return f"not looked for: fewer than {SHORTEST} frames"
    return ", ".join(f"frame {time}" for time in changes.times) or "none found"


def _images(record: Record) -> list[report.Section]:
    """Return the pictures of mode frames: large ones of few atoms, with their development."""
    model, n_atoms = record.model, record.model.n_components
    shape, times = model.frame_shape_, model.snapshot_times_
    drawable = shape[2:] in ((), (1,), (3,))
    n_rows = -(-n_atoms // COLUMNS) * max(len(times), 1)
    fits = drawable and n_rows <= TALL
    found, title = [], "Atoms"
    if not fits or (len(times) and times[-1] < record.learner.n_samples_seen_):
        caption = (
            f"{counted(n_atoms, 'atom')} as images, most important first, with the importance "
            "of each; each is scaled by its own extremes."
        )
        if not drawable:
            shape = (shape[0], shape[1] * shape[2])
            caption += " The channels of a pixel lie side by side."
        figure = drawings.atoms(record.learner, shape, n_columns=min(n_atoms, COLUMNS))
        found.append(report.Section("atoms", title, caption, figure))
        title = "Earlier"
    if fits:
        caption = (
            "Atoms by their numbers, each over its largest absolute entry, after so many frames."
        )
        found.append(report.Section("development", title, caption, spatial_atoms(model)))
    return found


def _courses(record: Record) -> list[report.Section]:
    """Return the picture of how much of each atom is in the frames, of a complete run."""
    codes = record.notes.get("courses")
    if codes is None:
        return []
    every = record.notes["frames_per_point"]
    caption = (
        "How much of each atom is in each frame, most important atom first, with its share in all "
        "codes; each curve is over its largest absolute value."
    )
    if every > 1:
        caption += f" Points are means of {every} frames."
    figure = time_courses(record.model, codes, every=every)
    return [report.Section("courses", "Time courses", caption, figure)]


def _regimes(record: Record) -> list[report.Section]:
    """Return the picture of mode pixels, with the changes."""
    model, changes = record.model, _changes(record)
    caption = (
        f"{counted(model.n_components, 'atom')} as curves over the frames, most important "
        "first, with the importance of each; each is over its largest absolute value."
    )
    facts = {"changes": _told(changes)}
    if changes is not None and len(changes.times):
        caption += " Orange lines stand before the first frame of a new regime."
        facts["p-values"] = ", ".join(f"{value:.3g}" for value in changes.p_values)
    figure = temporal_atoms(model, changes)
    return [report.Section("atoms", "Atoms", caption, figure, facts=facts)]


def spatial_atoms_data(model: Any) -> tuple[NDArray, NDArray]:
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


def spatial_atoms(model: Any, *, frames: NDArray | None = None) -> canvas.Figure:
    """Draw the atoms of frames in a grid; below each, how it was at the times of the snapshots.

    Parameters
    ----------
    model : fitted VideoDictionary
        With mode "frames".
    frames : array of shape (n_frames, height, width[, n_channels]), optional
        The video; the frame of each snapshot is drawn on the left.
    """
    times, images = spatial_atoms_data(model)
    n_atoms, first = images.shape[1], int(frames is not None)
    # Eight side by side can be told apart on a page; the others follow below.
    bands = [range(n_atoms)[start : start + COLUMNS] for start in range(0, n_atoms, COLUMNS)]
    height, width = images.shape[2:4]
    across, n_columns = min(1.5, 1.6 * width / height), len(bands[0]) + first
    tall = (across * height / width + 0.1) * len(times) + 0.3
    figure = empty(across * n_columns + 0.5, tall * len(bands))
    grid = figure.subplots(len(times) * len(bands), n_columns, squeeze=False)
    for place, row in enumerate(grid):
        band, at = bands[place // len(times)], place % len(times)
        panels = {f"atom {number}": images[at, number] for number in band}
        panels = ({"video": frames[times[at] - 1]} if frames is not None else {}) | panels
        for axes, (name, image) in zip(row, panels.items(), strict=False):
            axes.imshow(image, cmap=IMAGE, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.set_title("" if at else name, fontsize=TEXT)
        row[0].set_ylabel(f"frame {times[at]}", fontsize=TEXT)
        for axes in row[len(panels) :]:
            axes.axis("off")
    return figure


def temporal_atoms_data(model: Any, changes: ChangePoints | None = None) -> tuple[NDArray, NDArray]:
    """Return what `temporal_atoms` draws: atoms, most important first, and times of change.

    Each atom is divided by its largest absolute entry.
    """
    if model.mode != "pixels":
        raise ValueError(f"temporal_atoms needs mode='pixels', got mode={model.mode!r}.")
    times = np.zeros(0, int) if changes is None else changes.times
    return _relative(model.components_[most_important(model)]), times


def temporal_atoms(model: Any, changes: ChangePoints | None = None) -> canvas.Figure:
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


def time_courses_data(model: Any, codes: NDArray) -> NDArray:
    """Return what `time_courses` draws: a curve for each atom, most important first.

    Each curve is divided by its largest absolute value.
    """
    if model.mode != "frames":
        raise ValueError(f"time_courses needs mode='frames', got mode={model.mode!r}.")
    return _relative(checked_array(codes, "codes").T[most_important(model)])


def time_courses(model: Any, codes: NDArray, *, every: int = 1) -> canvas.Figure:
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


def _curves(model: Any, curves: NDArray, frames: NDArray) -> canvas.Figure:
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


canvas.say_reads(
    (
        *(spatial_atoms, spatial_atoms_data, temporal_atoms, temporal_atoms_data),
        *(time_courses, time_courses_data),
    ),
    "mode",
    "a VideoDictionary",
)
