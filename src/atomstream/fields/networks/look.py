"""Dictionaries of networks: atoms as graphs, the network before and after."""

from __future__ import annotations

import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, checked_matrix, counted
from atomstream.exceptions import InputError
from atomstream.fields.networks import Network, Reconstruction
from atomstream.fields.networks.families import draw_graph, family_names, family_sections
from atomstream.fields.networks.verdicts import far_from_network
from atomstream.io import InputFile, check_out, existing, naming_source, whole_file, write_table
from atomstream.looks import FileCoder, Look, Record, Table, canvas, report
from atomstream.looks.canvas import (
    ERROR,
    HEAD,
    TEXT,
    Figure,
    cells,
    empty,
    heading,
    most_important,
    shown,
)
from atomstream.looks.cards import Picture

ERROR_OF, UNVISITED = "relative error", "error on edges never visited"  # figures
REBUILT = "reconstruction.csv"  # or with the ending .npz
MAX_DRAWN = 25
STEPS = 50_000  # copies from which the network is rebuilt for the report
CELLS = 300  # most cells of a heat map in each direction; larger networks are drawn in blocks


class NetworkCoder(FileCoder):
    """Rebuilds networks."""

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Rebuild the network in a file."""
        with naming_source(source):
            network = network_of(record, source)
            return rebuild(record, network, place_of_pairs(out, record, REBUILT, source))


class NetworkLook(Look):
    """The look of dictionaries of the patches of networks."""

    files = NetworkCoder("a network", "; use atomstream network reconstruct or denoise")
    of = "patch"
    samples = "copies of the motif, one of each set of nodes"
    quality_on = "the network learned from"

    def plot(self, model: Any, **options: Any) -> Figure:
        """Draw the atoms as patches and as graphs."""
        return network_atoms(model, **options)

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, k = record.model, record.model.motif_.size
        kind = f"{counted(len(model.components_), 'atom')} of {k} x {k} nodes, chain {model.chain}"
        batches = counted(model.n_steps_, "batch", "batches")
        return {
            "model": f"{type(model).__name__}, {kind}",
            "motif": f"{model.motif} ({k} nodes, {len(model.motif_.edges)} edges)",
            "copies": f"{record.learner.n_samples_seen_:,} in {batches}",
        }

    def quality(self, record: Record) -> dict[str, float]:
        """Return how well the network is rebuilt; empty where it cannot be read any more."""
        network = _network(record)
        return {} if network is None else _figures(_rebuilt(record, network))

    def remark(self, figures: dict[str, float]) -> str | None:
        """Return what the figures say of the reconstruction, where it is hardly one."""
        return far_from_network(figures[ERROR_OF], figures[UNVISITED]) if figures else None

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of the code, and the heaviest entries of atoms.

        Entries are pairs of nodes of the motif, numbered from 0, other than the motif's own edges.
        """
        model = record.model
        motif = model.motif_.adjacency() > 0
        # Learned entries are symmetric but for rounding.
        symmetric = np.allclose(model.components_, model.components_.swapaxes(1, 2), atol=1e-3)
        # Of atoms that are symmetric one of two entries says both.
        listed = np.triu(~(motif | motif.T)) if symmetric else ~motif
        rows, names = [], family_names(model)
        for atom in most_important(model, most).tolist():
            patch = model.components_[atom]
            beyond = np.where(listed, patch, 0)
            heaviest = max(float(patch.max()), 1e-12)
            # Edges of the motif are in every copy and tell nothing of an atom.
            order = np.argsort(-beyond, axis=None, kind="stable")[:4]
            text = ", ".join(
                f"{a}-{b} {patch[a, b] / heaviest:.2g}"
                for a, b in zip(*np.unravel_index(order, patch.shape), strict=True)
                if beyond[a, b] > 0.01 * heaviest
            )
            words = ": ".join(filter(None, (names.get(atom), text)))
            rows.append((atom, float(model.importance_[atom]), words))
        heads = {"code_share": "share of code", "features": "heaviest other edges"}
        return Table("atom", heads, rows)

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return patches as small pictures, dark where they are heavy."""
        # Pictures go from black to white: the sign turns that round.
        return super().drawn(record, -values)

    def caption(self, record: Record) -> str:
        """Return what the picture of the atoms shows."""
        n_atoms = len(record.model.components_)
        return (
            f"{min(MAX_DRAWN, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with "
            "the share of each in the codes of late. Each atom is shown as a patch (dark: heavy) "
            "and as a graph of the nodes of the motif, node 0 at the top and the others clockwise: "
            "the edges of the motif are blue, all others orange. A dark row is a hub, a node "
            "joined to most others; a dark block is a community. Atoms of one letter are the same "
            "structure at other places of the motif."
        )

    def judged(self, record: Record) -> list[report.Section]:
        """Return the network before and after."""
        network = _network(record)
        if network is None:
            return family_sections(record.model)
        rebuilt = _rebuilt(record, network)
        caption = (
            f"The network learned from and its reconstruction from {STEPS:,} copies of the motif. "
            "Nodes are in the same order (reverse Cuthill-McKee) on both sides. Pairs that no copy "
            "visited are 0."
        )
        figure = adjacency(network.out, rebuilt.matrix)
        figures = _figures(rebuilt)
        if sentence := self.remark(figures):
            caption = f"{caption} {sentence}"
        facts = report.rounded(figures)
        before = report.Section("adjacency", "Before and after", caption, figure, facts=facts)
        return [*family_sections(record.model), before]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the network."""
        network, facts = _network(record), {"input": record.settings.inputs[0]}
        if network is None:
            return facts | {"network": "cannot be read any more, or has changed since"}
        direction = "undirected" if network.undirected else "directed"
        return facts | {
            "nodes": f"{network.n_nodes:,}",
            "edges": f"{network.n_edges:,}, {direction}",
            "weights": "all equal" if np.ptp(network.out.data) == 0 else "not all equal",
        }


