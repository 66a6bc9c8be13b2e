"""How factorizations of chains are looked at: the map, the clusters, and the chain between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.walks import Grid
from atomstream.runs.record import Record
from atomstream.runs.task import Table
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section


class WalkView(common.CommonView):
    """Partitions of the states of a chain."""

    learned_from = "a walk"
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
        heads = {
            "states": "states",
            "visits_share": "share of the visits",
            "stays": "transitions that stay",
        }
        if getattr(record.model, "partition_", None) is None:
            return Table("cluster", heads)
        labels, visits = record.model.partition_, record.model.stationary_
        chances = _between(record)
        rows = []
        for cluster in np.unique(labels[labels >= 0]):
            inside = labels == cluster
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
            figure = plots.partition_map(where, states, model.partition_, visits=visits)
            found.append(Section("map", "Map", caption, figure))
        if table.rows:
            found.append(common.table_section("clusters", "Clusters", table))
        if chances is not None:
            caption = (
                "Of 100 transitions that leave a state of the cluster on the left, how many end in "
                "the one below."
            )
            groups = range(len(chances))
            shares = [float(model.stationary_[model.partition_ == i].sum()) for i in groups]
            figure = plots.reduced_chain(chances, np.array(shares))
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
    np.add.at(flow, labels[labels >= 0], counts[labels >= 0])
    return flow / np.maximum(flow.sum(axis=1, keepdims=True), 1)
