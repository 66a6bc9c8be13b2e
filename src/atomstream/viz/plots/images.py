"""Plots of images: comparisons, and maps of materials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.core.extras import library
from atomstream.viz.plots.canvas import panels, plain
from atomstream.viz.plots.style import IMAGE, TEXT, colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["comparison", "comparison_data", "material_map", "material_map_data"]


def comparison_data(
    pictures: Mapping[str, Any], original: ArrayLike | None = None
) -> list[tuple[str, NDArray]]:
    """Return what `comparison` draws: titles and images.

    With an original the titles contain the quality in decibels.

    Parameters
    ----------
    pictures : mapping of names to arrays of shape (height, width) or (height, width, 3)
    original : array, optional

    Returns
    -------
    list of (str, ndarray)
        The original comes first. Values are in [0, 1].
    """
    from atomstream.domains.images.pixels import as_image, psnr, white

    drawn = [] if original is None else [("original", as_image(original))]
    for name, picture in pictures.items():
        image = as_image(picture, holes=True)
        unknown = original is None or np.isnan(image).any()
        quality = "" if unknown else f", {psnr(drawn[0][1], image):.1f} dB"
        drawn.append((plain(name) + quality, image))
    return [(title, np.clip(np.nan_to_num(image) / white(image), 0, 1)) for title, image in drawn]


def comparison(
    pictures: Mapping[str, Any], original: ArrayLike | None = None, *, n_columns: int = 4
) -> Figure:
    """Draw images side by side, such as before and after.

    Parameters
    ----------
    pictures : mapping of names to arrays of shape (height, width) or (height, width, 3)
        All of one type; NaN is drawn black.
    original : array, optional
        Drawn first; the titles of the others contain their quality in decibels.
    n_columns : int, default=4
    """
    drawn = comparison_data(pictures, original)
    height, width = drawn[0][1].shape[:2]
    grid, figure = panels(len(drawn), n_columns, 2.6, 2.6 * height / width + 0.3)
    for axes, (title, image) in zip(grid, drawn, strict=True):
        axes.imshow(image, cmap=IMAGE, vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=TEXT)
    return figure


def material_map_data(
    classes: ArrayLike, names: Sequence[str]
) -> tuple[NDArray, list[tuple[str, float]]]:
    """Return what `material_map` draws: the map, and each material with its share of the pixels."""
    classes = np.asarray(classes)
    shares = np.bincount(classes.ravel(), minlength=len(names)) / classes.size
    return classes, list(zip(names, shares.tolist(), strict=True))


def material_map(classes: ArrayLike, names: Sequence[str]) -> Figure:
    """Draw the material of each pixel, with the share of each material.

    Parameters
    ----------
    classes : array-like of int of shape (height, width)
        As returned by `atomstream.ColorRestorer.restore`.
    names : sequence of str
        Names of the materials: ``materials_``.
    """
    ListedColormap = library("matplotlib.colors", "Pictures").ListedColormap
    from matplotlib.patches import Patch

    classes, shares = material_map_data(classes, names)
    colours = [colour(number) for number in range(len(names))]
    (axes,), figure = panels(1, 1, 4.6, 4.6 * classes.shape[0] / classes.shape[1])
    ends = {"vmin": -0.5, "vmax": len(names) - 0.5}
    axes.imshow(classes, cmap=ListedColormap(colours), interpolation="nearest", **ends)
    axes.set(xticks=[], yticks=[])
    entries = [
        Patch(color=c, label=f"{plain(n)} {100 * s:.0f} %")
        for c, (n, s) in zip(colours, shares, strict=True)
    ]
    figure.legend(handles=entries, loc="outside lower left", frameon=False, fontsize=TEXT)
    return figure
