"""Images reconstructed by their patches: denoised, and completed."""

import numpy as np
from numpy.typing import NDArray

from atomstream.coders.pursuit import pursue
from atomstream.io.pixels import of_type, white
from atomstream.streams.cuts import patch_view
from atomstream.streams.overlaps import whole

# Found by measuring (docs/how-to/pictures.md); white is 1.
NOISE_GAIN = 1.1  # a patch is coded until its error is this often the noise
HOLES_ERROR = 0.02  # error of a pixel at which the code of a patch with holes ends


def split_means(rows: NDArray, n_channels: int) -> tuple[NDArray, NDArray]:
    """Return patches without the means of their channels, and these means.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        Channels last.
    n_channels : int

    Returns
    -------
    rows : ndarray of shape (n, n_features)
    means : ndarray of shape (n, 1, n_channels)
    """
    apart = rows.reshape(len(rows), -1, n_channels)
    means = apart.mean(axis=1, keepdims=True)
    return (apart - means).reshape(rows.shape), means


def add_means(rows: NDArray, means: NDArray) -> NDArray:
    """Return patches with the means of their channels, (n, 1, n_channels), put back."""
    return (rows.reshape(len(rows), -1, means.shape[2]) + means).reshape(rows.shape)


def denoise_image(
    image: NDArray, atoms: NDArray, noise: float, size: int, *, centred: bool
) -> NDArray:
    """Return an image without its noise; patches lie at every pixel.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
    atoms : ndarray of shape (n_components, n_features)
    noise : float
        Standard deviation of the noise; white is 1.
    size : int
        Height and width of a patch.
    centred : bool
        Whether the means of the channels are taken off a patch before it is coded.
    """
    n_features = atoms.shape[1]
    # A patch is coded until its squared error is that of the noise, not further: the rest is noise.
    goal, unit = n_features * (NOISE_GAIN * noise) ** 2, white(image)

    def cleaned(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, NDArray]:
        """Return patches without what may be noise, and their weights."""
        rows = rows / rows.dtype.type(unit)
        means = np.zeros((len(rows), 1, 1), rows.dtype)
        if centred:
            rows, means = split_means(rows, n_features // size**2)
        codes = pursue(rows, atoms, goal, n_features // 2)
        # The noise that is left in a patch grows with the number of its atoms.
        weights = 1 / (1 + np.count_nonzero(codes, axis=1))
        return add_means((codes @ atoms).astype(rows.dtype), means), weights

    return whole(image, size, 1, cleaned, lambda strip: of_type(strip, image))


def complete_image(
    image: NDArray, observed: NDArray, atoms: NDArray, size: int, *, stride: int
) -> NDArray:
    """Return an image whose patches are coded by their observed pixels.

    Patches lose the mean of what is observed; flat atoms make up for what this mean misses. Where
    no patch holds an observed pixel the image stays as it is.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
        With holes filled roughly.
    observed : ndarray of bool of shape (height, width, n_channels)
    atoms : ndarray of shape (n_components, n_features)
    size, stride : int
    """
    n_channels = observed.shape[2]
    # One flat atom per channel takes up what the mean of the observed pixels misses of the true
    # one.
    flat = np.repeat(np.eye(n_channels, dtype=atoms.dtype)[:, None], size**2, axis=1)
    atoms = np.concatenate([atoms, flat.reshape(n_channels, -1) / size])
    seen_view = patch_view(observed, size)

    def filled(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, NDArray]:
        """Return patches as their codes complete them, and how much of them is known."""
        seen = seen_view[tops, lefts].transpose(0, 2, 3, 1).reshape(len(rows), -1, n_channels)
        apart = rows.reshape(seen.shape)
        n_seen = seen.sum(axis=1, keepdims=True)
        means = (apart * seen).sum(axis=1, keepdims=True) / np.maximum(n_seen, 1)
        means = means.astype(rows.dtype)
        mask = seen.reshape(rows.shape)
        centred, goals = (apart - means).reshape(rows.shape), mask.sum(axis=1) * HOLES_ERROR**2
        codes = pursue(centred, atoms, goals, size**2 // 4, mask=mask)
        done = add_means((codes @ atoms).astype(rows.dtype), means)
        return done, mask.mean(axis=1) * (n_seen.min(axis=(1, 2)) > 0)

    made = whole(image, size, stride, filled)
    return np.where(np.isnan(made), image, made)
