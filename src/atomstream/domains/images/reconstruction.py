"""Images through a dictionary of patches: reconstruction in the memory of the image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.images.overlap import whole
from atomstream.streams import check_center, patch_view

__all__ = ["reconstruct"]


def reconstruct(
    model: Any,
    image: Any,
    size: int | tuple[int, int],
    *,
    stride: int = 1,
    center: str | None = None,
) -> NDArray:
    """Code every patch of an image, decode it, and average the decoded patches where they overlap.

    Patches stream through: beyond the image, its sum and its counts, only one tile of patches is in
    memory.

    Parameters
    ----------
    model : fitted estimator
        With ``transform`` and ``inverse_transform`` on flattened patches.
    image : array of shape (height, width) or (height, width, n_channels)
    size : int or (int, int)
        Size of the patches the model has learned.
    stride : int, default=1
        Distance between neighbouring patches; larger is faster and blockier. The borders are always
        covered.
    center : {"patch"}, optional
        As in `atomstream.streams.patches`: the mean is taken off each patch before coding and put
        back after.

    Returns
    -------
    ndarray of the shape of ``image``
        Floating point, in the units of the image.
    """
    check_center(center)
    image = np.asanyarray(image)
    patch_view(image, size)  # refuses what is no image, or too small
    shape = getattr(model, "shape_in_", (-1,))

    def decoded(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
        """Return what the model makes of patches."""
        means = rows.mean(axis=1, keepdims=True) if center == "patch" else 0
        samples = (rows - means).reshape(len(rows), *shape)  # of tensor models not flattened
        return model.inverse_transform(model.transform(samples)).reshape(rows.shape) + means, None

    return whole(image, size, stride, decoded)
