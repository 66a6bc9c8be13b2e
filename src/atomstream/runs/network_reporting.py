"""The report of a network's run: atoms as patches and graphs, and the adjacency before and after."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from atomstream.domains.networks.reconstruction import Reconstruction
from atomstream.exceptions import InputError
from atomstream.runs.networks import network_of
from atomstream.runs.record import Record
from atomstream.runs.reporting import how
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["TITLE", "facts", "quality", "sections", "top_atoms"]

TITLE = "Atoms"

STEPS = 50_000  # copies from which the network is rebuilt for the report


def facts(record: Record) -> dict[str, Any]:
    """Return the run in a few lines."""
    model, k = record.model, record.model.motif_.size
    told: dict[str, Any] = {
        "model": f"NetworkDictionary, {len(model.components_)} atoms of {k} x {k} nodes, chain {model.chain}",
        "motif": f"{model.motif} ({k} nodes, {len(model.motif_.edges)} edges)",
        "copies": f"{model.learner_.n_samples_seen_:,} in {model.n_steps_:,} batches",
    }
    if record.settings is not None:
        left = f"{model.n_steps_} of {record.settings.batches} batches"
        told["state"] = "complete" if record.complete else left
        told["time"] = f"{record.notes['seconds']:.1f} s"
    told["objective"] = f"{record.objective:.6g} per patch, recent batches before their update"
    return told


def quality(record: Record) -> dict[str, float]:
    """Return how the network learned from is rebuilt; empty where it cannot be read any more."""
    return _figures(_rebuilt(record))


def _figures(rebuilt: Reconstruction | None) -> dict[str, float]:
    if rebuilt is None:
        return {}
    norm = float(np.linalg.norm(rebuilt.network.out.data))
    return {
        "coverage of the edges": rebuilt.coverage,
        "relative error": rebuilt.error / norm,
        "of it unvisited": rebuilt.unvisited_norm / norm,
    }


def top_atoms(record: Record, n_atoms: int = 20) -> list[tuple[int, float, float, str]]:
    """Return number, share of the code over the run and lately, and the heaviest entries of the most important atoms.

    Entries are pairs of nodes of the motif, numbered from 0; those of the motif itself come without
    saying.
    """
    model = record.model
    motif = model.motif_.adjacency() > 0
    k = len(motif)
    # Of atoms that are symmetric one of two entries says both.
    listed, once = [], np.triu(np.ones((k, k), dtype=bool))
    symmetric = np.allclose(model.components_, model.components_.swapaxes(1, 2), atol=1e-3)
    for atom in np.argsort(-model.recent_importance_, kind="stable")[:n_atoms]:
        patch = model.components_[atom]
        beyond = np.where(motif | motif.T if symmetric else motif, 0, patch)
        beyond = np.where(once, beyond, 0) if symmetric else beyond
        top = [
            np.unravel_index(place, patch.shape)
            for place in np.argsort(-beyond, axis=None, kind="stable")[:4]
        ]
        heaviest = max(float(patch.max()), 1e-12)
        told = ", ".join(
            f"{a}-{b} {patch[a, b] / heaviest:.2g}"
            for a, b in top
            if beyond[a, b] > 0.01 * heaviest
        )
        listed.append(
            (int(atom), float(model.importance_[atom]), float(model.recent_importance_[atom]), told)
        )
    return listed


def sections(record: Record) -> list[Section]:
    """Return the chapters of the report."""
    model = record.model
    n_drawn = min(25, len(model.components_))
    atoms = Section(
        "atoms",
        "Atoms",
        f"{n_drawn} of {len(model.components_)} atoms, most important first, with the share of each in the codes of "
        "the second half of the run. Each as a patch (dark: heavy) and as a graph of the nodes of the motif, node 0 "
        "at the top and the others clockwise: blue are the edges of the motif, orange all others.",
        plots.network_atoms(model),
        chapter="What was learned",
    )
    rows = [(atom, 100 * whole, 100 * late, told) for atom, whole, late, told in top_atoms(record)]
    columns = [
        "atom",
        "share of the code, %",
        "second half, %",
        "heaviest entries beyond the motif",
    ]
    table = Section(
        "importance", f"The {len(rows)} most important atoms", columns=columns, rows=rows
    )
    rebuilt = _rebuilt(record)
    return [atoms, table, *_how_well(record, rebuilt), *_from_what(record, rebuilt), *how(record)]


def _how_well(record: Record, rebuilt: Reconstruction | None) -> list[Section]:
    found, chapter = [], "How well"
    if rebuilt is not None:
        told = (
            f"The network learned from and its reconstruction from {STEPS:,} copies; nodes in one order, that of "
            "reverse Cuthill-McKee. Pairs that no copy met are 0."
        )
        figure = plots.adjacency(rebuilt.network.out, rebuilt.matrix)
        figures = {name: f"{value:.4g}" for name, value in _figures(rebuilt).items()}
        found.append(
            Section("adjacency", "Before and after", told, figure, chapter=chapter, facts=figures)
        )
        chapter = ""
    if record.history.n_samples:
        told = "Mean objective of each batch of patches before it was learned from."
        found.append(
            Section("objective", "Learning", told, plots.objective(record.history), chapter=chapter)
        )
    return found


def _from_what(record: Record, rebuilt: Reconstruction | None) -> list[Section]:
    if record.settings is None:
        return []
    told: dict[str, Any] = {"input": record.settings.inputs[0]}
    if rebuilt is None:
        told["network"] = "cannot be read any more, or has changed since"
    else:
        network = rebuilt.network
        n_loops = int((network.out.diagonal() != 0).sum())
        n_edges = (network.out.nnz + n_loops) // 2 if network.undirected else network.out.nnz
        told["nodes"] = f"{network.n_nodes:,}"
        told["edges"] = f"{n_edges:,}, {'undirected' if network.undirected else 'directed'}"
        told["weights"] = "all the same" if np.ptp(network.out.data) == 0 else "different"
    return [Section("inputs", "", facts=told, chapter="From what")]


def _rebuilt(record: Record) -> Reconstruction | None:
    """Return the reconstruction of the network learned from; None where that cannot be read any more."""
    if record.settings is None:
        return None
    try:
        network = network_of(record)
    except InputError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when the run was made
        rebuilt: Reconstruction = record.model.reconstruct(network, n_steps=STEPS)
    return rebuilt
