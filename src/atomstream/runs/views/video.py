"""How dictionaries of videos are looked at: atoms as images or as curves over time, and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.domains.series.change_points import ChangePoints
from atomstream.exceptions import InputError
from atomstream.io.video import Video, as_frames, open_video
from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.tasks.video import SHORTEST, changes_of
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

if TYPE_CHECKING:
    from atomstream.estimators.video import VideoDictionary

__all__ = ["VideoView"]

FRAMES = 256  # coded at a time
COLUMNS = 8  # of the picture of all atoms
WIDE = 12  # atoms that fit side by side
TALL = 20  # snapshots that fit below each other


class VideoView(View):
    """Dictionaries of the frames, or of the courses of the pixels, of videos."""

    learned_from = "a video"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        model, learner = record.model, record.learner
        n_atoms, sizes = model.n_components, " x ".join(map(str, model.frame_shape_))
        n_frames = counted(learner.n_features_in_, "frame")
        of = f"{sizes} pixels" if model.mode == "frames" else n_frames
        seen = f"{learner.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}"
        facts: dict[str, Any] = {
            "model": f"VideoDictionary, mode {model.mode}, {counted(n_atoms, 'atom')} of {of}"
        }
        if model.mode == "frames":
            facts |= {"frames": seen, "snapshots": len(model.snapshot_times_)}
        else:
            facts |= {"video": f"{n_frames} of {sizes} pixels"}
            facts |= {"pixels": f"{seen}, passes included", "changes": _told(_changes(record))}
        return facts | _progress(record) | common.objective(record, _sample(model))

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy of atoms, and where curves are highest."""
        model, rows = record.model, []
        energy = common.energy_shares(record.learner)
        for atom in np.argsort(-model.importance_, kind="stable")[:most]:
            row = (int(atom), float(model.importance_[atom]), float(energy[atom]))
            top = int(model.components_[atom].argmax())
            rows.append(row if model.mode == "frames" else (*row, f"frame {top}"))
        heads = {"code_share": "share of the code", "energy_share": "share of the energy"}
        return Table("atom", heads | _peak(model), rows)

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        model, table = record.model, self.table(record)
        title = f"The {len(table.rows)} most important of {counted(model.n_components, 'atom')}"
        unused = int((model.importance_ == 0).sum())
        note = f"Atoms that were never used: {unused}." if unused else ""
        return [
            *(_images(record) if model.mode == "frames" else _curves(record)),
            common.table_section("importance", title, table, note),
            *common.learning(record, f"{_sample(model)}s", "How well"),
            *_from_what(record),
            *common.how(record),
        ]

    def encode(self, record: Record, inputs: Sequence[str]) -> tuple[int, Iterator[NDArray]]:
        """Return the number of atoms, and the codes of frames, or of pixels, block by block."""
        settings, model = record.settings, record.model
        key = None if settings is None else settings.key
        videos = [open_video(name, key=key, grey=model.grey) for name in inputs]
        coded = _frame_codes if model.mode == "frames" else _pixel_codes
        return model.n_components, (codes for video in videos for codes in coded(model, video))


def _frame_codes(model: VideoDictionary, video: Video) -> Iterator[NDArray]:
    """Yield the codes of frames, a block of them in memory at a time."""
    frames = as_frames(video.images(0), grey=model.grey)
    with _named(video):
        while block := list(islice(frames, FRAMES)):
            yield model.transform(np.stack(block))


def _pixel_codes(model: VideoDictionary, video: Video) -> Iterator[NDArray]:
    """Yield the codes of the courses of all pixels, in the order of the rows of a frame."""
    with _named(video):
        yield model.transform(video.whole()).reshape(-1, model.n_components)


@contextmanager
def _named(video: Video) -> Iterator[None]:
    """Turn what a model complains about into a sentence that names the video."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{video.name}: {error}") from None


def _sample(model: VideoDictionary) -> str:
    return "frame" if model.mode == "frames" else "pixel"


def _peak(model: VideoDictionary) -> dict[str, str]:
    return {} if model.mode == "frames" else {"features": "highest at"}


def _progress(record: Record) -> dict[str, Any]:
    """Return how far a run is; of frames it is not known how many are left."""
    found = common.progress(record)
    if found and not record.complete and record.model.mode == "frames":
        found["state"] = (
            f"{counted(record.notes['position'][1], 'frame')} learned, the video goes on"
        )
    return found


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
            f"{counted(n_atoms, 'atom')} as images, most important first, with the share of "
            "each in all "
            "codes; each is scaled by its own extremes."
        )
        if not drawable:
            shape = (shape[0], shape[1] * shape[2])
            caption += " The channels of a pixel lie side by side."
        figure = plots.atoms(record.learner, shape, n_columns=min(n_atoms, COLUMNS))
        found.append(Section("atoms", title, caption, figure, chapter="What was learned"))
        title = "Earlier"
    if fits:
        caption = "Atoms by their numbers, each over its largest entry, after so many frames."
        chapter = "" if found else "What was learned"
        figure = plots.spatial_atoms(model)
        found.append(Section("development", title, caption, figure, chapter))
    return found


def _curves(record: Record) -> list[Section]:
    """Return the picture of mode pixels, with the changes."""
    model, changes = record.model, _changes(record)
    caption = (
        f"{counted(model.n_components, 'atom')} as curves over the frames, most important "
        "first, with the "
        "share of each in all codes; each is over its largest entry."
    )
    facts = {"changes": _told(changes)}
    if changes is not None and len(changes.times):
        caption += " Orange lines stand before the first frame of a new regime."
        facts["p-values"] = ", ".join(f"{value:.3g}" for value in changes.p_values)
    figure = plots.temporal_atoms(model, changes)
    return [Section("atoms", "Atoms", caption, figure, "What was learned", facts=facts)]


def _from_what(record: Record) -> list[Section]:
    if record.settings is None:
        return []
    sizes = " x ".join(map(str, record.model.frame_shape_))
    facts = {
        "input": common.inputs(record),
        "size of a frame": f"{sizes} (height, width and channels)",
        "colours": "turned into grey" if record.settings.grey else "as they are",
    }
    return [Section("inputs", "", facts=facts, chapter="From what")]