def read_network(path: str | Path, *, largest_component: bool = False, **how: Any) -> Network:
    """Return the network in a file; parameters as in `Network.of`.

    Raises
    ------
    InputError
        Where there is none.
    """
    with naming_source(path):
        network = Network.of(existing(path), **how)
    return network.largest_component() if largest_component else network


def network_of(record: Record, edges: Path | None = None, **options: Any) -> Network:
    """Return the network in a file of edges, by default the one learned from.

    Parameters
    ----------
    record : Record
    edges : path, optional
    **options
        Of `read_network`, where the file is not to be read as the run has read its own.

    Raises
    ------
    InputError
        Where there is none, and where the one learned from has changed.
    """
    known = record.settings
    if known is not None:
        # The network is read as the run has read it, but for what was asked for now.
        own = known.edge_reading()
        options = own | {"where_used": own.keys() - options.keys()} | options
    if edges is not None:
        return read_network(edges, **options)
    if known is None:
        raise InputError(f"{record.path} is a model without its network; name a file of edges.")
    network = read_network(known.inputs[0], **options)
    # After the reading, so that what cannot be read is told first.
    record.run.check_inputs([InputFile(known.inputs[0])])
    return network


def rebuild(
    record: Record, network: Network, out: Path, n_steps: int = 100_000, seed: int = 0
) -> dict:
    """Write a network rebuilt from the atoms, and return how much of it is."""
    rebuilt = record.model.reconstruct(network, n_steps=n_steps, random_state=seed)
    if out.suffix == ".npz":
        with whole_file(out) as file:
            sp.save_npz(file, rebuilt.matrix)
    else:
        write_table(out, ("tail", "head", "weight"), chain.from_iterable(rebuilt.blocks()))
    return {
        "out": str(out),
        "share_of_edges_visited": round(rebuilt.coverage, 4),
        "relative_error": round(rebuilt.error / float(np.linalg.norm(network.out.data)), 4),
        "ordered_pairs_visited": int(rebuilt.matrix.nnz),
    }


def place_of_pairs(out: Path | None, record: Record, name: str, edges: Path | None) -> Path:
    """Return where to write pairs of nodes: by default the file of this name beside the model."""
    out = record.folder / name if out is None else out
    endings = (".csv", ".npz") if name == REBUILT else (".csv",)
    if out.suffix not in endings:
        raise InputError(f"{out} must end in {' or '.join(endings)}.")
    check_out(out, *([] if edges is None else [edges]))
    return out


