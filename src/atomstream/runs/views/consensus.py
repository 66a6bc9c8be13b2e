"""How a consensus of replicates is looked at: the choice, the clusters, atoms with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from atomstream.core.checks import counted
from atomstream.runs.record import Record
from atomstream.runs.task import Table
from atomstream.runs.views import _common as common
from atomstream.runs.views.rows import RowsView
from atomstream.viz import plots
from atomstream.viz.report import Section


class ConsensusView(RowsView):
    """Atoms that many replicates agree on."""

    quality_on = "rows that replicates left out"
    samples = "{unit} of the inputs"

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
        heads = {"code_share": "share of code times length", "stability": "replicates that have it"}
        rows: list[tuple[Any, ...]] = []
        for atom, entries in enumerate(model.components_[:most]):
            row = (atom, float(model.importance_[atom]), float(model.stability_[atom]))
            top = np.argsort(-np.abs(entries), kind="stable")[:4]
            largest = [f"{names[i]} {entries[i]:.2g}" for i in top if entries[i]] if names else []
            rows.append((*row, ", ".join(largest)) if names else row)
        return Table("atom", heads | ({"features": "largest features"} if names else {}), rows)

    def learned(self, record: Record) -> list[Section]:
        """Return the choice, the atoms with intervals, and the clusters."""
        model, choice = record.model, record.model.choice_
        caption = (
            f"{choice.reason} Above, the error on hidden entries of rows that a replicate has left "
            "out, with its standard error; below, the share of the replicates that have the "
            "consensus atoms."
        )
        found = [Section("choice", "Numbers of atoms", caption, plots.rank(choice))]
        caption = "The consensus atoms with intervals of 95 % over the replicates that have them."
        if record.shape is not None:
            caption = "The consensus atoms as patches, most important first."
            figure = plots.atoms(model, record.shape)
        else:
            figure = plots.intervals(model, record.names)
        found.append(Section("atoms", "Atoms", caption, figure))
        found.append(common.table_section("importance", "The atoms", self.table(record)))
        caption = (
            "Cosines of all atoms of the replicates: a dark square with a pale surrounding is an "
            "atom that returns and is like no other."
        )
        figure = plots.clustergram(model)
        return [*found, Section("clusters", "Atoms of all replicates", caption, figure)]

    def judged(self, record: Record) -> list[Section]:
        """Return the measures of every rank."""
        choice = record.model.choice_
        heads = ["atoms", "stability, %", "error", "standard error", "silhouette", "cophenetic"]
        rows = [
            (
                row["rank"],
                100 * row["stability"],
                f"{row['error']:.4g}",
                f"{row['error_se']:.2g}",
                f"{row['silhouette']:.3f}",
                f"{row['cophenetic']:.3f}",
            )
            for row in choice.table
        ]
        caption = f"The means of the columns have an error of {choice.baseline:.4g}."
        return [Section("ranks", "All numbers of atoms", caption, columns=heads, rows=rows)]

    def source(self, record: Record) -> dict[str, Any]:
        """Return facts on the rows."""
        known = super().source(record)
        del known["rows held out"]
        return known
