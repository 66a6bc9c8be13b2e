"""Reconstruction of images from their patches, in the memory of one image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.domains.images.overlap import whole
from atomstream.streams import check_center, patch_view


def reconstruct(
    model: Any,
    image: ArrayLike,
    size: int | tuple[int, int],
    *,
    stride: int = 1,
    center: str | None = None,
) -> NDArray:
    """Code every patch of an image, decode it, and average the decoded patches where they overlap.

    Besides the image, its sum and its counts, only one tile of patches is in memory.

    Parameters
    ----------
    model : fitted estimator
        With ``transform`` and ``inverse_transform`` on flattened patches.
    image : array of shape (height, width) or (height, width, n_channels)
    size : int or (int, int)
        Size of the patches the model has learned.
    stride : int, default=1
        Distance between neighbouring patches. A larger one is faster and shows more blocks. The
        borders are always covered.
    center : {"patch"}, optional
        As in `atomstream.streams.patches`: the mean of each patch is subtracted before coding and
        added again after.

    Returns
    -------
    ndarray of the shape of ``image``
        Floating point, in the units of the image.
    """
    check_center(center)
    image = np.asanyarray(image)
    patch_view(image, size)  # raises for data that are no image, or too small
    shape = getattr(model, "shape_in_", (-1,))

    def decoded(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
        """Return the reconstructions of patches."""
        means = rows.mean(axis=1, keepdims=True) if center == "patch" else 0
        samples = (rows - means).reshape(len(rows), *shape)  # models of tensors need their shape
        return model.inverse_transform(model.transform(samples)).reshape(rows.shape) + means, None

    return whole(image, size, stride, decoded)
