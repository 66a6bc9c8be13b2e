"""The report of a run on trips or a walk: the map, the clusters, and the chain between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.walks.trips import Grid
from atomstream.runs.record import Record
from atomstream.runs.reporting import how
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["TITLE", "clusters", "facts", "sections"]

TITLE = "Partition"


def facts(record: Record) -> dict[str, Any]:
    """Return the run in a few lines."""
    model, notes = record.model, record.notes
    told: dict[str, Any] = {
        "model": f"RandomWalkFactorization, rank {model.n_components}",
        "states": f"{len(model.states_):,}",
        "transitions": f"{model.n_steps_:,}, passes included",
    }
    if "lumpability" in notes:
        told["dropped"] = (
            f"{notes['n_dropped']:,} trips of a pass: no position, or a cell met too rarely"
        )
        told["lumpability"] = f"{notes['lumpability']:.4f} (0: all states of a cluster go on alike)"
        told["time"] = f"{notes['seconds']:.1f} s"
    return told


def clusters(record: Record) -> list[tuple[int, int, float, float]]:
    """Return number, states, share of the visits, and share of transitions that stay, largest share first."""
    labels, visits = record.model.partition_, record.model.stationary_
    chances = _between(record)
    rows = [
        (
            int(cluster),
            int((labels == cluster).sum()),
            float(visits[labels == cluster].sum()),
            float(chances[cluster, cluster]),
        )
        for cluster in np.unique(labels[labels >= 0])
    ]
    return sorted(rows, key=lambda row: -row[2])


def _between(record: Record) -> NDArray:
    """Return the probabilities of going from cluster to cluster."""
    going, labels = record.notes["going"], record.model.partition_
    flow = np.zeros((going.shape[1], going.shape[1]))
    np.add.at(flow, labels[labels >= 0], going[labels >= 0])
    return flow / np.maximum(flow.sum(axis=1, keepdims=True), 1)


def sections(record: Record) -> list[Section]:
    """Return the chapters of the report."""
    model, notes, chapter = record.model, record.notes, "What was learned"
    found = []
    if notes.get("grid") is not None:
        grid, visits = Grid(*notes["grid"]), model.visits_.sum(axis=0)
        told = f"Cells of {grid.size:.0f} m in the colours of their clusters, pale where few trips begin or end."
        figure = plots.partition_map(grid, np.array(model.states_), model.partition_, visits=visits)
        found.append(Section("map", "Map", told, figure, chapter=chapter))
        chapter = ""
    rows = [
        (cluster, states, 100 * share, 100 * stays)
        for cluster, states, share, stays in clusters(record)
    ]
    columns = ["cluster", "states", "share of the visits, %", "transitions that stay, %"]
    found.append(Section("clusters", "Clusters", columns=columns, rows=rows, chapter=chapter))
    told = "Of 100 transitions that leave a state of the cluster on the left, how many end in the one below."
    shares = [
        float(model.stationary_[model.partition_ == i].sum()) for i in range(len(_between(record)))
    ]
    figure = plots.reduced_chain(_between(record), np.array(shares))
    found.append(Section("reduced_chain", "From cluster to cluster", told, figure))
    told = "The larger a value against the ones after it, the better the chain is told by so many dimensions."
    values = {f"{i + 1}": f"{value:.4g}" for i, value in enumerate(model.singular_values_)}
    found.append(Section("singular_values", "Singular values", told, facts=values))
    return [*found, *how(record)]
