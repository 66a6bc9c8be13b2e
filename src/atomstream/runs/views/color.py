"""How colour restorers are looked at: the atoms of each material."""

from __future__ import annotations

from typing import Any

from atomstream.runs.record import Record
from atomstream.runs.task import Table
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section


class ColorView(common.CommonView):
    """Restorers of colour: one dictionary of patches for each material."""

    learned_from = "images of materials"
    title = "Materials"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        size = f"{model.patch_size} x {model.patch_size} pixels"
        return {
            "model": f"ColorRestorer, {model.n_components} atoms of {size} for each material",
            "materials": ", ".join(map(str, model.dictionaries_)),
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

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms of each material as patches."""
        found, caption = [], "Atoms as patches, most important first."
        for number, (name, dictionary) in enumerate(record.model.dictionaries_.items()):
            figure = plots.atoms(dictionary.learner_, dictionary.patch_shape_)
            found.append(Section(f"atoms_{number}", str(name), caption, figure))
        return found
