"""Mutational signatures: profiles in the colours of the field, exposures, the report of a run."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import checked_array, counted
from atomstream.exceptions import InputError
from atomstream.fields import signatures
from atomstream.fields.consensus.look import ConsensusLook, clustergram, rank
from atomstream.fields.signatures.classes import Kind, classed
from atomstream.io.outputs import Labels
from atomstream.looks import Encoded, FileCoder, Record, Table, canvas, report
from atomstream.looks.canvas import BLUE, TEXT, TICK, colour, empty, labelled, plain
from atomstream.looks.rows import largest_features

MAX_NAMED = 60  # samples whose names are written
MAX_BESIDE = 6  # classes whose headings stand beside the name of a profile
WIDTH, HEIGHT = 9.5, 1.7  # inches of a profile
LINE_HEIGHT = 0.2  # inches of a line of headings above a profile


class SignatureCoder(FileCoder):
    """Codes tables of mutations by the exposures to the signatures."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return the exposures of the samples of all tables, few signatures in each."""
        names = record.names or []
        found = signatures.de_novo(record.model, names)
        if not names:
            raise InputError(f"{record.path} is not complete; resume it first.")

        def blocks() -> Iterator[tuple[Labels, NDArray]]:
            """Yield the names of samples and their exposures, table by table."""
            for name in inputs:
                table = signatures.read(name)
                yield [np.array(table.names, object)], signatures.refit(table, found).values

        return Encoded(len(found.names), blocks(), ("sample",), "signature")


