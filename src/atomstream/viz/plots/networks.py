"""Plots of networks, and of spins on lattices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from atomstream.core.matrices import Matrix
from atomstream.viz.plots.canvas import Fitted, empty, heading, most_important, ordered
from atomstream.viz.plots.style import BLUE, ERROR, HEAD, IMAGE, ORANGE, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from atomstream.domains.networks.motifs import Motif

__all__ = [
    "adjacency",
    "adjacency_data",
    "network_atoms",
    "network_atoms_data",
    "spins",
    "spins_data",
]

CELLS = 300  # most cells of a heat map in each direction; larger networks are drawn in blocks


class NetworkAtoms(Protocol):
    """A fitted dictionary of patches of a network."""

    @property
    def components_(self) -> NDArray:
        """The atoms, of shape (n_atoms, size, size)."""

    @property
    def recent_importance_(self) -> NDArray:
        """Shares of the atoms in recent codes."""

    @property
    def motif_(self) -> Motif:
        """The motif of the patches."""


def network_atoms_data(
    model: NetworkAtoms, n_atoms: int = 25, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `network_atoms` draws: the most important atoms and their shares.

    Each atom is divided by its largest entry.
    """
    drawn = _newest(model, n_atoms, order)
    largest = model.components_[drawn].max(axis=(1, 2), keepdims=True)
    shares = model.recent_importance_[drawn]
    return model.components_[drawn] / np.where(largest > 0, largest, 1), shares


def _newest(model: NetworkAtoms, n_atoms: int, order: str) -> NDArray:
    """Return the numbers of the atoms that matter most of late."""
    most = np.argsort(-model.recent_importance_, kind="stable")[:n_atoms]
    return ordered(most, lambda: model.components_, order)


