"""Numbers of atoms compared: errors, stability, and which atoms split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.looks.canvas import BLUE, ORANGE, TEXT, TICK, empty, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rank(choice: Any) -> Figure:
    """Draw the error on hidden entries and the stability of the atoms against their number.

    Parameters
    ----------
    choice : RankChoice
        Result of `atomstream.choose_rank`, or ``choice_`` of a `ConsensusNMF`.
    """
    ranks, chosen, stability = choice.ranks, choice.rank, choice.stability
    figure = empty(7, 4.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    top.errorbar(
        ranks, choice.error, choice.error_se, color=BLUE, marker="o", markersize=4, capsize=3
    )
    top.axhline(
        choice.baseline, color="0.3", linewidth=1.4, linestyle=":", label="means of the columns"
    )
    labelled(top, ylabel="error on hidden entries")
    bottom.plot(ranks, stability, color=ORANGE, marker="o", markersize=4)
    labelled(bottom, xlabel="number of atoms", ylabel="share of replicates\nthat have the atoms")
    bottom.set_ylim(min(0, stability.min()), 1.03)
    for axes in (top, bottom):
        axes.axvline(chosen, color="0.3", linewidth=1, linestyle="--", label=f"chosen: {chosen}")
        axes.grid(alpha=0.3)
    bottom.set_xlim(ranks[0] - 0.5, ranks[-1] + 0.5)
    bottom.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    top.legend(frameon=False, fontsize=TEXT)
    return figure


class Level(NamedTuple):
    """The atoms of one rank in the tree that `rank_tree` draws.

    Attributes
    ----------
    rank : int
    heights : ndarray of shape (rank,)
        Where each atom is drawn, from 0 to 1.
    importance, share : ndarray of shape (rank,)
        Of each atom.
    parents : ndarray of int of shape (rank,)
        The atom of the rank before that is nearest to each; empty for the first rank.
    cosines : ndarray of shape (rank,)
        How near that is.
    """

    rank: int
    heights: NDArray
    importance: NDArray
    share: NDArray
    parents: NDArray
    cosines: NDArray


def rank_tree_data(model: Any, ranks: Sequence[int] | None = None) -> list[Level]:
    """Return what `rank_tree` draws, one level for each rank.

    Parameters
    ----------
    model : ConsensusNMF
    ranks : sequence of int, optional
        By default all that were tried.
    """
    levels: list[Level] = []
    nothing = np.zeros(0)
    tried = sorted(model.replicates_ if ranks is None else ranks)
    agreed = [model.consensus(rank) for rank in tried]
    for number, (rank, found) in enumerate(zip(tried, agreed, strict=True)):
        parents, cosines = nothing.astype(np.int64), nothing
        keys: tuple[NDArray, ...] = (-found.importance,)
        if number:
            similar = _cosines(found.atoms, agreed[number - 1].atoms)
            parents, cosines = similar.argmax(axis=1), similar.max(axis=1)
            keys = (-cosines, levels[-1].heights[parents])  # below their parents, the nearest first
        heights = np.empty(rank)
        heights[np.lexsort(keys)] = (np.arange(rank) + 0.5) / rank
        levels.append(Level(rank, heights, found.importance, found.share, parents, cosines))
    return levels


def _cosines(rows: NDArray, others: NDArray) -> NDArray:
    rows, others = (
        X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.finfo(float).tiny)
        for X in (rows.astype(np.float64), others.astype(np.float64))
    )
    found: NDArray = rows @ others.T
    return np.abs(found) if (rows < 0).any() else found


def rank_tree(model: Any, ranks: Sequence[int] | None = None) -> Figure:
    """Draw which atoms split as the number of atoms grows.

    A disc for each consensus atom, one column for each rank: its area is the importance, its number
    that of the atom, and it is filled where half of the replicates or more have the atom. A line
    leads from each atom to the nearest one of the rank before, the wider the nearer.

    Parameters
    ----------
    model : ConsensusNMF
        With several ranks.
    ranks : sequence of int, optional
        By default all that were tried.
    """
    levels = rank_tree_data(model, ranks)
    figure = empty(max(4.0, 1.1 * len(levels)), max(3.0, 0.32 * levels[-1].rank))
    axes = figure.subplots()
    for before, after in pairwise(levels):
        ends = zip(before.heights[after.parents], after.heights, after.cosines, strict=True)
        for start, end, cosine in ends:
            width = 0.3 + 3 * max(cosine, 0) ** 4
            axes.plot(
                [before.rank, after.rank], [start, end], color="0.75", linewidth=width, zorder=1
            )
    for level in levels:
        steady = level.share >= 0.5
        axes.scatter(
            np.full(level.rank, level.rank),
            level.heights,
            s=40 + 900 * level.importance,
            facecolors=[BLUE if kept else "white" for kept in steady],
            edgecolors=BLUE,
            zorder=2,
        )
        for atom, height in enumerate(level.heights):
            color = "white" if steady[atom] else BLUE
            axes.text(
                level.rank, height, str(atom), color=color, fontsize=TICK, ha="center", va="center"
            )
    if len(levels) > 1:
        axes.axvline(model.n_components_, color="0.3", linewidth=0.8, linestyle=":", zorder=0)
    axes.set_xticks([level.rank for level in levels])
    filled = "filled: half of the replicates or more have the atom"
    axes.set(xlabel=f"number of atoms (dotted: the one chosen)\n{filled}", ylim=(1, 0))
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    return figure