class SignaturesLook(ConsensusLook):
    """The look of signatures that a run has found in a table of mutations."""

    files: ClassVar[FileCoder] = SignatureCoder("a table of mutations")
    title = "Signatures"

    def table(self, record: Record, most: int = 20) -> Table:
        """Return share, stability, and the known signatures of each found one."""
        model, known = record.model, [*record.notes.get("matches", ())]
        heads = {"code_share": "share of mutations", "stability": "stability"}
        heads["features"] = "known signatures" if known else "largest channels"
        names = _found(record).names[:most]
        known = known or [largest_features(profile, record.names) for profile in model.components_]
        shares, stability = model.importance_.tolist(), model.stability_.tolist()
        rows = [
            (number, shares[number], stability[number], f"{name}: {known[number]}")
            for number, name in enumerate(names)
        ]
        return Table("signature", heads, rows)

    def learned(self, record: Record) -> list[report.Section]:
        """Return the choice, the profiles, the exposures and the clusters."""
        model, choice, notes = record.model, record.model.choice_, record.notes
        caption = (
            f"{choice.reason} Above, the error on hidden entries; below, the share of the "
            "replicates that have the signatures, on average and the one that fewest have."
        )
        found = [report.Section("choice", "Numbers of signatures", caption, rank(choice))]
        table = _found(record)
        caption = "Share of the mutations of each signature by channel, with intervals of 95 %."
        figure = mutation_profiles(table, intervals=model.intervals_)
        found.append(report.Section("profiles", "Signatures", caption, figure))
        found.append(report.table_section("signatures", "The signatures", self.table(record)))
        if "activities" in notes:
            caption = "Mutations of each sample by signature, the samples with most first."
            if over := [*notes["hypermutated"]]:
                caption += f" Hypermutated: {', '.join(map(str, over[:20]))}."
                caption += f" {len(over) - 20} more." if len(over) > 20 else ""
            figure = exposures(notes["activities"], table.names)
            found.append(report.Section("exposures", "Exposures", caption, figure))
        caption = "Cosines of all signatures of the replicates, cluster by cluster."
        figure = clustergram(model)
        return [*found, report.Section("clusters", "Signatures of all replicates", caption, figure)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the table."""
        n_samples, n_channels = record.model.n_samples_seen_, record.model.n_features_in_
        of = f"{counted(n_samples, 'sample')}, {counted(n_channels, 'channel')}"
        return {"inputs": report.inputs(record), "table": of}


def _found(record: Record) -> signatures.ChannelTable:
    """Return the signatures by their channels, which have numbers where they have no names."""
    channels = record.names or [str(i) for i in range(record.model.n_features_in_)]
    return signatures.de_novo(record.model, channels)


def mutation_profiles_data(table: signatures.ChannelTable) -> tuple[NDArray, list[str], NDArray]:
    """Return what `mutation_profiles` draws: shares, labels of the channels, their classes.

    Returns
    -------
    shares : ndarray of shape (n_rows, n_channels)
        Of sum one, the channels class by class.
    labels : list of str
        The three bases of a channel of substitutions, those that stand for a doublet, the number of
        an insertion or deletion; else its name.
    classes : ndarray of int of shape (n_channels,)
        Numbers of the classes: six of substitutions, ten of doublets, sixteen of insertions and
        deletions; -1 for channels of other kinds.
    """
    shares = table.values / np.maximum(table.values.sum(axis=1, keepdims=True), 1e-300)
    order, labels, classes, _ = classed(table.channels)
    return shares[:, order], labels, classes


def mutation_profiles(
    table: signatures.ChannelTable, *, intervals: tuple[NDArray, NDArray] | None = None
) -> canvas.Figure:
    """Draw the profiles of signatures or samples, a row for each: the share of every channel.

    Substitutions (96 channels), doublets (78) and insertions and deletions (83) are drawn in the
    colours of the field, with the headings of their classes.

    Parameters
    ----------
    table : ChannelTable
    intervals : tuple of two ndarrays of shape (n_rows, n_channels), optional
        Lower and upper ends, in units of the shares and in the order of the table.
    """
    shares, labels, classes = mutation_profiles_data(table)
    order, *_, kind = classed(table.channels)
    # Where classes are narrow, their headings and those of groups stand below the name.
    n_lines = (len(kind.classes) > MAX_BESIDE) + bool(kind.groups) if kind else 0
    figure = empty(WIDTH, (HEIGHT + LINE_HEIGHT * n_lines) * len(shares) + 0.5)
    grid = figure.subplots(len(shares), 1, sharex=True, squeeze=False)[:, 0]
    known = [color for _, color in kind.classes.values()] if kind else [BLUE]
    colors = [known[number] for number in classes]  # the last of one is that of other kinds
    ends = [100 * np.asarray(part)[:, order] for part in intervals or ()]
    for number, (axes, row) in enumerate(zip(grid, shares, strict=True)):
        places, height = np.arange(len(row)), 100 * row
        axes.bar(places, height, color=colors, width=0.7)
        if ends and np.isfinite(ends[0][number]).all():
            around = np.abs(np.array([height - ends[0][number], ends[1][number] - height]))
            axes.errorbar(places, height, around, fmt="none", ecolor="0.45", elinewidth=0.6)
        axes.set_xlim(-0.7, len(row) - 0.3)
        axes.set_ylim(0, None)
        name = plain(table.names[number])
        axes.set_title(name, fontsize=TEXT, loc="left", pad=12 * (n_lines + 1))
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=TICK)
        if kind:
            _mark_classes(axes, classes, kind, last=axes is grid[-1])
    turned = 0 if kind and kind.groups else 90  # numbers stand upright
    style = {"rotation": turned, "fontsize": 5, "family": "monospace"}
    grid[-1].set_xticks(np.arange(len(labels)), labels, **style)
    figure.supylabel("% of the mutations", fontsize=TEXT)
    return figure


def _mark_classes(axes: canvas.Axes, classes: NDArray, kind: Kind, *, last: bool) -> None:
    """Draw a bar with its name above the channels of each class, and what joins classes."""
    upper = axes.get_xaxis_transform()  # places along the axis, shares of its height
    style: dict[str, Any] = {"transform": upper, "ha": "center", "fontsize": TICK}
    for number, (heading, color) in enumerate(kind.classes.values()):
        inside = np.flatnonzero(classes == number)
        if not len(inside):
            continue
        ends = [inside[0] - 0.4, inside[-1] + 0.4]
        axes.fill_between(ends, 1.01, 1.06, color=color, transform=upper, clip_on=False)
        axes.text(sum(ends) / 2, 1.08, heading, va="bottom", **style)
    first = 0
    for above, below, n_classes in kind.groups:
        inside = np.flatnonzero((classes >= first) & (classes < first + n_classes))
        first += n_classes
        if len(inside):
            axes.text(inside.mean(), 1.22, above, va="bottom", **style)
        if len(inside) and last:
            axes.text(inside.mean(), -0.13, below, va="top", **style)


def exposures_data(values: NDArray) -> tuple[NDArray, NDArray]:
    """Return what `exposures` draws: the order of the samples, and shares of their mutations.

    Returns
    -------
    order : ndarray of int of shape (n_samples,)
        The sample with most mutations first.
    shares : ndarray of shape (n_samples, n_signatures)
        In that order.
    """
    values = checked_array(values, "values")
    totals = values.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    return order, values[order] / np.maximum(totals[order], 1e-300)[:, None]


def exposures(
    values: NDArray, names: Sequence[str], samples: Sequence[str] | None = None
) -> canvas.Figure:
    """Draw the mutations of each sample by signature: their number above, shares below.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_signatures)
        As of `atomstream.signatures.Exposures`.
    names : sequence of str
        Of the signatures.
    samples : sequence of str, optional
        Their names are written below, up to 60 of them.
    """
    values = checked_array(values, "values")
    order, shares = exposures_data(values)
    figure = empty(WIDTH, 4.2)
    top, bottom = figure.subplots(2, 1, sharex=True)
    places, width = np.arange(len(order)), 1.0 if len(order) > MAX_NAMED else 0.8
    for axes, heights in ((top, values[order]), (bottom, 100 * shares)):
        below = np.zeros(len(order))
        for number, name in enumerate(names):
            column = heights[:, number]
            color = colour(number)
            axes.bar(places, column, width, bottom=below, color=color, label=plain(name))
            below += column
        axes.set_xlim(-0.6, len(order) - 0.4)
    labelled(top, ylabel="mutations")
    labelled(bottom, ylabel="% of the mutations")
    bottom.set_xticks([])
    if samples is not None and len(samples) <= MAX_NAMED:
        shown = [plain(str(samples[i])) for i in order]
        bottom.set_xticks(places, shown, rotation=90, fontsize=TICK)
    top.legend(frameon=False, fontsize=TICK, loc="upper left", bbox_to_anchor=(1, 1))
    return figure
