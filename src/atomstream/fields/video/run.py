"""Runs on a video: its frames learned as they come, or passes over the courses of its pixels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Counted, counted, renumbered
from atomstream.exceptions import InputError
from atomstream.fields.video.frames import Video, as_frames, open_video, pixel_courses
from atomstream.fields.video.look import changes_of
from atomstream.fields.video.model import PASSES, VideoDictionary
from atomstream.looks.cards import coarse
from atomstream.looks.samples import Sample, Samples
from atomstream.runs import Pace, Settings, Task, callbacks_set, checkpoints, option, pace_set, sets

MIN_FRAMES = 2  # frames of a video
POINTS = 1000  # of the courses of atoms over the frames that a report draws, at most
FRAMES, PIXELS = 64, 4096  # coded at a time


@dataclass(frozen=True)
class VideoSettings(checkpoints, Settings):
    """Settings of a run on a video."""

    TASK = "video"
    ONE_INPUT = "A video is learned from one file or folder"

    mode: str = sets(VideoDictionary, "mode")
    atoms: int = sets(VideoDictionary, "n_components")
    alpha: float = sets(VideoDictionary, "alpha")
    nonnegative: bool = sets(VideoDictionary, "nonnegative")
    schedule: str = sets(VideoDictionary, "schedule")
    snapshots: tuple[str, ...] = option(
        (), "Numbers of frames after which the atoms are kept, such as 10,100 (mode frames)."
    )
    grey: bool = sets(VideoDictionary, "grey")
    key: str | None = option(None, "Name of the array in an .npz file or a Zarr group.")
    batch_size: int | None = sets(VideoDictionary, "batch_size", shown="1 frame, 256 pixels")
    epochs: int | None = sets(
        VideoDictionary,
        "n_epochs",
        free=True,
        shown="10, more of a small video, until its atoms settle",
    )

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if self.mode == "frames" and self.epochs is not None:
            raise ValueError(
                f"epochs is {self.epochs}, but frames come once; leave it out or choose "
                "mode pixels."
            )
        super().check()

    def opened(self) -> Video:
        """Return the video."""
        return open_video(self.inputs[0], key=self.key, grey=self.grey)

    def new_model(self) -> VideoDictionary:
        """Return the model that will learn."""
        wrong = [time for time in self.snapshots if not time.isdecimal()]
        if wrong:
            raise ValueError(f"snapshots holds {wrong[0]!r}, needed are numbers of frames.")
        return VideoDictionary(**self.parameters(), snapshots=tuple(map(int, self.snapshots)))


class VideoTask(Task):
    """A dictionary of a video, and the video it learns from."""

    settings_type = VideoSettings
    help = (
        "VIDEO is a folder of images, a .npy, .npz or .zarr array of shape (n_frames, height, "
        "width[, n_channels]), a .tif or .gif file, or a file such as .mp4 where imageio has a "
        "decoder for it."
    )
    argument = "video"
    reported: ClassVar = {**Task.reported, "mode": "settings.mode"}
    words = {"say nonnegative=False": "say --no-nonnegative"}  # noqa: RUF012 - read only
    model: VideoDictionary

    def __init__(self, settings: VideoSettings) -> None:
        super().__init__(settings)
        self.video = settings.opened()
        self.unit = "frame" if settings.mode == "frames" else "pixel"
        if (self.video.n_frames or MIN_FRAMES) < MIN_FRAMES:
            raise InputError(f"{self.video.name} has 1 frame, needed are at least {MIN_FRAMES}.")
        self.sources = [self.video]
        self._ended, self._first = False, 0  # the first frame of the batch under way
        if settings.mode == "frames":
            self.goal = None  # type: ignore[misc]

    @cached_property
    def frames(self) -> NDArray:
        """The whole video, for mode pixels."""
        return self.video.whole()

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, and frames or pixels of the next one."""
        seen = self._n_samples
        if self.settings.mode == "frames":
            return int(self._ended), seen
        passes, pixels = divmod(seen, int(np.prod(self.model.frame_shape_)) if seen else 1)
        return passes, pixels

    @classmethod
    def finished(cls, settings: Any, model: Any, notes: dict[str, Any]) -> bool | None:
        """Return whether all passes are done; frames have one."""
        if settings.epochs is None and hasattr(model, "settled_"):
            return bool(model.settled_)
        # A model whose passes are not fixed says by itself whether its atoms have settled.
        passes = 1 if settings.mode == "frames" else settings.epochs or PASSES
        return bool(notes["position"][0] >= passes)

    def restore(self, model: VideoDictionary, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(model, notes)
        # The position says 1 for a video that had ended, whatever its number of frames.
        self._ended = self.settings.mode == "frames" and notes["position"][0] > 0

    def advance(self, pace: Pace) -> None:
        """Learn from the frames, or from the passes over pixels, that are left."""
        if self.settings.mode == "frames":
            self._follow(pace)
            return
        frames = self.frames
        with pace_set(self.model, pace):
            self.model.fit_pixels(frames)

    def _follow(self, pace: Pace) -> None:
        """Learn frame by frame, to the end of the video or until a pause is due."""
        start, n_frames = self.position[1], self.video.n_frames
        images = self.video.images(start)
        # Looked at before the model is: it would complain of a batch, and a user knows frames.
        head = list(islice(images, 1 if start else MIN_FRAMES))
        if len(head) < MIN_FRAMES and not start:
            raise InputError(
                f"{self.video.name} has too few frames, needed are at least {MIN_FRAMES}."
            )
        self._ended = True  # unless `_paced` ends before the images do
        if not head:
            return
        rest = self._paced(chain(head, images), pace)
        with callbacks_set(self.model, pace.bar("learning")):
            # With a length the bar shows how much is left; a stream has none.
            self.model.partial_fit(Counted(rest, n_frames and n_frames - start))
        if self._ended:
            pace.note(self.model.learner_)

    def _paced(self, images: Iterator[NDArray], pace: Pace) -> Iterator[NDArray]:
        """Yield images; after each batch, when the model is whole, look whether a pause is due."""
        start, size = self.position[1], self.model._batch_size
        for number, image in enumerate(images):
            # The batch that a complaint would be about; frames are numbered through all sessions.
            self._first = start + number // size * size
            # Asking for the image after a full batch means that this batch was learned.
            if number and number % size == 0:
                pace.note(self.model.learner_)
                self._ended = False
                if pace.rest():
                    return
                self._ended = True
            yield image

    def finish(self, folder: Path) -> dict[str, Any]:
        """Find the courses of atoms over the frames, or the frames at which curves change."""
        if self.settings.mode == "frames":
            # Means over several frames, so that the report of a day of video stays small.
            every = -(-self._n_samples // POINTS)
            frames = Samples()
            courses = self._courses(every, frames)
            return {"courses": courses, "frames_per_point": every, **frames.notes()}
        found = changes_of(self.model)
        known = {} if found is None else {"changes": found.times, "p_values": found.p_values}
        return self._pixels().notes() | known

    def _pixels(self) -> Samples:
        """Return the pixels that use each atom most."""
        found, frames = Samples(), self.model._whole(self.frames)
        size = frames[0].size
        for first in range(0, size, PIXELS):
            places = range(first, min(first + PIXELS, size))
            # Only a block of pixels through all frames is in memory.
            rows = next(pixel_courses(frames, places, PIXELS))
            found.look(self.model.learner_.transform(rows), partial(self._pixel, rows, first))
        return found

    def _pixel(self, courses: NDArray, first: int, i: int) -> Sample:
        """Return the pixel of a course, the first of which is of pixel ``first`` of a frame."""
        row, column, *channel = np.unravel_index(first + i, self.model.frame_shape_)
        label = f"pixel in row {row}, column {column}"
        return Sample(label + "".join(f", channel {number}" for number in channel), "", courses[i])

    def _frame(self, images: Sequence[NDArray], first: int, i: int) -> Sample:
        """Return a frame by its number, from 0, or by the name of its file."""
        names = self.video.names
        label = str(names[first + i]) if names else f"frame {first + i}"
        return Sample(label, "", coarse(images[i]))

    def _courses(self, every: int, frames: Samples) -> NDArray:
        """Return the codes of all frames, the means of ``every`` frames, (n_points, n_atoms)."""
        images = as_frames(self.video, grey=self.settings.grey)
        total = np.zeros((-(-self._n_samples // every), self.settings.atoms))
        counts, first = np.zeros((len(total), 1)), 0
        while block := list(islice(images, FRAMES)):
            points = np.arange(first, first + len(block)) // every
            codes = self.model.transform(np.stack(block))
            frames.look(codes, partial(self._frame, block, first))
            np.add.at(total, points, codes)
            np.add.at(counts, points, 1)
            first += len(block)
        return total / counts

    def explained(self, error: ValueError) -> str:
        """Return the complaint in terms of the video."""
        sentence = super().explained(error)
        if self.settings.mode == "frames":
            sentence = renumbered(sentence, lambda row: f"first in frame {self._first + row}")
        else:
            sentence = renumbered(sentence, lambda _: "in the course of a pixel")
        return f"{self.video.name}: {sentence}"

    @property
    def _learned_from(self) -> str:
        """How many frames, or courses of pixels."""
        frames = self.settings.mode == "frames"
        nouns = ("frame",) if frames else ("course of pixels", "courses of pixels")
        return counted(self._n_samples, *nouns)
