"""Videos as streams of frames: from arrays, lists of images, and files."""

import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, library
from atomstream.exceptions import InputError
from atomstream.io import (
    LUMA,
    InputOptions,
    images_in,
    is_color,
    load_image,
    open_inputs,
    source,
)
from atomstream.io.inputs import check_used

PAGES = (".tif", ".tiff")  # imageio would read these as a whole
STACKS = (*PAGES, ".gif")  # whose frames Pillow counts
CODED = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".wmv")
DECODERS = ("av", "imageio_ffmpeg")  # any of them serves imageio
ARRAYS = (".npy", ".npz", ".zarr", ".zarr.zip")


def as_frames(video: object, *, grey: bool = False) -> Iterator[NDArray]:
    """Yield the frames of a video in floating point; white of integer types becomes 1.

    Parameters
    ----------
    video : array of shape (n_frames, height, width[, n_channels]), path, or iterable of images
        A path is what `open_video` opens. An iterable holds arrays or names of image files.
    grey : bool, default=False
        Whether frames of three channels are converted to luma.

    Yields
    ------
    ndarray of shape (height, width) or (height, width, n_channels)
        float64 for float64, else float32. All frames have the same shape.

    Raises
    ------
    ValueError
        For data that are not a video, and if a frame has another shape than the first.
    """
    shape = None
    for number, image in enumerate(_images(opened(video, grey=grey), grey)):
        frame = scaled(image)
        if frame.ndim not in (2, 3) or not frame.size:
            raise ValueError(
                f"A frame must be of shape (height, width[, n_channels]), got {frame.shape}."
            )
        # Other numbers of channels are no colours, and stay.
        if grey and frame.shape[2:] == (3,):
            frame = frame @ LUMA.astype(frame.dtype)
        # Checked at each frame: a stream cannot be asked beforehand.
        shape = frame.shape if shape is None else shape
        if frame.shape != shape:
            raise ValueError(f"Frame {number} has shape {frame.shape}, the first has {shape}.")
        yield frame
    if shape is None:
        raise ValueError("The video has no frames.")


def as_array(video: Any, *, grey: bool = False) -> NDArray:
    """Return a video as one array; an array or memory map is copied only to make it grey."""
    video = opened(video, grey=grey)
    if isinstance(video, Video):
        video = video.whole()
    if hasattr(video, "shape"):
        _check_video(video.shape)
        # As it is: a memory map of a large video is never read whole.
        if not (grey and len(video.shape) == 4):
            if not isinstance(video, np.ndarray):
                source.need(2 * video.dtype.itemsize * math.prod(video.shape), "The video")
            return checked_array(video, "The video")
    return _stacked(as_frames(video, grey=grey), n_frames_of(video), "The video")


def opened(video: Any, *, grey: bool = False) -> Any:
    """Return a video as it was given, or opened where its path was given."""
    return open_video(Path(video), grey=grey) if isinstance(video, str | os.PathLike) else video


def n_frames_of(video: Any) -> int | None:
    """Return the number of frames of a video that `opened` returned, if it is known."""
    if isinstance(video, Video):
        return video.n_frames
    if hasattr(video, "shape"):
        return int(video.shape[0])
    return length_hint(video) or None


@dataclass(eq=False)
class Video(source.Input):
    """A video on disk that is learned from: its frames from any position on, or all of them.

    Parameters
    ----------
    name : str
        For messages.
    images_from : callable
        Returns the images, from the one with a given number on.
    n_frames : int or None
        Where that is known without reading.
    files : sequence of path, default=()
        What the fingerprint is made of.
    names : sequence of str, default=()
        What the frames are called; empty where they have no names.
    """

    name: str
    images_from: Callable[[int], Iterator[Any]]
    n_frames: int | None
    files: Sequence[Path] = ()
    names: Sequence[str] = ()

    def images(self, start: int) -> Iterator[NDArray]:
        """Yield the images from number ``start`` on, as `as_frames` takes them.

        Raises
        ------
        InputError
            Where the video turns out to be damaged.
        """
        with source.reading(self.name):
            yield from self.images_from(start)

    def whole(self) -> NDArray:
        """Return all images as one array: a memory map of a ``.npy`` file."""
        path = self.files[0]
        # Mapped, not read: rows of pixels are taken from it block by block.
        if path.name.lower().endswith(".npy"):
            with source.reading(self.name):
                return np.load(path, mmap_mode="r", allow_pickle=False)
        return _stacked(self.images(0), self.n_frames, self.name)


def open_video(path: str | Path, *, key: str | None = None, grey: bool = False) -> Video:
    """Open a video.

    Parameters
    ----------
    path : path
        A folder of images, in the order of their names; ``.npy``, ``.npz`` or ``.zarr`` with an
        array of shape (n_frames, height, width[, n_channels]); ``.tif`` or ``.gif``; or a file that
        imageio decodes.
    key : str, optional
        Which array of an archive or a group.
    grey : bool, default=False
        Whether the images of a folder are read without their colours.

    Raises
    ------
    InputError
        A sentence for each thing that can be wrong with a video.
    """
    path = source.existing(path)
    low = path.name.lower()
    ending = next((ending for ending in (*ARRAYS, *STACKS, *CODED) if low.endswith(ending)), None)
    with source.reading(str(path)):
        # Before folders, for a Zarr store is one.
        how = InputOptions(key=key, n_axes=3)
        if ending in ARRAYS:
            return _array(path, open_inputs([str(path)], how)[0])
        check_used(how, frozenset(), str(path))
        if path.is_dir():
            return _folder(path, grey)
        if ending is None:
            raise InputError(
                f"{path} ends like no video; known are folders of images and "
                f"{', '.join((*ARRAYS, *STACKS, *CODED))}."
            )
        # Told at once, and in our words.
        if ending in CODED and not any(find_spec(decoder) for decoder in DECODERS):
            raise InputError(f"{path} needs a decoder to be read: pip install 'imageio[pyav]'.")
        # A coded film would have to be decoded to the end to be counted.
        n_frames = _n_pages(path) if ending in STACKS else None
        read = _pages if ending in PAGES else _decoded
        return Video(str(path), partial(read, path), n_frames, [path])


