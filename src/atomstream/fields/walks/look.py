"""Factorizations of chains: the map, the clusters, the chain between them; maps of usages."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, complete_array, library
from atomstream.fields.walks import Grid
from atomstream.looks import FileCoder, Look, Record, Section, Table, canvas, report

NAMED = 5  # places of a map that are named


class WalkLook(Look):
    """The look of partitions of the states of a chain."""

    files = FileCoder("a walk")
    title = "Partition"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, notes = record.model, record.notes
        facts = {
            "model": f"RandomWalkFactorization, rank {model.n_components}",
            "states": f"{len(model.states_):,}",
            "transitions": f"{model.n_steps_:,}, passes included",
        }
        if "n_dropped" in notes:
            why = "no position, or a cell with too few trip ends"
            facts["dropped"] = f"{notes['n_dropped']:,} trips of a pass: {why}"
        if "lumpability" in notes:
            score = f"{notes['lumpability']:.4f}"
            facts["lumpability"] = f"{score} (0: all states of a cluster go on alike)"
        return facts

    def table(self, record: Record, most: int | None = None) -> Table:
        """Return states, share of the visits, and share of transitions that stay, of clusters."""
        heads = {"states": "states", "visits_share": "share of visits", "stays": "stays"}
        # A model in memory may not have been partitioned.
        if getattr(record.model, "partition_", None) is None:
            return Table("cluster", heads)
        labels, visits = record.model.partition_, record.model.stationary_
        chances = _between(record)
        rows = []
        for cluster in np.unique(labels[labels >= 0]):
            inside = labels == cluster
            # How often each cluster goes on to each other is counted by runs alone.
            stays = float(chances[cluster, cluster]) if chances is not None else float("nan")
            rows.append((int(cluster), int(inside.sum()), float(visits[inside].sum()), stays))
        return Table("cluster", heads, sorted(rows, key=lambda row: -row[2])[:most])

    def learned(self, record: Record) -> list[Section]:
        """Return the map, the clusters, the chain between them, and the singular values."""
        model, grid = record.model, record.notes.get("grid")
        found, table, chances = [], self.table(record), _between(record)
        if grid is not None and table.rows:
            where, visits = Grid(*grid), model.visits_.sum(axis=0)
            caption = (
                f"Cells of {where.size:.0f} m in the colours of their clusters, pale where few "
                "trips begin or end."
            )
            states = np.array(model.states_)
            figure = partition_map(where, states, model.partition_, visits=visits)
            found.append(Section("map", "Map", caption, figure))
        if table.rows:
            found.append(report.table_section("clusters", "Clusters", table))
        if chances is not None:
            caption = (
                "Of 100 transitions that leave a state of the cluster on the left, how many end in "
                "the one below."
            )
            groups = range(len(chances))
            shares = [float(model.stationary_[model.partition_ == i].sum()) for i in groups]
            figure = reduced_chain(chances, np.array(shares))
            found.append(Section("reduced_chain", "From cluster to cluster", caption, figure))
        caption = (
            "The larger a value is than those after it, the better so many dimensions describe the "
            "chain."
        )
        values = {f"{i}": f"{value:.4g}" for i, value in enumerate(model.singular_values_, 1)}
        return [*found, Section("singular_values", "Singular values", caption, facts=values)]


def _between(record: Record) -> NDArray | None:
    """Return the probabilities of going from cluster to cluster; None for a model file."""
    if "going" not in record.notes:
        return None
    counts, labels = record.notes["going"], record.model.partition_
    flow = np.zeros((counts.shape[1], counts.shape[1]))
    # States that were never met have the label -1 and belong to no cluster.
    np.add.at(flow, labels[labels >= 0], counts[labels >= 0])
    # A cluster that is never left has a row of zeros.
    return flow / np.maximum(flow.sum(axis=1, keepdims=True), 1)


def partition_map_data(grid: Grid, cells: ArrayLike, labels: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return what `partition_map` draws: corners (west, south) and clusters of cells."""
    labels = complete_array(labels, "labels")
    keep = labels >= 0
    # Longitude first, as x is.
    return grid.corners(complete_array(cells, "cells")[keep])[:, ::-1], labels[keep]


