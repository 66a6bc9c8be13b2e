"""How dictionaries of image patches are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.images import load_image
from atomstream.runs.record import Record
from atomstream.runs.task import Table, View
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section

__all__ = ["ImageView"]


class ImageView(View):
    """Dictionaries of the patches of images."""

    learned_from = "images"

    def facts(self, record: Record) -> dict[str, Any]:
        """Return the run in a few lines."""
        model, learner = record.model, record.learner
        size = " x ".join(map(str, model.patch_shape_))
        return {
            "model": f"ImageDictionary, {counted(len(model.components_), 'atom')} of {size} pixels",
            "patches": f"{learner.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}",
            **common.progress(record, "patches"),
            **common.objective(record, "patch"),
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy of atoms."""
        importance, energy = record.model.importance_, common.energy_shares(record.learner)
        order = np.argsort(-importance, kind="stable")[:most]
        rows = [(int(atom), float(importance[atom]), float(energy[atom])) for atom in order]
        heads = {"code_share": "share of the code", "energy_share": "share of the energy"}
        return Table("atom", heads, rows)

    def sections(self, record: Record) -> list[Section]:
        """Return the sections of the report."""
        model, table = record.model, self.table(record)
        caption = (
            f"{counted(len(model.components_), 'atom')} as patches, most important first, "
            "with their shares "
            "in all codes."
        )
        figure = plots.atoms(record.learner, model.patch_shape_)
        title = f"The {len(table.rows)} most important atoms"
        return [
            Section("atoms", "Atoms", caption, figure, chapter="What was learned"),
            common.table_section("importance", title, table),
            *common.learning(record, "patches", "How well"),
            *common.how(record),
        ]

    def encode(self, record: Record, inputs: Sequence[str]) -> Any:
        """Raise InputError: codes belong to patches, which overlap."""
        raise InputError(
            f"{record.path} has learned from images and codes no rows; to rebuild one use: "
            "atomstream reconstruct RUN IMAGE"
        )

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write an image rebuilt from its patches."""
        out, model = common.place_of_image(record, source, out), record.model
        pixels = load_image(source, color=len(model.patch_shape_) == 3)
        try:
            rebuilt = model.set_params(stride=stride).reconstruct(pixels)
        except ValueError as error:
            raise InputError(f"{source}: {error}") from None
        return common.write_rebuilt(out, pixels, rebuilt)

    def image_dictionary(self, record: Record) -> Any:
        """Return the model."""
        return record.model
