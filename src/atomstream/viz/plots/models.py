"""The plot of the atoms of a model that suits its kind, and its atoms as a strip of thumbnails."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from atomstream.exceptions import MissingLibraryError
from atomstream.viz.cards import Picture, curves, pictures
from atomstream.viz.plots.canvas import most_important
from atomstream.viz.plots.consensus import intervals
from atomstream.viz.plots.dictionaries import FEW, atoms, bars
from atomstream.viz.plots.dictionaries import curves as many_curves
from atomstream.viz.plots.networks import network_atoms
from atomstream.viz.plots.series import series_atoms
from atomstream.viz.plots.tensors import loadings
from atomstream.viz.plots.topics import topics, topics_data
from atomstream.viz.plots.video import spatial_atoms, temporal_atoms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["model", "thumbnails"]

MOST = 12  # thumbnails
BOX = "display:inline-block;margin:4px;text-align:center;font:11px sans-serif;vertical-align:top"
LOOK = "width:64px;height:48px;object-fit:contain;image-rendering:pixelated;display:block"


def model(fitted: Any, **options: Any) -> Figure:
    """Draw the atoms of a model in the way that suits its kind.

    Parameters
    ----------
    fitted : fitted estimator
        Topics are drawn as words, atoms of series and tensors as curves, those of networks as
        graphs, of images as patches; atoms of rows as bars where features are few or have names,
        else as curves.
    **options
        Of the plot that is chosen; for rows also ``shape``, which draws them as patches.
    """
    if "shape" in options:
        return atoms(fitted, **options)
    draw = PLOTS.get(type(fitted).__name__, _rows)
    return draw(fitted, **options)


def _rows(fitted: Any, **options: Any) -> Figure:
    names = getattr(fitted, "feature_names_in_", None)
    if names is None and fitted.components_.shape[1] > FEW:
        return many_curves(fitted, **options)
    return bars(fitted, None if names is None else [*map(str, names)], **options)


def _patches(fitted: Any, **options: Any) -> Figure:
    return atoms(fitted.learner_, fitted.patch_shape_, **options)


def _frames(fitted: Any, **options: Any) -> Figure:
    return (spatial_atoms if fitted.mode == "frames" else temporal_atoms)(fitted, **options)


PLOTS: dict[str, Callable[..., Any]] = {
    "ConsensusNMF": intervals,
    "ImageDictionary": _patches,
    "NetworkDictionary": network_atoms,
    "OnlineCPDictionary": loadings,
    "SeriesDictionary": series_atoms,
    "TopicModel": topics,
    "VideoDictionary": _frames,
}


def thumbnails(fitted: Any) -> str:
    """Return the most important atoms of a model as HTML: pictures, or words of topics.

    Nothing is drawn where a library for pictures is missing.

    Parameters
    ----------
    fitted : fitted estimator
    """
    order = most_important(fitted, MOST).tolist()
    shares = [f"{100 * fitted.importance_[atom]:.1f} %" for atom in order]
    if hasattr(fitted, "top_words"):
        words = [
            ", ".join(word for word, _ in listed) for _, _, listed in topics_data(fitted, MOST)
        ]
        lines = zip(order, shares, map(escape, words), strict=True)
        return "".join(f"<div>topic {atom} ({share}): {text}</div>" for atom, share, text in lines)
    values = np.asarray(fitted.components_)
    try:
        if type(fitted).__name__ == "SeriesDictionary":
            looks = [curves(values[atom]) for atom in order]
        elif values.ndim in (2, 3) or (values.ndim == 4 and values.shape[3] == 3):
            looks = pictures(values[order])
        else:
            return ""
    except MissingLibraryError:
        return ""
    return "".join(
        f'<div style="{BOX}">{_look(look)}{atom}: {share}</div>'
        for atom, share, look in zip(order, shares, looks, strict=True)
    )


def _look(look: Picture) -> str:
    if look.png:
        return f'<img style="{LOOK}" alt="" src="data:image/png;base64,{look.png}">'
    lines = "".join(
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/>'
        for points in look.curves
    )
    return f'<svg style="{LOOK}" viewBox="0 0 120 60" preserveAspectRatio="none">{lines}</svg>'
