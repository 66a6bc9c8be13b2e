"""How colour restorers are looked at: the atoms of each material."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        """Return the shares of the most important atoms, numbered through all materials."""
        parts = record.model.dictionaries_
        names = [str(name) for name, part in parts.items() for _ in part.importance_]
        shares = np.concatenate([part.importance_ for part in parts.values()])
        order = np.argsort(-shares, kind="stable")[:most].tolist()
        rows = [(atom, float(shares[atom]), names[atom]) for atom in order]
        heads = {"code_share": "share of code times length in its material", "features": "material"}
        return Table("atom", heads, rows)

    def atoms(self, record: Record) -> NDArray:
        """Return the atoms of all materials as patches."""
        parts = record.model.dictionaries_.values()
        return np.concatenate([part.components_ for part in parts])

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms of each material as patches."""
        found, n_atoms = [], record.model.n_components
        for number, (name, dictionary) in enumerate(record.model.dictionaries_.items()):
            first = number * n_atoms
            caption = (
                "Atoms as patches, most important first, with their numbers in the dictionary of "
                f"{name}. In the table below these are {first} to {first + n_atoms - 1}."
            )
            figure = plots.atoms(dictionary.learner_, dictionary.patch_shape_)
            found.append(Section(f"atoms_{number}", str(name), caption, figure))
        return [*found, common.table_section("importance", "All atoms", self.table(record))]
