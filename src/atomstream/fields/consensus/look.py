"""A consensus of replicates: the choice, the clusters, atoms with intervals."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, unit
from atomstream.looks import Record, Table, canvas, drawings, report
from atomstream.looks.canvas import BLUE, ORANGE, TEXT, TICK, Figure, heading, labelled, named_bars
from atomstream.looks.rows import RowsLook, largest_features

MAX_DRAWN = 1500  # atoms that are drawn in a clustergram


class ConsensusLook(RowsLook):
    """The look of a consensus: atoms that many replicates agree on."""

    quality_on = "rows that replicates left out"
    samples = "{unit} of the inputs"

    def plot(self, model: Any, **options: Any) -> Figure:
        """Draw the atoms with their intervals."""
        return intervals(model, **options)

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        ranks, replicates = model.ensemble_.ranks, model.ensemble_.n_replicates
        found, of = counted(model.n_components_, "atom"), counted(model.n_features_in_, "feature")
        return {
            "model": f"ConsensusNMF, {found} of {of}",
            "choice": model.choice_.reason,
            "compared": f"{counted(len(ranks), 'number')} of atoms, {ranks[0]} to {ranks[-1]}, "
            f"with {counted(replicates, 'replicate')} each",
            "samples": f"{model.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}",
        }

    def quality(self, record: Record) -> dict[str, float]:
        """Return the errors of the rank that was chosen, and how stable its atoms are."""
        choice = record.model.choice_
        at = int(np.flatnonzero(choice.ranks == choice.rank)[0])
        return {
            "error on hidden entries": float(choice.error[at]),
            "its standard error": float(choice.error_se[at]),
            "error of the means of the columns": float(choice.baseline),
            "stability": float(choice.stability[at]),
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the share, the stability and the largest features of each atom."""
        model, names = record.model, record.names
        heads = {"code_share": "share of code", "stability": "stability"}
        rows: list[tuple[Any, ...]] = []
        for atom, entries in enumerate(model.components_[:most]):
            row = (atom, float(model.importance_[atom]), float(model.stability_[atom]))
            rows.append((*row, largest_features(entries, names)) if names else row)
        return Table("atom", heads | ({"features": "largest features"} if names else {}), rows)

    def learned(self, record: Record) -> list[report.Section]:
        """Return the choice, the atoms with intervals, and the clusters."""
        model, choice = record.model, record.model.choice_
        caption = (
            f"{choice.reason} Above, the error on hidden entries of rows that a replicate has left "
            "out, with its standard error; below, the share of the replicates that have the "
            "consensus atoms, on average and the one that fewest have."
        )
        found = [report.Section("choice", "Numbers of atoms", caption, rank(choice))]
        caption = "The consensus atoms with intervals of 95 %, where replicates tell them."
        if record.shape is not None:
            caption = "The consensus atoms as patches, most important first."
            figure = drawings.atoms(model, record.shape)
        else:
            figure = intervals(model, record.names)
        found.append(report.Section("atoms", "Atoms", caption, figure))
        found.append(report.table_section("importance", "The atoms", self.table(record)))
        caption = (
            "Cosines of all atoms of the replicates: a dark square with a pale surrounding is an "
            "atom that returns and is like no other."
        )
        figure = clustergram(model)
        return [*found, report.Section("clusters", "Atoms of all replicates", caption, figure)]

    def judged(self, record: Record) -> list[report.Section]:
        """Return the measures of every rank."""
        choice = record.model.choice_
        heads = ["atoms", "stability, %", "error", "standard error", "silhouette", "cophenetic"]
        kinds = {"error": ".4g", "error_se": ".2g", "silhouette": ".3f", "cophenetic": ".3f"}
        rows = [
            (row["rank"], 100 * row["stability"], *(format(row[n], kinds[n]) for n in kinds))
            for row in choice.table
        ]
        caption = f"The means of the columns have an error of {choice.baseline:.4g}."
        return [report.Section("ranks", "All numbers of atoms", caption, columns=heads, rows=rows)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the rows."""
        known = super().source(record)
        del known["rows held out"]
        return known


def clustergram_data(model: Any, rank: int | None = None) -> tuple[NDArray, NDArray]:
    """Return what `clustergram` draws.

    Parameters
    ----------
    model : ConsensusNMF
    rank : int, optional
        By default the one chosen.

    Returns
    -------
    cosines : ndarray of shape (n_atoms, n_atoms)
        Of all atoms of the replicates, without their signs where signs are free: cluster by
        cluster, in each the atoms nearest to the consensus first; those that stand alone last. Of
        many replicates the first are drawn, 1,500 atoms at most.
    labels : ndarray of int of shape (n_atoms,)
        Their consensus atoms, -1 for those that stand alone.
    """
    rank = model.n_components_ if rank is None else rank
    found = model.consensus(rank)
    n_drawn = min(len(found.labels), max(2, MAX_DRAWN // rank))
    replicates = list(model.replicates_[rank])[:n_drawn]
    rows = np.concatenate([np.asarray(each.components_, np.float64) for each in replicates])
    rows, labels = unit(rows), found.labels[:n_drawn].ravel()
    # Atoms that stand alone have the label -1: they come last, sorted as if they were of the last.
    near = np.abs(rows @ unit(found.atoms).T)[np.arange(len(rows)), labels]
    order = np.lexsort((-near, np.where(labels < 0, rank, labels)))
    cosines = rows[order] @ rows[order].T
    return np.abs(cosines) if (rows < 0).any() else cosines, labels[order]


def clustergram(model: Any, rank: int | None = None) -> Figure:
    """Draw the cosines of all atoms of all replicates, ordered by the consensus atoms.

    A dark square on the diagonal for each atom, and white beside it, is an atom that returns and is
    like no other.

    Parameters
    ----------
    model : ConsensusNMF
    rank : int, optional
        By default the one chosen.
    """
    cosines, labels = clustergram_data(model, rank)
    figure = canvas.empty(6.6, 5.2)
    axes = figure.subplots()
    image = axes.imshow(cosines, cmap=canvas.WEIGHT, vmin=0, vmax=1, interpolation="nearest")
    labelled(figure.colorbar(image, ax=axes, shrink=0.8).ax, ylabel="cosine")
    edges = np.flatnonzero(np.diff(labels)) + 1
    starts, ends = np.append(0, edges), np.append(edges, len(labels))
    for edge in edges:
        axes.axhline(edge - 0.5, color="0.5", linewidth=0.4)
        axes.axvline(edge - 0.5, color="0.5", linewidth=0.4)
    names = ["alone" if labels[at] < 0 else f"{labels[at]}" for at in starts]
    axes.set_yticks((starts + ends - 1) / 2, names, fontsize=TICK)
    axes.set_xticks([])
    labelled(axes, ylabel="consensus atom", xlabel=f"{len(labels)} atoms of all replicates")
    return figure


def intervals_data(
    model: Any, names: Sequence[str] | None = None, top: int = 10
) -> list[tuple[list[str] | None, NDArray, NDArray, NDArray]]:
    """Return what `intervals` draws for each atom: names, entries, lower and upper ends.

    Parameters
    ----------
    model : ConsensusNMF
    names : sequence of str, optional
        Of the features; by default those that the data had, if any.
    top : int, default=10
        Of named features those with the largest entries are drawn.

    Returns
    -------
    list of (names or None, entries, low, high)
        Ends are NaN where replicates tell nothing of them.
    """
    names = getattr(model, "feature_names_in_", None) if names is None else names
    low, high = model.intervals_
    drawn: list[Any] = []
    for atom, least, most in zip(model.components_, low, high, strict=True):
        if names is None:
            drawn.append((None, atom, least, most))
            continue
        largest = np.argsort(-np.abs(atom), kind="stable")[:top]
        chosen = [str(names[i]) for i in largest]
        drawn.append((chosen, atom[largest], least[largest], most[largest]))
    return drawn


def intervals(
    model: Any, names: Sequence[str] | None = None, *, top: int = 10, n_columns: int = 3
) -> Figure:
    """Draw the consensus atoms with their intervals of 95 %.

    Named features as bars, largest first; few features without names as points; many as curves with
    a band. Titles name the importance and the stability of each atom.

    Parameters
    ----------
    model : ConsensusNMF
    names : sequence of str, optional
        Of the features; by default those that the data had, if any.
    top : int, default=10
        Of named features those with the largest entries are drawn.
    n_columns : int, default=3
    """
    drawn = intervals_data(model, names, top)
    height = 1.85 if drawn[0][0] is None else 0.65 + 0.17 * len(drawn[0][1])
    grid, figure = canvas.panels(len(drawn), n_columns, 3.0, height)
    for number, (axes, (named, *values)) in enumerate(zip(grid, drawn, strict=True)):
        entries, low, high = values
        around = np.array([entries - low, high - entries])
        places = np.arange(len(entries))
        if named is not None:
            named_bars(axes, entries, named, xerr=around, color=BLUE, ecolor=ORANGE, capsize=1.5)
        elif len(entries) <= drawings.MAX_BARS:
            axes.errorbar(places, entries, around, fmt="o", color=BLUE, ecolor=ORANGE, markersize=3)
            axes.xaxis.get_major_locator().set_params(integer=True)
        else:
            axes.fill_between(places, low, high, color=ORANGE, alpha=0.7, linewidth=0)
            axes.plot(places, entries, color=BLUE, linewidth=0.5)
        share, kept = model.importance_[number], model.stability_[number]
        title = f"{heading(number, share)}\nin {100 * kept:.0f} % of the replicates"
        title += ", no intervals" if np.isnan(low).all() else ""
        axes.set_title(title, fontsize=TEXT)
    return figure


def rank(choice: Any) -> Figure:
    """Draw the error on hidden entries and the stability of the atoms against their number.

    Parameters
    ----------
    choice : RankChoice
        Result of `atomstream.choose_rank`, or ``choice_`` of a `ConsensusNMF`.
    """
    ranks, chosen, stability = choice.ranks, choice.rank, choice.stability
    figure = canvas.empty(7, 4.6)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    dots: dict[str, Any] = {"marker": "o", "markersize": 4}
    top.errorbar(ranks, choice.error, choice.error_se, color=BLUE, capsize=3, **dots)
    top.axhline(
        choice.baseline, color="0.3", linewidth=1.4, linestyle=":", label="means of the columns"
    )
    # A linear scale does not show what is a hundred times smaller.
    top.set_yscale("log" if 0 < 100 * min(choice.error) < choice.baseline else "linear")
    labelled(top, ylabel="error on hidden entries")
    bottom.plot(ranks, stability, color=ORANGE, label="mean", **dots)
    bottom.plot(ranks, choice.weakest, color=BLUE, marker="s", markersize=4, label="least steady")
    labelled(bottom, xlabel="number of atoms", ylabel="share of replicates\nthat have the atoms")
    bottom.set_ylim(0, 1.03)
    other = choice.by_reproducibility if choice.rule == "error" else choice.by_error
    if other not in (None, chosen):
        told = "reproducibility" if choice.rule == "error" else "error"
        bottom.axvline(other, color="0.6", linewidth=1, linestyle=":", label=f"by {told}: {other}")
    for axes in (top, bottom):
        axes.axvline(chosen, color="0.3", linewidth=1, linestyle="--", label=f"chosen: {chosen}")
        if len(ranks) > 1 and choice.spread is not None:
            low, high = choice.spread
            label = f"in 9 of 10 resamples: {low} to {high}"
            axes.axvspan(low - 0.2, high + 0.2, color="0.92", zorder=0, label=label)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=TEXT)
    bottom.set_xlim(ranks[0] - 0.5, ranks[-1] + 0.5)
    bottom.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
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
    found = unit(rows.astype(np.float64)) @ unit(others.astype(np.float64)).T
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
    figure = canvas.empty(max(4.0, 1.1 * len(levels)), max(3.0, 0.32 * levels[-1].rank))
    axes = figure.subplots()
    for before, after in pairwise(levels):
        ends = zip(before.heights[after.parents], after.heights, after.cosines, strict=True)
        ranks = [before.rank, after.rank]
        for start, end, cosine in ends:
            width = 0.3 + 3 * max(cosine, 0) ** 4
            axes.plot(ranks, [start, end], color="0.75", linewidth=width, zorder=1)
    for rank, heights, importance, share, *_ in levels:
        colors = [BLUE if kept else "white" for kept in share >= 0.5]
        style: dict[str, Any] = {"facecolors": colors, "edgecolors": BLUE, "zorder": 2}
        axes.scatter(np.full(rank, rank), heights, s=40 + 900 * importance, **style)
        for atom, height in enumerate(heights):
            ink = "white" if share[atom] >= 0.5 else BLUE
            axes.text(rank, height, str(atom), color=ink, fontsize=TICK, ha="center", va="center")
    if len(levels) > 1:
        axes.axvline(model.n_components_, color="0.3", linewidth=0.8, linestyle=":", zorder=0)
    axes.set_xticks([level.rank for level in levels])
    filled = "filled: half of the replicates or more have the atom"
    axes.set(xlabel=f"number of atoms (dotted: the one chosen)\n{filled}", ylim=(1, 0))
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    return figure


canvas.say_reads(
    (clustergram, clustergram_data, rank_tree, rank_tree_data), "replicates_", "a ConsensusNMF"
)
canvas.say_reads((intervals, intervals_data), "intervals_", "a ConsensusNMF")
