"""Videos through a dictionary: frames as samples, or pixels as samples."""

import math
from collections.abc import Generator, Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base.saved_fields import array, count, each, one_of
from atomstream.coders import Auto
from atomstream.estimators._calls import Transaction
from atomstream.estimators._learner_inside import LEARNER, drawn_seed
from atomstream.estimators._validation import check_size
from atomstream.fields.series.change_points import ChangePoints, change_points
from atomstream.fields.video.coding import VideoCoding, in_batches
from atomstream.fields.video.frames import as_array, as_frames, n_frames_of, opened, pixel_courses
from atomstream.fields.video.parameters import VIDEO

BATCH = {"frames": 1, "pixels": 256}
PASSES = 10
MAX_WHOLE_NUMBERS = 2**20  # of a video that is learned whole, each pass one step
MAX_PASSES = 1000
SETTLED = 1e-3  # stationarity at which such passes end
EXACT = Auto(tol=1e-3)  # rough codes keep the dictionary from settling


class VideoDictionary(VideoCoding):
    """A dictionary of the frames of a video, or of the courses of its pixels.

    Mode "frames" takes every frame for a sample, in the order of time: atoms are images, and
    `snapshots_` shows how they came to be. One batch of frames is in memory. Mode "pixels" takes
    the course of every pixel (and channel) over all frames for a sample, in random order: atoms are
    curves over time, and `change_points` finds the frames at which they change. Arrays and memory
    maps are read a batch of pixels at a time.

    Integers are taken as shares of the largest value of their type: an 8-bit video lies in [0, 1].
    Cells in a movie of fluorescence are found by mode "pixels", in the movie as it was recorded
    (scikit-learn's ``FastICA`` found more of them in simulated ones); a movie with negative values
    needs ``nonnegative=False``.

    Parameters
    ----------
    n_components : int, default=8
        Number of atoms.
    mode : {"frames", "pixels"}, default="frames"
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    init : str or array, default="auto"
        As in `OnlineNMF`; "random" shows in the snapshots how atoms take shape one by one.
    snapshots : sequence of int, default=()
        For mode "frames": numbers of frames after which the atoms are recorded.
    grey : bool, default=False
        Whether three channels become their luma.
    batch_size : int, optional
        Samples per step; 1 frame or 256 pixels by default.
    n_epochs : int, optional
        Passes of `fit`. Over frames 1 by default; more need a video that can be read again. Over
        pixels 10 of a large video by default, and as many of a small one (of at most 2^20 numbers,
        no ``batch_size`` given) as it takes to learn what a batch method does: each is one step
        with exact codes, until `OnlineNMF.stationarity` is at most 0.001, or for 1000 passes.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes.
    random_state : int, Generator, RandomState or None, default=None
    nonnegative : bool, default=True
        Whether atoms and codes are nonnegative, as in `OnlineNMF`: atoms are then parts of the
        video. Otherwise both are signed, as in `OnlineDictionaryLearning`, and so may be the video.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, height, width[, n_channels]) or (n_components,
    n_frames)
        The atoms.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the absolute codes, times its length; those of long ago have faded,
        as in the memory.
    snapshots_ : ndarray of shape (n_snapshots, n_components, height, width[, n_channels])
        The atoms at chosen times, as far as these have come.
    snapshot_times_ : ndarray of int of shape (n_snapshots,)
        Frames learned from until then: with batches, at the end of the batch in which the time
        lies.
    frame_shape_ : tuple of int
    settled_ : bool
        Whether passes until the dictionary settles are complete; only where these were made.
    learner_ : OnlineNMF or OnlineDictionaryLearning
        Codes flattened frames or the courses of pixels, and scores them.
    n_steps_ : int

    Raises
    ------
    ValueError
        For settings out of range and for inputs that are not videos; the model stays as it was.

    References
    ----------
    Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal
    data", section 3.5, figures 3.3 to 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import VideoDictionary
    >>> rng = np.random.default_rng(0)
    >>> video = rng.random((60, 8, 9))
    >>> video[40:, :, :4] += 1
    >>> model = VideoDictionary(3, mode="pixels", random_state=0).fit(video)
    >>> model.components_.shape
    (3, 60)
    >>> model.change_points().times
    array([40])
    """

    ACCEPTS = ("three_d_array", "string")
    PARAMETERS: ClassVar = VIDEO
    OVERLAPS: ClassVar = (
        "the frames of one video repeat each other",
        "give the frames to an OnlineNMF, with block_size= as many as belong together",
    )
    LEARNED = (
        *(LEARNER, each(count("frame_shape_", 1), at_least=2, at_most=3), one_of("_mode", BATCH)),
        *(each(array("_kept", "r d")), each(count("_kept_times", 1)), "settled_"),
    )
    # For videos with negative values: relative changes are mostly learned to find cells.
    SIGNED = "say nonnegative=False; to find cells in relative changes, clip them at 0"

    # -- learning

    def fit(self, video: object, y: object = None) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        video : array of shape (n_frames, height, width[, n_channels]), path, or iterable of images
            A path is a folder of images, a ``.npy``, ``.npz`` or ``.zarr`` with one array, a
            ``.tif`` of several pages, a ``.gif``, or a file that imageio decodes. An iterable holds
            arrays or names of image files. In mode "frames" some frames at a time are read; in mode
            "pixels" the video is read whole, unless it is a memory map or a ``.npy`` file.
        y : ignored
        """
        with Transaction(self, anew=True):
            self._begin()
            if self.mode == "frames":
                self._follow(video, self.n_epochs or 1)
            else:
                self.fit_pixels(video)
        return self

    def fit_pixels(self, video: object) -> Self:
        """Make the passes over the pixels of a video that are left; mode "pixels" only.

        A callback may end it; called again with the same video, it goes on.

        Parameters
        ----------
        video : as in `fit`
        """
        if self.mode != "pixels":
            raise ValueError(f"fit_pixels needs mode='pixels', got mode={self.mode!r}.")
        with Transaction(self):
            if not hasattr(self, "learner_"):
                self._begin()
            seen = self._n_seen
            frames = self._whole(video) if seen else as_array(video, grey=self.grey)
            self.__dict__.setdefault("frame_shape_", tuple(frames.shape[1:]))
            self._check_shape(tuple(frames.shape[1:]))
            n_pixels = int(np.prod(self.frame_shape_))
            small = frames.size <= MAX_WHOLE_NUMBERS
            if small and self.n_epochs is None and self.batch_size is None:
                self._learn(self._settling(frames), None, horizon=n_pixels, coder=EXACT)
                return self
            in_a_pass = -(-n_pixels // self._batch_size)
            done = seen // n_pixels * in_a_pass + seen % n_pixels // self._batch_size
            n_batches = in_a_pass * (self.n_epochs or PASSES)
            self._learn(self._across(frames, done), n_batches - done, horizon=n_pixels)
        return self

    def partial_fit(self, video: object, y: object = None) -> Self:
        """Learn from more frames; mode "frames" only.

        Parameters
        ----------
        video : as in `fit`
            Of the same height, width and channels.
        y : ignored
        """
        with Transaction(self):
            if self.mode == "pixels":
                raise ValueError(
                    "partial_fit needs mode='frames': more frames make other pixels; call fit "
                    "instead."
                )
            if self.__sklearn_is_fitted__():
                self._check_fitted()
                self.check()
            else:
                self._begin()
            check_size(self, self.learner_.n_components)
            self._follow(video)
        return self

    def _begin(self) -> None:
        self.check()
        self.learner_ = self._kind(self.n_components, random_state=drawn_seed(self.random_state))
        self._mode = self.mode
        self._kept: list[NDArray] = []
        self._kept_times: list[int] = []
        for name in ("frame_shape_", "settled_"):
            self.__dict__.pop(name, None)

    def _follow(self, video: object, n_passes: int = 1) -> None:
        """Learn frames in the order of time, pass after pass."""
        video, horizon = opened(video, grey=self.grey), np.inf
        n_frames = n_frames_of(video)
        if n_passes > 1:
            if isinstance(video, Iterator):
                raise ValueError(
                    f"n_epochs={n_passes} needs a video that can be read again, got a "
                    f"{type(video).__name__}; give an array, a list or a path."
                )
            n_frames = n_frames or sum(1 for _ in as_frames(video, grey=self.grey))
            horizon = n_frames
        n_batches = None if n_frames is None else n_passes * -(-n_frames // self._batch_size)
        passes = (as_frames(video, grey=self.grey) for _ in range(n_passes))
        self._learn(self._along(passes), n_batches, horizon)

    def _learn(
        self, batches: Generator[NDArray], n_batches: int | None, horizon: float, **settings: Any
    ) -> None:
        """Hand batches to the learner."""
        self._kept, self._kept_times = list(self._kept), list(self._kept_times)
        settings |= {"alpha": self.alpha, "schedule": self.schedule, "init": self.init}
        self._teach(batches, n_batches, horizon, **settings)

    def _along(self, passes: Iterable[Iterator[NDArray]]) -> Generator[NDArray]:
        """Yield batches of frames in the order of time, and keep snapshots of the atoms."""
        for batch in in_batches(passes, self._batch_size):
            self.__dict__.setdefault("frame_shape_", batch[0].shape)
            self._check_shape(batch[0].shape)
            before = self._n_seen
            try:
                yield np.stack(batch).reshape(len(batch), -1)
            finally:
                if any(before < time <= self._n_seen for time in self.snapshots):
                    self._kept.append(self.learner_.components_)
                    self._kept_times.append(self._n_seen)

    def _across(self, frames: NDArray, done: int) -> Generator[NDArray]:
        """Yield the batches that are left of the courses of pixels, each pass in another order."""
        rng = np.random.default_rng(self.learner_.random_state)
        size, n_pixels = self._batch_size, int(np.prod(frames.shape[1:]))
        for epoch in range(self.n_epochs or PASSES):
            order = rng.permutation(n_pixels)  # drawn for earlier passes too: the same as at first
            # Of a pass under way only the batches that are left.
            first = max(done - epoch * -(-n_pixels // size), 0) * size
            yield from pixel_courses(frames, order[first:], size)

    def _settling(self, frames: NDArray) -> Generator[NDArray]:
        """Yield the courses of all pixels, until the dictionary has settled."""
        n_pixels = int(np.prod(frames.shape[1:]))
        rows = np.concatenate(list(pixel_courses(frames, range(n_pixels), n_pixels)))
        self.settled_ = vars(self).get("settled_", False)
        while not self.settled_:
            yield rows
            n_passes = self._n_seen // n_pixels
            # Measuring codes all pixels once more: every tenth pass.
            if n_passes % 10 == 0:
                settled = self.learner_.stationarity(rows) <= SETTLED
                self.settled_ = bool(settled or n_passes >= MAX_PASSES)

    @property
    def _batch_size(self) -> int:
        return BATCH[self.mode] if self.batch_size is None else self.batch_size

    # -- what was learned

    @property
    def components_(self) -> NDArray:
        """The atoms, as images or as curves over time, read-only."""
        self._check_fitted()
        return super().components_

    @property
    def _atom_shape(self) -> tuple[int, ...]:
        return self.frame_shape_ if self.mode == "frames" else super()._atom_shape

    @property
    def snapshots_(self) -> NDArray:
        """The atoms at chosen times, (n_snapshots, n_components, height, width[, n_channels])."""
        check_is_fitted(self)
        kept = np.array(self._kept, dtype=self.learner_.components_.dtype)
        return kept.reshape(len(kept), self.learner_.n_components, *self.frame_shape_)

    @property
    def snapshot_times_(self) -> NDArray:
        """Frames learned from when the snapshots were taken, (n_snapshots,)."""
        check_is_fitted(self)
        return np.array(self._kept_times, dtype=int)

    @property
    def _n_seen(self) -> int:
        return self.learner_.n_samples_seen_ if hasattr(self.learner_, "state_") else 0

    def change_points(
        self,
        *,
        level: float = 0.01,
        block: int | None = None,
        min_size: int = 8,
        n_draws: int = 499,
    ) -> ChangePoints:
        """Find the frames at which the temporal atoms change their level or spread.

        For mode "pixels" only.

        Parameters
        ----------
        level : float, default=0.01
            Chance of a false alarm.
        block : int, optional
            Frames in a block of a surrogate, as in `atomstream.series.change_points`.
        min_size : int, default=8
            Least frames from change to change.
        n_draws : int, default=499
            Surrogates.

        Returns
        -------
        ChangePoints
            ``times`` are the first frames of new regimes, counted from 0.
        """
        self._check_fitted()
        if self.mode != "pixels":
            raise ValueError(
                f"change_points needs temporal atoms: mode='pixels', got mode={self.mode!r}."
            )
        return change_points(
            self.components_.T, level=level, block=block, min_size=min_size, n_draws=n_draws
        )

    # -- checks

    @property
    def _refuses_negative(self) -> bool:
        return bool(self.nonnegative)

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        times = self.snapshots
        whole = isinstance(times, Iterable) and all(
            isinstance(time, int | np.integer) for time in times
        )
        if not whole or any(time < 1 for time in times):
            raise ValueError(f"snapshots must be numbers of frames of at least 1, got {times!r}.")
        if len(times) and self.mode != "frames":
            raise ValueError(f"snapshots need mode='frames', got mode={self.mode!r}.")

    def _sizes(self) -> dict[str, int]:
        return {"r": self.learner_.n_components, "d": self.learner_.n_features_in_}

    def _validate_learned(self) -> None:
        super()._validate_learned()
        self._check_kind()
        fits = self.mode != "frames" or math.prod(self.frame_shape_) == self.learner_.n_features_in_
        if not fits or len(self._kept_times) != len(self._kept):
            raise ValueError(f"frames of shape {self.frame_shape_}, kept at {self._kept_times}")