def partition_map(
    grid: Grid,
    cells: ArrayLike,
    labels: ArrayLike,
    *,
    visits: ArrayLike | None = None,
    places: Mapping[str, tuple[float, float]] | None = None,
) -> canvas.Figure:
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
    names, which, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    order, colours = np.argsort(-sizes, kind="stable"), np.ones((len(names), 4))
    # The largest cluster has the first colour, whatever its number.
    colours[order, :3] = [canvas.colour(number) for number in range(len(names))]
    faces = colours[which]
    if visits is not None:
        weight = checked_array(visits, "visits", float)[np.asarray(labels) >= 0]
        # Logarithms, for a few stations have most of the trips; a quarter at least, so that all
        # cells are seen.
        relative = np.log1p(weight) / np.log1p(np.quantile(weight, 0.9))
        faces[:, 3] = np.clip(0.25 + 0.75 * relative, 0.25, 1)
    figure = canvas.empty(8.2, 7.2)
    axes = figure.subplots()
    squares = corners[:, None] + square
    axes.add_collection(PolyCollection(squares, facecolors=faces, edgecolors="none"))
    for place in order:
        label = f"{names[place]}: {sizes[place]} cells"
        axes.plot([], [], "s", color=colours[place], label=label)
    # A few trips to far places would make the rest of the map a dot.
    low, high = np.quantile(corners, 0.005, axis=0), np.quantile(corners, 0.995, axis=0)
    margin = 0.05 * (high - low) + [across, down]
    axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
    axes.set_ylim(low[1] - margin[1], high[1] + margin[1])
    canvas.write_names(axes, (places or {}).values(), places or {})
    canvas.labelled(axes, xlabel="longitude", ylabel="latitude")
    # A degree of longitude is shorter away from the equator.
    axes.set_aspect(1 / np.cos(np.radians(grid.latitude)))
    axes.legend(frameon=False, fontsize=canvas.TEXT, loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def reduced_chain(probabilities: ArrayLike, shares: ArrayLike) -> canvas.Figure:
    """Draw the transition probabilities between clusters.

    Parameters
    ----------
    probabilities : array-like of shape (n_clusters, n_clusters)
        The rows sum to 1.
    shares : array-like of shape (n_clusters,)
        Shares of the clusters in all visits.
    """
    probabilities = checked_array(probabilities, "probabilities", float)
    shares = checked_array(shares, "shares", float)
    n = len(probabilities)
    figure = canvas.empty(1.6 + 0.5 * n, 1.2 + 0.45 * n)
    axes = figure.subplots()
    largest = float(probabilities.max())
    axes.imshow(probabilities, cmap=canvas.WEIGHT, vmin=0, vmax=max(largest, 1e-12))
    for i in range(n):
        for j in range(n):
            dark = probabilities[i, j] > 0.6 * largest
            text, ink = f"{100 * probabilities[i, j]:.0f}", "w" if dark else "k"
            axes.text(j, i, text, ha="center", va="center", fontsize=canvas.TICK, color=ink)
    axes.set_xticks(range(n))
    axes.set_yticks(range(n), [f"{i} ({100 * share:.0f} %)" for i, share in enumerate(shares)])
    texts = {"xlabel": "to cluster", "ylabel": "from cluster (share of visits)"}
    canvas.labelled(axes, title="of 100 transitions", **texts)
    return figure


def usage_maps_data(
    usages: ArrayLike, places: ArrayLike, n_atoms: int | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `usage_maps` draws: numbers of atoms, their usages, places.

    Parameters
    ----------
    usages : array-like of shape (n_samples, n_components)
    places : array-like of shape (n_samples, 2)
    n_atoms : int, optional
        Those that are used most.

    Returns
    -------
    atoms : ndarray of int of shape (n_atoms,)
    usages : ndarray of shape (n_samples, n_atoms)
    places : ndarray of shape (n_samples, 2)

    Raises
    ------
    ValueError
        For places that are not two numbers for each sample.
    """
    usages = checked_array(usages, "usages", float)
    places = checked_array(places, "places", float)
    if usages.ndim != 2 or places.shape != (len(usages), 2):
        raise ValueError(
            "places must be of shape (n_samples, 2) for usages of shape (n_samples, n_components), "
            f"got {places.shape} and {usages.shape}."
        )
    atoms = np.argsort(-usages.sum(axis=0), kind="stable")[:n_atoms]
    return atoms, usages[:, atoms], places


def usage_maps(
    usages: ArrayLike,
    places: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    n_atoms: int | None = None,
    n_columns: int = 4,
) -> canvas.Figure:
    """Draw samples at their places, in a panel for each atom, coloured by how much they use it.

    For features that have places, such as stations, give ``components_.T`` as the usages.

    Parameters
    ----------
    usages : array-like of shape (n_samples, n_components)
        Codes, or shares such as those that `atomstream.cells.annotate` puts into ``obsm``.
    places : array-like of shape (n_samples, 2)
        On a map or in an embedding, such as ``obsm["X_umap"]``.
    names : sequence of str, optional
        What the places are called; in each panel the five that use the atom most are named.
    n_atoms : int, optional
        How many atoms to draw, those used most first; by default all.
    n_columns : int, default=4
    """
    atoms, shown, where = usage_maps_data(usages, places, n_atoms)
    grid, figure = canvas.panels(len(atoms), n_columns, 2.4, 1.95)
    # Points get smaller as they get more, within what can be seen.
    size = float(np.clip(2e4 / max(len(where), 1), 0.5, 14))
    for axes, atom, usage in zip(grid, atoms, shown.T, strict=True):
        order = np.argsort(usage, kind="stable")  # the largest on top
        # A few large usages do not set the scale.
        top = float(np.quantile(np.abs(usage), 0.99)) or 1.0
        colours, low = (canvas.SIGNED, -top) if (usage < 0).any() else ("viridis", 0)
        scale: dict[str, Any] = {"c": usage[order], "cmap": colours, "vmin": low, "vmax": top}
        drawn = axes.scatter(*where[order].T, size, **scale, linewidths=0, rasterized=True)
        figure.colorbar(drawn, ax=axes, shrink=0.7).ax.tick_params(labelsize=canvas.TICK)
        if names is not None:
            most = order[: -NAMED - 1 : -1].tolist()
            canvas.write_names(axes, [tuple(where[i]) for i in most], [str(names[i]) for i in most])
        axes.set_title(f"atom {atom}", fontsize=canvas.TEXT)
        axes.set(xticks=[], yticks=[], aspect="equal")
    return figure
