"""Videos coded and decoded by a dictionary of their frames or of the courses of their pixels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import counted
from atomstream.estimators._calls import blame
from atomstream.estimators._estimator import estimator
from atomstream.estimators._learner_inside import LearnerInside
from atomstream.estimators.registry import ScheduleChoice, Start
from atomstream.fields.video.frames import as_array, as_frames, pixel_courses

CODED_AT_ONCE = 256  # frames, or pixels, coded at a time


@estimator
class VideoCoding(LearnerInside):
    """A learned dictionary of a video that codes videos and reconstructs them."""

    n_components: int = 8
    _: KW_ONLY
    mode: str = "frames"
    nonnegative: bool = True
    schedule: ScheduleChoice = "power"
    init: Start = "auto"
    snapshots: Sequence[int] = ()
    grey: bool = False
    batch_size: int | None = None
    n_epochs: int | None = None

    frame_shape_: tuple[int, ...] = field(init=False)
    settled_: bool = field(init=False)
    _mode: str = field(init=False)

    def transform(self, video: object) -> NDArray:
        """Return how much each atom is in each frame, or in each pixel.

        Parameters
        ----------
        video : as in `fit`
            In mode "pixels" with as many frames as were learned from.

        Returns
        -------
        ndarray of shape (n_frames, n_components) or (height, width[, n_channels], n_components)
        """
        self._check_fitted()
        if self.mode == "frames":
            return np.concatenate([self._codes(rows) for rows in self._blocks(video)])
        whole = self._whole(video)
        courses = pixel_courses(whole, range(whole[0].size), CODED_AT_ONCE)
        codes = [self._codes(rows) for rows in courses]
        return np.concatenate(codes).reshape(*whole.shape[1:], -1)

    def reconstruct(self, video: object) -> NDArray:
        """Code a video and decode it.

        Parameters
        ----------
        video : as in `transform`

        Returns
        -------
        ndarray of shape (n_frames, height, width[, n_channels])
            Floating point, 8-bit videos in [0, 1].
        """
        self._check_fitted()
        if self.mode == "frames":
            made = [self._reconstructed(rows) for rows in self._blocks(video)]
            return np.concatenate(made).reshape(-1, *self.frame_shape_)
        whole = self._whole(video)
        courses = pixel_courses(whole, range(whole[0].size), CODED_AT_ONCE)
        reconstruction = [self._reconstructed(rows).T for rows in courses]
        return np.concatenate(reconstruction, axis=1).reshape(whole.shape)

    def _reconstructed(self, rows: NDArray) -> NDArray:
        return self.learner_.inverse_transform(self._codes(rows))

    def _codes(self, rows: NDArray) -> NDArray:
        with blame(self):
            return self.learner_.transform(rows)

    def _blocks(self, video: object) -> Iterator[NDArray]:
        """Yield flattened frames, some at a time."""
        for batch in in_batches([as_frames(video, grey=self.grey)], CODED_AT_ONCE):
            self._check_shape(batch[0].shape)
            yield np.stack(batch).reshape(len(batch), -1)

    def _whole(self, video: object) -> NDArray:
        whole = as_array(video, grey=self.grey)
        n_frames = self.learner_.n_features_in_
        if len(whole) != n_frames:
            raise ValueError(
                f"The video has {counted(len(whole), 'frame')}, the model has learned {n_frames}."
            )
        return whole

    def _check_fitted(self) -> None:
        """Refuse a model that has not learned, or has learned in the other mode."""
        check_is_fitted(self)
        self._refuse_change(mode=self._mode)
        self._check_kind()

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != self.frame_shape_:
            raise ValueError(
                f"Frames are of shape {shape}, the model has learned {self.frame_shape_}."
            )


def in_batches(passes: Iterable[Iterator[NDArray]], size: int) -> Iterator[list[NDArray]]:
    """Yield the frames of passes in lists, none of which reaches across two passes."""
    for frames in passes:
        while batch := list(islice(frames, size)):
            yield batch
