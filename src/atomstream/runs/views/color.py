"""How colour restorers are looked at: the atoms of each material."""

from __future__ import annotations

from typing import Any

from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["ColorView"]


class ColorView(View):
    """Restorers of colour: one dictionary of patches for each material."""

    learned_from = "images of materials"
    title = "Materials"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        names = ", ".join(map(str, model.dictionaries_))
        size = f"{model.patch_size} x {model.patch_size} pixels"
        return {
            "model": f"ColorRestorer, {model.n_components} atoms of {size} for each material",
            "materials": names,
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the shares of the most important atoms of every material."""
        rows = [
            (atom, float(share), str(name))
            for name, dictionary in record.model.dictionaries_.items()
            for atom, share in enumerate(dictionary.importance_)
        ]
        heads = {"code_share": "share of the code", "features": "material"}
        return Table("atom", heads, sorted(rows, key=lambda row: -row[1])[:most])

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        found, chapter = [], "What was learned"
        for number, (name, dictionary) in enumerate(record.model.dictionaries_.items()):
            caption = "Atoms as patches, most important first."
            figure = plots.atoms(dictionary.learner_, dictionary.patch_shape_)
            found.append(Section(f"atoms_{number}", str(name), caption, figure, chapter=chapter))
            chapter = ""
        facts = {"settings": repr(record.model).replace("\n", " ")}
        return [*found, Section("how", "", facts=facts, chapter="How")]
