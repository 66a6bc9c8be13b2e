"""Plots of partitions of a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.core.extras import library
from atomstream.viz.plots.canvas import empty, write_names
from atomstream.viz.plots.style import TEXT, TICK, WEIGHT, colour, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from atomstream.domains.walks.trips import Grid

__all__ = ["partition_map", "partition_map_data", "reduced_chain", "reduced_chain_data"]


def partition_map_data(grid: Grid, cells: ArrayLike, labels: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return what `partition_map` draws: corners (west, south) and clusters of cells."""
    labels = np.asarray(labels)
    keep = labels >= 0
    return grid.corners(np.asarray(cells)[keep])[:, ::-1], labels[keep]


def partition_map(
    grid: Grid,
    cells: ArrayLike,
    labels: ArrayLike,
    *,
    visits: ArrayLike | None = None,
    places: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Draw cells in the colours of their clusters; the legend starts with the largest one.

    Parameters
    ----------
    grid : atomstream.walks.Grid
    cells : array-like of int of shape (n,)
    labels : array-like of int of shape (n,)
        Clusters of the cells; cells with a negative one are not drawn.
    visits : array-like of shape (n,), optional
        Numbers of visits; cells with few visits are paler.
    places : mapping of str to (float, float), optional
        Names of places, and their longitudes and latitudes; those outside the map are not drawn.
    """
    PolyCollection = library("matplotlib.collections", "Maps").PolyCollection
    corners, clusters = partition_map_data(grid, cells, labels)
    down, across = grid.steps
    square = np.array([[0, 0], [across, 0], [across, down], [0, down]])
    names, sizes = np.unique(clusters, return_counts=True)
    colours = np.array([(*colour(number), 1.0) for number in range(len(names))])
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(names), dtype=int)
    rank[order] = np.arange(len(names))
    faces = colours[rank[np.searchsorted(names, clusters)]]
    if visits is not None:
        weight = np.asarray(visits, dtype=float)[np.asarray(labels) >= 0]
        faces[:, 3] = np.clip(
            0.25 + 0.75 * np.log1p(weight) / np.log1p(np.quantile(weight, 0.9)), 0.25, 1
        )
    figure = empty(8.2, 7.2)
    axes = figure.subplots()
    axes.add_collection(
        PolyCollection(corners[:, None] + square, facecolors=faces, edgecolors="none")
    )
    for place in order:
        axes.plot(
            [], [], "s", color=colours[rank[place]], label=f"{names[place]}: {sizes[place]} cells"
        )
    low, high = np.quantile(corners, 0.005, axis=0), np.quantile(corners, 0.995, axis=0)
    margin = 0.05 * (high - low) + [across, down]
    axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
    axes.set_ylim(low[1] - margin[1], high[1] + margin[1])
    write_names(axes, (places or {}).values(), places or {})
    labelled(axes, xlabel="longitude", ylabel="latitude")
    axes.set_aspect(1 / np.cos(np.radians(grid.latitude)))
    axes.legend(frameon=False, fontsize=TEXT, loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def reduced_chain_data(probabilities: ArrayLike, shares: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return what `reduced_chain` draws: transition probabilities and shares of visits."""
    return np.asarray(probabilities, dtype=float), np.asarray(shares, dtype=float)


def reduced_chain(probabilities: ArrayLike, shares: ArrayLike) -> Figure:
    """Draw the transition probabilities between clusters.

    Parameters
    ----------
    probabilities : array-like of shape (n_clusters, n_clusters)
        The rows sum to 1.
    shares : array-like of shape (n_clusters,)
        Shares of the clusters in all visits.
    """
    probabilities, shares = reduced_chain_data(probabilities, shares)
    n = len(probabilities)
    figure = empty(1.6 + 0.5 * n, 1.2 + 0.45 * n)
    axes = figure.subplots()
    axes.imshow(probabilities, cmap=WEIGHT, vmin=0, vmax=max(float(probabilities.max()), 1e-12))
    for i in range(n):
        for j in range(n):
            dark = probabilities[i, j] > 0.6 * probabilities.max()
            text, colour = f"{100 * probabilities[i, j]:.0f}", "w" if dark else "k"
            axes.text(j, i, text, ha="center", va="center", fontsize=TICK, color=colour)
    axes.set_xticks(range(n))
    axes.set_yticks(range(n), [f"{i} ({100 * share:.0f} %)" for i, share in enumerate(shares)])
    texts = {"xlabel": "to cluster", "ylabel": "from cluster (share of visits)"}
    labelled(axes, title="of 100 transitions", **texts)
    return figure
