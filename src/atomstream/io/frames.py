"""Videos as streams of frames: from arrays, lists of images, and files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.io.images import ENDINGS, is_color, load_image
from atomstream.io.source import reading

__all__ = ["as_array", "as_frames", "pixel_courses", "scaled"]

LUMA = np.array([0.299, 0.587, 0.114])  # of red, green and blue in grey (ITU-R BT.601)
PAGES = (".tif", ".tiff")  # imageio would read these as a whole


def as_frames(video: Any, *, grey: bool = False) -> Iterator[NDArray]:
    """Yield the frames of a video in floating point; white of integer types becomes 1.

    Parameters
    ----------
    video : array of shape (n_frames, height, width[, n_channels]), path, or iterable of images
        A path is a folder of images, or a file that imageio reads frame by frame. An iterable holds
        arrays or names of image files.
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
    for number, image in enumerate(_images(video, grey)):
        frame = scaled(image)
        if frame.ndim not in (2, 3) or not frame.size:
            raise ValueError(
                f"A frame must be of shape (height, width[, n_channels]), got {frame.shape}."
            )
        if grey and frame.shape[2:] == (3,):
            frame = frame @ LUMA.astype(frame.dtype)
        shape = frame.shape if shape is None else shape
        if frame.shape != shape:
            raise ValueError(f"Frame {number} has shape {frame.shape}, the first has {shape}.")
        yield frame
    if shape is None:
        raise ValueError("The video has no frames.")


def as_array(video: Any, *, grey: bool = False) -> NDArray:
    """Return a video as one array; an array or memory map is copied only to make it grey."""
    if hasattr(video, "shape") and not (grey and len(video.shape) == 4):
        if len(video.shape) not in (3, 4) or not all(video.shape):
            raise ValueError(
                "A video must be of shape (n_frames, height, width[, n_channels]), "
                f"got {tuple(video.shape)}."
            )
        return video
    return np.stack(list(as_frames(video, grey=grey)))


def _images(video: Any, grey: bool) -> Iterable[Any]:
    """Return an iterable of the images of a video."""
    if hasattr(video, "shape"):
        return as_array(video)
    if isinstance(video, str | os.PathLike):
        path = Path(video)
        if not path.exists():
            raise InputError(f"There is no {path}.")
        if not path.is_dir():
            return _from_file(path)
        video = sorted(part for part in path.iterdir() if part.suffix.lower() in ENDINGS)
        if not video:
            raise InputError(f"The folder {path} holds no images ({', '.join(sorted(ENDINGS))}).")
    if not isinstance(video, Iterable):
        raise ValueError(
            "A video must be an array of frames, a file or folder, or an iterable of images, "
            f"got {type(video).__name__}."
        )
    return _one_by_one(video, grey)


def _one_by_one(images: Iterable[Any], grey: bool) -> Iterator[Any]:
    """Yield arrays and loaded files; the first file decides whether there is colour."""
    color = None
    for image in images:
        if not isinstance(image, str | os.PathLike):
            yield np.asarray(image)
            continue
        path = Path(image)
        if not path.exists():
            raise InputError(f"There is no {path}.")
        if color is None:
            color = not grey and is_color(path)
        yield load_image(path, color=color)


def _from_file(path: Path) -> Iterator[Any]:
    """Yield the frames of a file; one of them is in memory at a time."""
    try:
        import imageio.v3 as iio
    except ImportError:
        raise InputError(
            "Videos need imageio to be read: pip install 'atomstream[video]'."
        ) from None
    with reading(str(path)):
        yield from iio.imiter(
            path, **({"plugin": "pillow"} if path.suffix.lower() in PAGES else {})
        )


def scaled(image: Any) -> NDArray:
    """Return an image in floating point; integers are divided by the largest of their type."""
    image = np.asarray(image)
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