def _array(path: Path, rows: source.Source) -> Video:
    """Return an array on disk as a video."""
    shape = (rows.n_rows or 0, *(rows.shape or (rows.n_features,)))
    if len(shape) not in (3, 4):
        raise InputError(
            f"{rows.name} has shape {shape}, needed is (n_frames, height, width[, n_channels])."
        )

    def images(start: int) -> Iterator[NDArray]:
        for block in rows.blocks(start, 0):
            yield from block.X.reshape(-1, *shape[1:])

    return Video(rows.name, images, shape[0], source.files_of(path))


def _folder(path: Path, grey: bool) -> Video:
    """Return the images of a folder as a video; the first one decides whether there is colour."""
    files = images_in(path, deep=False)
    color = not grey and is_color(files[0])
    names = [file.name for file in files]
    loaded = partial(load_image, color=color)
    return Video(str(path), lambda start: map(loaded, files[start:]), len(files), files, names)


def _n_pages(path: Path) -> int:
    read = library("PIL.Image", "Images").open
    # What a damaged page has is told when it is read.
    with warnings.catch_warnings(action="ignore"), read(path) as image:
        return int(getattr(image, "n_frames", 1))


def _images(video: Any, grey: bool) -> Iterable[Any]:
    """Return an iterable of the images of a video that is no path."""
    if isinstance(video, Video):
        return video.images(0)
    if hasattr(video, "shape"):
        _check_video(video.shape)
        return _by_blocks(video)
    if not isinstance(video, Iterable):
        raise ValueError(
            "A video must be an array of frames, a file or folder, or an iterable of images, "
            f"got {type(video).__name__}."
        )
    return _one_by_one(video, grey)


def _check_video(shape: tuple[int, ...]) -> None:
    if len(shape) not in (3, 4) or not all(shape):
        raise ValueError(
            f"A video must be of shape (n_frames, height, width[, n_channels]), got {tuple(shape)}."
        )


def _by_blocks(video: Any) -> Iterator[NDArray]:
    """Yield the frames of an array; stores that are read by chunks give several at a time."""
    n_bytes = video.dtype.itemsize * math.prod(video.shape[1:])
    for rows in source.row_blocks(video.shape[0], 0, n_bytes):
        yield from checked_array(video[rows], "The video")


def _stacked(images: Iterable[NDArray], n_frames: int | None, name: str) -> NDArray:
    """Return images as one array, held against the budget of memory while they are read."""
    found: list[NDArray] = []
    for number, image in enumerate(images):
        if number and image.shape != found[0].shape:
            raise InputError(
                f"Frame {number} of {name} is of shape {image.shape}, the first one of "
                f"{found[0].shape}."
            )
        n_frames_held = max(number + 1, n_frames or 1)
        source.need(2 * image.nbytes * n_frames_held, name)  # once apart, once together
        found.append(image)
    return np.stack(found)


def _one_by_one(images: Iterable[Any], grey: bool) -> Iterator[Any]:
    """Yield arrays and loaded files; the first file decides whether there is colour."""
    color = None
    for image in images:
        if not isinstance(image, str | os.PathLike):
            yield checked_array(image, "A frame")
            continue
        path = source.existing(image)
        if color is None:
            color = not grey and is_color(path)
        yield load_image(path, color=color)


def _decoded(path: Path, start: int) -> Iterator[Any]:
    """Return the frames of a file from one on, one in memory at a time."""
    return islice(library("imageio.v3", "Videos").imiter(path), start, None)


def _pages(path: Path, start: int) -> Iterator[NDArray]:
    """Yield the pages of a TIFF file; those before the first one wanted are not decoded."""
    with library("PIL.Image", "Images").open(path) as image:
        for number in range(start, getattr(image, "n_frames", 1)):
            image.seek(number)
            yield np.asarray(image.convert("RGB") if image.mode == "P" else image)


def scaled(image: ArrayLike) -> NDArray:
    """Return an image in floating point; integers are divided by the largest of their type."""
    image = checked_array(image, "The frame")
    if image.dtype.kind not in "fiub":
        raise ValueError(f"Frames must hold numbers, got {image.dtype}.")
    if image.dtype.kind == "f":
        return image if image.dtype in (np.float32, np.float64) else image.astype(np.float32)
    top = np.iinfo(image.dtype).max if image.dtype.kind in "iu" else 1
    return image.astype(np.float32) / np.float32(top)


def pixel_courses(frames: NDArray, pixels: Sequence[int] | NDArray, size: int) -> Iterator[NDArray]:
    """Yield the courses of pixels over all frames as rows, some pixels at a time."""
    flat = frames.reshape(len(frames), -1)
    for start in range(0, len(pixels), size):
        yield scaled(flat[:, pixels[start : start + size]]).T
