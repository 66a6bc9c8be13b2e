"""How dictionaries of videos are looked at: atoms as images or as curves over time, and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.domains.series.change_points import ChangePoints
from atomstream.io.outputs import Labels
from atomstream.io.video import Video, as_frames, open_video
from atomstream.runs.record import Record
from atomstream.runs.task import Encoded, Table, named
from atomstream.runs.tasks.video import SHORTEST, changes_of
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

if TYPE_CHECKING:
    from atomstream.estimators.video import VideoDictionary

FRAMES = 256  # coded at a time
COLUMNS = 8  # of the picture of all atoms
WIDE = 12  # atoms that fit side by side
TALL = 20  # snapshots that fit below each other


class VideoView(common.CommonView):
    """Dictionaries of the frames, or of the courses of the pixels, of videos."""

    learned_from = "a video"
    samples = "{unit} of the video"

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
            return common.atoms_table(record, most)
        tops = np.abs(record.model.components_).argmax(axis=1)
        return common.atoms_table(record, most, "peak at", lambda atom: f"frame {tops[atom]}")

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms as images or as curves, and their shares."""
        if record.model.mode == "frames":
            drawn = [*_images(record), *_courses(record)]
        else:
            drawn = _curves(record)
        return [*drawn, common.importance(record, self.table(record))]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the video."""
        sizes = " x ".join(map(str, record.model.frame_shape_))
        return {
            "input": common.inputs(record),
            "size of a frame": f"{sizes} (height, width and channels)",
            "colours": "turned into grey" if record.settings.grey else "as they are",
        }

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the codes of frames, by their files where they have some, or of pixels."""
        settings, model = record.settings, record.model
        key = None if settings is None else settings.key
        videos = [open_video(name, key=key, grey=model.grey) for name in inputs]
        if model.mode == "frames" and all(video.names for video in videos):
            named = (codes for video in videos for codes in _named_codes(model, video))
            return Encoded(model.n_components, named, ["file"])
        coded = _frame_codes if model.mode == "frames" else _pixel_codes
        codes = (((), codes) for video in videos for codes in coded(model, video))
        return Encoded(model.n_components, codes)


def _frame_codes(model: VideoDictionary, video: Video) -> Iterator[NDArray]:
    """Yield the codes of frames, a block of them in memory at a time."""
    frames = as_frames(video, grey=model.grey)
    with named(video.name):
        while block := list(islice(frames, FRAMES)):
            yield model.transform(np.stack(block))


def _named_codes(model: VideoDictionary, video: Video) -> Iterator[tuple[Labels, NDArray]]:
    """Yield the codes of frames with the names of their files."""
    names, first = np.array(video.names, object), 0
    for codes in _frame_codes(model, video):
        yield (names[first : first + len(codes)],), codes
        first += len(codes)


def _pixel_codes(model: VideoDictionary, video: Video) -> Iterator[NDArray]:
    """Yield the codes of the courses of all pixels, in the order of the rows of a frame."""
    with named(video.name):
        yield model.transform(video.whole()).reshape(-1, model.n_components)


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


def _images(record: Record) -> list[Section]:
    """Return the pictures of mode frames: large ones of few atoms, with their development."""
    model, n_atoms = record.model, record.model.n_components
    shape, times = model.frame_shape_, model.snapshot_times_
    drawable = shape[2:] in ((), (1,), (3,))
    fits = drawable and n_atoms <= WIDE and len(times) <= TALL
    found, title = [], "Atoms"
    if not fits or (len(times) and times[-1] < record.learner.n_samples_seen_):
        caption = (
            f"{counted(n_atoms, 'atom')} as images, most important first, with the importance "
            "of each; each is scaled by its own extremes."
        )
        if not drawable:
            shape = (shape[0], shape[1] * shape[2])
            caption += " The channels of a pixel lie side by side."
        figure = plots.atoms(record.learner, shape, n_columns=min(n_atoms, COLUMNS))
        found.append(Section("atoms", title, caption, figure))
        title = "Earlier"
    if fits:
        caption = (
            "Atoms by their numbers, each over its largest absolute entry, after so many frames."
        )
        found.append(Section("development", title, caption, plots.spatial_atoms(model)))
    return found


def _courses(record: Record) -> list[Section]:
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
    return [
        Section(
            "courses", "Time courses", caption, plots.time_courses(record.model, codes, every=every)
        )
    ]


def _curves(record: Record) -> list[Section]:
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
    figure = plots.temporal_atoms(model, changes)
    return [Section("atoms", "Atoms", caption, figure, facts=facts)]
