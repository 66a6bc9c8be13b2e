"""How network dictionaries are looked at: atoms as graphs, the network before and after."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.domains.networks import Network, Reconstruction
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.outputs import check_out, write_table
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import Record
from atomstream.runs.task import InputFile, Table, named
from atomstream.runs.tasks.network import edge_reading
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.cards import Picture
from atomstream.viz.report import Section

MOST_DRAWN = 25
STEPS = 50_000  # copies from which the network is rebuilt for the report


@dataclass(frozen=True)
class Given:
    """A network to look at: by default the one learned from, read as the run has read it.

    Attributes
    ----------
    edges : path, optional
    options : dict
        Fields of `edge_reading` that replace those of the run; a model file has none.
    """

    edges: Path | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def network(self, record: Record) -> Network:
        """Return the network; the one learned from only while it has not changed.

        Raises
        ------
        InputError
            Where there is none.
        """
        known: Any = edge_reading() if record.settings is None else record.settings
        reading = replace(known, **self.options)
        if self.edges is not None:
            return reading.network(self.edges)
        if record.settings is None:
            raise InputError(f"{record.path} is a model without its network; name a file of edges.")
        path = record.settings.inputs[0]
        network = reading.network(path)
        RunFolder(record.path).check_inputs([InputFile(path)])
        return network

    def checked_out(
        self, record: Record, out: Path | None, name: str, endings: tuple[str, ...]
    ) -> Path:
        """Return where to write, by default the file of this name beside the model."""
        out = record.folder / name if out is None else out
        if out.suffix not in endings:
            raise InputError(f"{out} must end in {' or '.join(endings)}.")
        check_out(out, *([] if self.edges is None else [self.edges]))
        return out


class NetworkView(common.CommonView):
    """Dictionaries of the patches of networks."""

    learned_from = "a network"
    of = "patch"
    samples = "copies of the motif, one of each set of nodes"
    quality_on = "the network learned from"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model, k = record.model, record.model.motif_.size
        kind = f"{counted(len(model.components_), 'atom')} of {k} x {k} nodes, chain {model.chain}"
        batches = counted(model.n_steps_, "batch", "batches")
        return {
            "model": f"NetworkDictionary, {kind}",
            "motif": f"{model.motif} ({k} nodes, {len(model.motif_.edges)} edges)",
            "copies": f"{record.learner.n_samples_seen_:,} in {batches}",
        }

    def quality(self, record: Record) -> dict[str, float]:
        """Return how well the network is rebuilt; empty where it cannot be read any more."""
        network = _network(record)
        return {} if network is None else _figures(_rebuilt(record, network))

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of the code over the run and lately, and the heaviest entries of atoms.

        Entries are pairs of nodes of the motif, numbered from 0, other than the motif's own edges.
        """
        model = record.model
        motif = model.motif_.adjacency() > 0
        symmetric = np.allclose(model.components_, model.components_.swapaxes(1, 2), atol=1e-3)
        # Of atoms that are symmetric one of two entries says both.
        listed = np.triu(~(motif | motif.T)) if symmetric else ~motif
        rows = []
        for atom in np.argsort(-model.recent_importance_, kind="stable")[:most].tolist():
            patch = model.components_[atom]
            beyond = np.where(listed, patch, 0)
            heaviest = max(float(patch.max()), 1e-12)
            order = np.argsort(-beyond, axis=None, kind="stable")[:4]
            text = ", ".join(
                f"{a}-{b} {patch[a, b] / heaviest:.2g}"
                for a, b in zip(*np.unravel_index(order, patch.shape), strict=True)
                if beyond[a, b] > 0.01 * heaviest
            )
            shares = float(model.importance_[atom]), float(model.recent_importance_[atom])
            rows.append((atom, *shares, text))
        heads = {"code_share": "share of code times length", "recent_share": "second half"}
        return Table("atom", heads | {"features": "heaviest entries beyond the motif"}, rows)

    def drawn(self, record: Record, values: NDArray) -> list[Picture]:
        """Return patches as small pictures, dark where they are heavy."""
        return super().drawn(record, -values)

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms as patches and as graphs, and their shares."""
        n_atoms = len(record.model.components_)
        caption = (
            f"{min(MOST_DRAWN, n_atoms)} of {counted(n_atoms, 'atom')}, most important first, with "
            "the share of each in the codes of the second half of the run. Each atom is shown as "
            "a patch (dark: heavy) and as a graph of the nodes of the motif, node 0 at the top and "
            "the others clockwise: the edges of the motif are blue, all others orange. A dark row "
            "is a hub, a node joined to most others; a dark block is a community."
        )
        figure = plots.network_atoms(record.model)
        table = common.importance(record, self.table(record))
        return [Section("atoms", "Atoms", caption, figure), table]

    def judged(self, record: Record) -> list[Section]:
        """Return the network before and after."""
        network = _network(record)
        if network is None:
            return []
        rebuilt = _rebuilt(record, network)
        caption = (
            f"The network learned from and its reconstruction from {STEPS:,} copies of the motif. "
            "Nodes are in the same order (reverse Cuthill-McKee) on both sides. Pairs that no copy "
            "visited are 0."
        )
        figure = plots.adjacency(network.out, rebuilt.matrix)
        facts = common.rounded(_figures(rebuilt))
        return [Section("adjacency", "Before and after", caption, figure, facts=facts)]

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

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Any:
        """Raise InputError: a network has no rows."""
        raise InputError(
            f"{record.path} has learned from a network; use atomstream network reconstruct or "
            "denoise."
        )

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Rebuild the network in a file."""
        with named(source):
            return rebuild(record, Given(source), out)


