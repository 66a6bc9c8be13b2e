"""Pixels as numbers: what an image is, the value of white, and how close two images are."""

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array

BYTE = 255  # white in 8 bits
MAX_FLOAT_IN_WHITE = 10.0  # floats beyond this are not in units of white, however noisy


def as_image(image: object, *, holes: bool = False, scaled: bool = True) -> NDArray:
    """Return an image as an array of numbers, (height, width) or (height, width, n_channels).

    Raises
    ------
    ValueError
        For other shapes and types, and for values that are not finite; with ``holes`` NaN is
        allowed. With ``scaled`` also for images that `check_white` refuses.
    """
    image = checked_array(image, "The image")
    if image.ndim not in (2, 3) or image.dtype.kind not in "uif" or 0 in image.shape:
        raise ValueError(
            "An image must be numbers in 2 axes, or in 3 with channels last, "
            f"got {image.dtype} of shape {image.shape}."
        )
    if image.dtype.kind == "f":
        low, high = (np.fmin, np.fmax) if holes else (np.minimum, np.maximum)
        if not (
            np.isfinite(low.reduce(image, axis=None)) and np.isfinite(high.reduce(image, axis=None))
        ):
            found = "no number, or infinity" if holes else "NaN or infinity; inpaint fills NaN"
            raise ValueError(f"The image of shape {image.shape} holds {found}.")
    if scaled:
        check_white(image)
    return image


def check_white(image: NDArray, observed: NDArray | bool = True) -> None:
    """Check that an image does not use 255 as white where its type has another white.

    Only ``observed`` pixels are looked at.
    """
    if image.dtype.itemsize == 1:
        return
    low = float(np.fmin.reduce(image, axis=None, initial=0, where=observed))
    high = float(np.fmax.reduce(image, axis=None, initial=0, where=observed))
    # Signed types and floats may go below zero; how far either way says what white is.
    most = max(-low, high)
    if most > MAX_FLOAT_IN_WHITE if image.dtype.kind == "f" else 0 < most <= BYTE:
        raise ValueError(
            f"The image of {image.dtype} has values from {low:.4g} to {high:.4g} where white is "
            f"{white(image):.10g}; convert to uint8 or divide by {BYTE}."
        )


def white(image: NDArray) -> float:
    """Return the value of white: the largest of the type for integers, 1 for floats."""
    return float(np.iinfo(image.dtype).max) if image.dtype.kind in "iu" else 1.0


def of_type(values: NDArray, image: NDArray) -> NDArray:
    """Return values in which white is 1 in the type of an image; integers are rounded, clipped."""
    if image.dtype.kind == "f":
        return values.astype(image.dtype, copy=False)
    # White of a signed type is 1 upwards and -1 downwards; its lowest value has no partner.
    low, high = (-1, 1) if image.dtype.kind == "i" else (0, 1)
    rounded = np.rint(np.clip(values, low, high) * white(image))
    return np.clip(rounded, low * white(image), None).astype(image.dtype)


def psnr(image: ArrayLike, reconstruction: ArrayLike, peak: float | None = None) -> float:
    """Return the peak signal-to-noise ratio in decibels, 20 log10(peak / root mean squared error).

    Parameters
    ----------
    image, reconstruction : array of one shape
    peak : float, optional
        The largest possible value; by default that of the type for integers, and 1 for floats.
    """
    image = checked_array(image, "image")
    reconstruction = checked_array(reconstruction, "reconstruction")
    if image.shape != reconstruction.shape:
        raise ValueError(
            f"image and reconstruction must have one shape, got {image.shape} and "
            f"{reconstruction.shape}."
        )
    peak = white(image) if peak is None else peak
    error = float(np.mean((image.astype(float) - reconstruction.astype(float)) ** 2))
    if not np.isfinite(error):
        raise ValueError(
            "image and reconstruction must be finite; fill what is missing, as first_guess does."
        )
    return float("inf") if error == 0 else 10 * float(np.log10(peak**2 / error))
