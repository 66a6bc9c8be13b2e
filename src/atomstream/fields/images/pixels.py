"""What an image tells of its pixels: how noisy they are, and a guess at those that are missing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, complete_array
from atomstream.io.pixels import as_image

# The high-pass filter of Daubechies with two vanishing moments: it is 0 where an image is a plane.
HIGH_PASS = np.array([1 - 3**0.5, 3**0.5 - 3, 3 + 3**0.5, -1 - 3**0.5]) / (4 * 2**0.5)
NORMAL_QUARTILE = 0.6744897501960817  # median of |z| for standard normal z
# Weighted share of observed pixels around a hole that suffices for a guess.
MIN_OBSERVED_WEIGHT = 1e-3


def noise_level(image: ArrayLike) -> float:
    r"""Return the standard deviation of white Gaussian noise in an image, in its units.

    It is the median of the absolute diagonal wavelet coefficients of the finest scale, divided by
    that of a standard normal number. They are taken from the quarter of the image that changes
    least at a coarser scale, where edges and texture are few, and away from pixels that have the
    lowest or the highest value, where noise may be cut off, or equal those around them. Fine
    detail that remains counts as noise: in photographs it adds to weak noise.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
        At least 8 pixels high and wide.

    Returns
    -------
    float
        Mean over the channels.

    References
    ----------
    Donoho, Johnstone (1994), "Ideal spatial adaptation by wavelet shrinkage", section 4.3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(noise_level(5 * rng.standard_normal((256, 256))))
    5
    """
    from scipy import ndimage

    image = as_image(image, scaled=False)
    if min(image.shape[:2]) < 8:
        raise ValueError(
            f"The noise of an image of shape {image.shape} cannot be estimated; it "
            "needs 8 x 8 pixels."
        )
    detail = image.astype(float)
    for axis in (0, 1):
        detail = ndimage.convolve1d(detail, HIGH_PASS, axis=axis)
    channels = image.reshape(*image.shape[:2], -1)
    grey = channels.mean(axis=2, dtype=float)
    slope = ndimage.gaussian_gradient_magnitude(grey, 2)
    silent = ((channels == channels.min()) | (channels == channels.max())).any(axis=2)
    # Bars, and what was drawn.
    silent |= ndimage.maximum_filter(grey, 3) == ndimage.minimum_filter(grey, 3)
    slope[ndimage.maximum_filter(silent, 5)] = np.inf
    # Every second coefficient, as of a wavelet transform; at the border the filter sees beyond it.
    inside = np.abs(detail.reshape(channels.shape)[2:-2:2, 2:-2:2])
    slope = slope[2:-2:2, 2:-2:2]
    flat = slope <= np.quantile(slope, 0.25, method="higher")
    return float(np.median(inside[flat], axis=0).mean() / NORMAL_QUARTILE)


def fill(image: NDArray, observed: NDArray) -> NDArray:
    """Return an image with holes filled by weighted means of the observed pixels around them.

    The weights are a Gaussian window. Its width doubles until all of the image is filled, so the
    window is narrow where observed pixels are near.

    Parameters
    ----------
    image, observed : array of shape (height, width, n_channels)
        ``observed`` is True where a pixel is known; every channel has one.

    References
    ----------
    Knutsson, Westin (1993), "Normalized and differential convolution".
    """
    from scipy.ndimage import gaussian_filter

    known = np.where(observed, image, 0)
    guess, open_ = known.copy(), ~observed
    width = 0.7
    while open_.any():
        if width > max(image.shape):  # wider than the image: use the mean of the channel
            guess = np.where(open_, known.sum(axis=(0, 1)) / observed.sum(axis=(0, 1)), guess)
            break
        mass = gaussian_filter(observed.astype(known.dtype), width, axes=(0, 1), mode="constant")
        total = gaussian_filter(known, width, axes=(0, 1), mode="constant")
        mean = total / np.maximum(mass, MIN_OBSERVED_WEIGHT)
        near = open_ & (mass > MIN_OBSERVED_WEIGHT)
        guess, open_ = np.where(near, mean, guess), open_ & ~near
        width *= 2
    return guess


def with_holes(image: Any, missing: object) -> tuple[NDArray, NDArray]:
    """Return an image in its own type, and where it is known.

    The latter is bool of shape (height, width, n_channels). What stands where nothing is known may
    be anything.
    """
    # A mask does not make whole numbers floats, whose white would be another one.
    masked = np.ma.getmaskarray(image) if np.ma.isMaskedArray(image) else None
    image = as_image(image if masked is None else image.filled(0), holes=True, scaled=False)
    observed = ~np.isnan(image) if image.dtype.kind == "f" else np.ones(image.shape, bool)
    observed = (observed if masked is None else observed & ~masked).reshape(*image.shape[:2], -1)
    if missing is not None:
        missing = complete_array(missing, "missing")
        if missing.dtype != bool or missing.shape not in (image.shape, image.shape[:2]):
            raise ValueError(
                f"missing must be bool and of the shape of the image, {image.shape[:2]} or "
                f"{image.shape}, got {missing.dtype} of shape {missing.shape}."
            )
        observed = observed & ~missing.reshape(*image.shape[:2], -1)
    if not observed.any(axis=(0, 1)).all():
        raise ValueError(
            "A channel of the image has no observed pixel, so there is nothing to fill it from."
        )
    return image, observed


def first_guess(image: ArrayLike, missing: ArrayLike | None = None) -> NDArray:
    """Return an image with its holes filled by means of the pixels around them.

    The result is blurred in the holes, but good enough to learn a dictionary from.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
        What is NaN or masked is missing.
    missing : array of bool of shape (height, width), or of the shape of ``image``, optional
        True where a pixel is unknown.

    Returns
    -------
    ndarray of the shape of ``image``
        Floating point, in the units of the image.
    """
    image, observed = with_holes(image, missing)
    dtype = np.float64 if image.dtype == np.float64 else np.float32
    return fill(image.reshape(observed.shape).astype(dtype), observed).reshape(image.shape)