def rebuild(
    record: Record, given: Given, out: Path | None, steps: int = 100_000, seed: int = 0
) -> dict:
    """Write a network rebuilt from the atoms, by default the one learned from."""
    network = given.network(record)
    out = given.checked_out(record, out, "reconstruction.csv", (".csv", ".npz"))
    rebuilt = record.model.reconstruct(network, n_steps=steps, random_state=seed)
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


def denoise(
    record: Record, given: Given, out: Path | None, pairs: str, steps: int, seed: int
) -> dict:
    """Write edges or non-edges, ranked by what the atoms make of them."""
    network = given.network(record)
    out = given.checked_out(record, out, f"{pairs}.csv", (".csv",))
    ranking = record.model.denoise(network, pairs, n_steps=steps, random_state=seed)
    numbers = [ranking.scores, ranking.low, ranking.high, ranking.visits]
    lines = (
        (*pair, *map(_cell, known))
        for pair, *known in zip(ranking.pairs, *(part.tolist() for part in numbers), strict=True)
    )
    write_table(out, ("tail", "head", "score", "low", "high", "visits"), lines)
    kind = pairs.replace("-", "_")
    return {
        "out": str(out),
        "pairs": len(ranking.pairs),
        f"share_of_{kind}_visited": round(ranking.coverage, 4),
        "base_rate": round(ranking.shrinkage.base, 4),
    }


def _cell(number: float) -> float | int | str:
    """Return a number as a field of a table: whole numbers without a point, NaN as nothing."""
    if np.isnan(number):
        return ""
    return int(number) if number == int(number) else number


def _network(record: Record) -> Network | None:
    """Return the network learned from; None where it cannot be read any more."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run has warned already
            return None if record.settings is None else Given().network(record)
    except InputError:
        return None


def _rebuilt(record: Record, network: Network) -> Reconstruction:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run has warned already
        rebuilt: Reconstruction = record.model.reconstruct(network, n_steps=STEPS)
    return rebuilt


def _figures(rebuilt: Reconstruction) -> dict[str, float]:
    norm = float(np.linalg.norm(rebuilt.network.out.data))
    return {
        "coverage of the edges": rebuilt.coverage,
        "relative error": rebuilt.error / norm,
        "error on edges never visited": rebuilt.unvisited_norm / norm,
    }