def network_atoms(
    model: NetworkAtoms, *, n_atoms: int = 25, n_columns: int = 5, order: str = "importance"
) -> Figure:
    """Draw the most important atoms of a network dictionary, each as a patch and as a graph.

    The nodes of the motif are on a circle, node 0 at the top and the others clockwise. Edges of the
    motif are blue, all others orange; heavier edges are wider and darker.

    Parameters
    ----------
    model : fitted NetworkDictionary
    n_atoms : int, default=25
    n_columns : int, default=5
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    patches, shares = network_atoms_data(model, n_atoms, order)
    joined = model.motif_.adjacency() + model.motif_.adjacency().T > 0
    n_columns = min(n_columns, len(patches))
    n_rows = -(-len(patches) // n_columns)
    figure = empty(2.3 * n_columns, 1.35 * n_rows)
    grid = figure.subplots(n_rows, 2 * n_columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    drawn = zip(_newest(model, n_atoms, order), patches, shares, strict=True)
    for place, (atom, patch, share) in enumerate(drawn):
        row, column = divmod(place, n_columns)
        left, right = grid[row, 2 * column], grid[row, 2 * column + 1]
        left.imshow(patch, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        left.axis("on")
        left.set(xticks=[], yticks=[])
        left.set_title(heading(atom, share), fontsize=TEXT)
        _graph(right, patch, joined)
    return figure


def _graph(axes: Axes, patch: NDArray, joined: NDArray) -> None:
    """Draw a patch as a graph; of two directions the heavier one counts."""
    from matplotlib.collections import LineCollection

    angles = np.pi / 2 - 2 * np.pi * np.arange(len(patch)) / len(patch)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.maximum(patch, patch.T)
    tails, heads = np.nonzero(np.triu(weights, 1) > 0.02)
    order = np.argsort(weights[tails, heads], kind="stable")
    tails, heads = tails[order], heads[order]
    strength = weights[tails, heads]
    if len(tails):  # an atom of zeros has no edges
        lines = LineCollection(
            list(zip(places[tails], places[heads], strict=True)),
            linewidths=0.3 + 1.7 * strength,
            colors=[BLUE if joined[u, v] else ORANGE for u, v in zip(tails, heads, strict=True)],
            alpha=np.clip(0.15 + 0.85 * strength, 0, 1),
        )
        axes.add_collection(lines)
    axes.scatter(places[:, 0], places[:, 1], s=max(3, 60 / len(patch)), color="0.15", zorder=3)
    loops = np.diag(patch) > 0.02
    rings = 1.22 * places[loops]
    axes.scatter(
        rings[:, 0], rings[:, 1], s=9, facecolors="none", edgecolors=ORANGE, linewidths=0.8
    )
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")


def adjacency_data(
    before: Matrix, after: Matrix | None = None, cells: int = CELLS
) -> list[NDArray]:
    """Return what `adjacency` draws: matrices in one order of nodes, large ones in blocks.

    Parameters
    ----------
    before : sparse array of shape (n_nodes, n_nodes)
    after : sparse array of shape (n_nodes, n_nodes), optional
        The order of the nodes comes from the first one, by the reverse Cuthill-McKee algorithm,
        which brings neighbours together.
    cells : int, default=300

    Returns
    -------
    list of ndarray
        Mean weight in each block.
    """
    n_nodes = before.shape[0]
    order = sp.csgraph.reverse_cuthill_mckee(sp.csr_array(before + before.T), symmetric_mode=True)
    n_cells = min(cells, n_nodes)
    cell = np.empty(n_nodes, dtype=np.int64)
    cell[order] = np.arange(n_nodes) * n_cells // n_nodes
    sizes = np.bincount(cell)
    drawn = []
    for matrix in (before, after):
        if matrix is not None:
            pairs = sp.coo_array(matrix)
            blocks = sp.coo_array(
                (pairs.data, (cell[pairs.row], cell[pairs.col])), (n_cells, n_cells)
            ).toarray()
            drawn.append(blocks / np.outer(sizes, sizes))
    return drawn


def adjacency(
    before: Matrix,
    after: Matrix | None = None,
    *,
    titles: tuple[str, str] = ("network", "reconstruction"),
) -> Figure:
    """Draw adjacency matrices side by side as heat maps, with the same nodes and colours.

    Parameters
    ----------
    before : sparse array of shape (n_nodes, n_nodes)
    after : sparse array of shape (n_nodes, n_nodes), optional
    titles : (str, str), default=("network", "reconstruction")
    """
    matrices = adjacency_data(before, after)
    figure = empty(4.6 * len(matrices) + 0.7, 4.6)
    grid = figure.subplots(1, len(matrices), squeeze=False)[0]
    # Square roots, because otherwise a few heavy blocks would leave all others white.
    shown = [np.sqrt(np.maximum(matrix, 0)) for matrix in matrices]
    top = max(float(np.quantile(shown[0][shown[0] > 0], 0.98)), 1e-12)
    for axes, matrix, title in zip(grid, shown, titles, strict=False):
        drawn = axes.imshow(matrix, cmap=ERROR, vmin=0, vmax=top, interpolation="nearest")
        axes.set_title(title, fontsize=HEAD)
        axes.set(xticks=[], yticks=[])
    bar = figure.colorbar(drawn, ax=list(grid), fraction=0.03, pad=0.02)
    ticks = (top * np.linspace(0, 1, 5)).tolist()
    bar.set_ticks(ticks, labels=[f"{tick**2:.2g}" for tick in ticks])
    bar.set_label("mean weight (scale of square roots)", fontsize=TEXT)
    return figure


def spins_data(
    configurations: Sequence[ArrayLike],
    models: Sequence[Fitted],
    rebuilt: Sequence[ArrayLike],
    shape: tuple[int, int],
) -> list[tuple[NDArray, ...]]:
    """Return what `spins` draws: configurations, mosaics of their top atoms, reconstructions."""
    drawn: list[tuple[NDArray, ...]] = []
    for spin, model, image in zip(configurations, models, rebuilt, strict=True):
        side = min(5, int(np.sqrt(len(model.components_))))
        order = most_important(model)[: side**2]
        atoms = model.components_[order]
        atoms = atoms / np.maximum(atoms.max(axis=1, keepdims=True), 1e-12)
        framed = np.pad(atoms.reshape(-1, *shape), ((0, 0), (1, 1), (1, 1)), constant_values=0.5)
        rows = framed.reshape(side, side, shape[0] + 2, shape[1] + 2)
        mosaic = rows.swapaxes(1, 2).reshape(side * (shape[0] + 2), -1)
        drawn.append((np.asarray(spin), mosaic, np.asarray(image)))
    return drawn


def spins(
    configurations: Sequence[ArrayLike],
    models: Sequence[Fitted],
    rebuilt: Sequence[ArrayLike],
    shape: tuple[int, int],
    *,
    titles: Sequence[str] | None = None,
) -> Figure:
    """Draw configurations of spins with their atoms and reconstructions, one per column.

    Parameters
    ----------
    configurations : sequence of array of shape (height, width)
    models : sequence of fitted estimators
        Each has learned patches of ``shape``.
    rebuilt : sequence of array of shape (height, width)
    shape : (int, int)
        Shape of a patch.
    titles : sequence of str, optional
    """
    columns = spins_data(configurations, models, rebuilt, shape)
    figure = empty(3.2 * len(columns) + 0.3, 9.6)
    grid = figure.subplots(3, len(columns), squeeze=False)
    names = ("configuration", "atoms", "reconstruction")
    for place, column in enumerate(columns):
        ends = {"vmin": column[0].min(), "vmax": column[0].max()}
        for axes, image, name in zip(grid[:, place], column, names, strict=True):
            scale = {"vmin": 0, "vmax": 1} if name == "atoms" else ends
            axes.imshow(image, cmap=IMAGE, interpolation="nearest", **scale)
            axes.set(xticks=[], yticks=[])
            if place == 0:
                axes.set_ylabel(name)
        if titles is not None:
            grid[0, place].set_title(titles[place], fontsize=HEAD)
    return figure