def _network(record: Record) -> Network | None:
    """Return the network learned from; None where it cannot be read any more."""
    try:
        with warnings.catch_warnings(action="ignore"):  # the run has warned already
            return None if record.settings is None else network_of(record)
    except InputError:
        return None


def _rebuilt(record: Record, network: Network) -> Reconstruction:
    with warnings.catch_warnings(action="ignore"):  # the run has warned already
        rebuilt: Reconstruction = record.model.reconstruct(network, n_steps=STEPS)
    return rebuilt


def _figures(rebuilt: Reconstruction) -> dict[str, float]:
    norm = float(np.linalg.norm(rebuilt.network.out.data))
    return {
        "coverage of the edges": rebuilt.coverage,
        ERROR_OF: rebuilt.error / norm,
        UNVISITED: rebuilt.unvisited_norm / norm,
    }


def network_atoms_data(
    model: Any, n_atoms: int = 25, order: str = "importance"
) -> tuple[NDArray, NDArray]:
    """Return what `network_atoms` draws: the most important atoms and their shares.

    Each atom is divided by its largest entry.
    """
    drawn = shown(model, n_atoms, order)
    largest = model.components_[drawn].max(axis=(1, 2), keepdims=True)
    return model.components_[drawn] / np.where(largest > 0, largest, 1), model.importance_[drawn]


def network_atoms(
    model: Any, *, n_atoms: int = 25, n_columns: int = 5, order: str = "importance"
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
    grid, figure = cells(-(-len(patches) // n_columns), 2 * n_columns, 1.15, 1.35)
    names = family_names(model)
    drawn = zip(shown(model, n_atoms, order), patches, shares, strict=True)
    for place, (atom, patch, share) in enumerate(drawn):
        row, column = divmod(place, n_columns)
        left, right = grid[row, 2 * column], grid[row, 2 * column + 1]
        left.imshow(patch, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        left.axis("on")
        left.set(xticks=[], yticks=[])
        left.set_title(heading(atom, share), fontsize=TEXT)
        draw_graph(right, patch, joined)
        right.set_title(names.get(atom, ""), fontsize=TEXT)
    return figure


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
    before = checked_matrix(before, "before")
    after = None if after is None else checked_matrix(after, "after")
    n_nodes = before.shape[0]
    # Puts neighbours near each other: communities become blocks near the diagonal.
    order = sp.csgraph.reverse_cuthill_mckee(sp.csr_array(before + before.T), symmetric_mode=True)
    n_cells = min(cells, n_nodes)
    cell = np.empty(n_nodes, dtype=np.int64)
    cell[order] = np.arange(n_nodes) * n_cells // n_nodes
    sizes = np.bincount(cell)
    drawn = []
    for matrix in (before, after):
        if matrix is not None:
            pairs = sp.coo_array(matrix)
            places = cell[pairs.row], cell[pairs.col]
            blocks = sp.coo_array((pairs.data, places), (n_cells, n_cells)).toarray()
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
    roots = [np.sqrt(np.maximum(matrix, 0)) for matrix in matrices]
    # The same colours for both; a few very heavy cells do not set the scale.
    top = max(float(np.quantile(roots[0][roots[0] > 0], 0.98)), 1e-12)
    for axes, matrix, title in zip(grid, roots, titles, strict=False):
        drawn = axes.imshow(matrix, cmap=ERROR, vmin=0, vmax=top, interpolation="nearest")
        axes.set_title(title, fontsize=HEAD)
        axes.set(xticks=[], yticks=[])
    bar = figure.colorbar(drawn, ax=list(grid), fraction=0.03, pad=0.02)
    ticks = (top * np.linspace(0, 1, 5)).tolist()
    bar.set_ticks(ticks, labels=[f"{tick**2:.2g}" for tick in ticks])
    bar.set_label("mean weight (scale of square roots)", fontsize=TEXT)
    return figure


canvas.say_reads((network_atoms, network_atoms_data), "motif_", "a NetworkDictionary")
