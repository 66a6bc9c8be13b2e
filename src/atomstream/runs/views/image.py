"""How dictionaries of image patches are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.images import load_image
from atomstream.runs.record import Record
from atomstream.runs.task import Table, named
from atomstream.runs.views import _common as common
from atomstream.viz import plots
from atomstream.viz.report import Section


class ImageView(common.CommonView):
    """Dictionaries of the patches of images."""

    learned_from = "images"
    of = "patch"
    samples = "patches, drawn anew"

    def known(self, record: Record) -> dict[str, Any]:
        """Return the model in a few lines."""
        model = record.model
        size = " x ".join(map(str, model.patch_shape_))
        return {
            "model": f"ImageDictionary, {counted(len(model.components_), 'atom')} of {size} pixels",
            "patches": f"{record.learner.n_samples_seen_:,} in {counted(model.n_steps_, 'step')}",
        }

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy of atoms."""
        return common.atoms_table(record, most)

    def learned(self, record: Record) -> list[Section]:
        """Return the atoms as patches, and their shares."""
        model = record.model
        caption = (
            f"{counted(len(model.components_), 'atom')} as patches, most important first, "
            "with their importance; each from its smallest entry, black, to its largest, "
            "white."
        )
        figure = plots.atoms(record.learner, model.patch_shape_)
        table = common.importance(record, self.table(record))
        return [Section("atoms", "Atoms", caption, figure), table]

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Any:
        """Raise InputError: codes belong to patches, which overlap."""
        raise InputError(
            f"{record.path} has learned from images and codes no rows; to rebuild one use: "
            "atomstream reconstruct RUN IMAGE"
        )

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write an image rebuilt from its patches."""
        out, model = common.place_of_image(record, source, out), record.model
        pixels = load_image(source, color=len(model.patch_shape_) == 3)
        with named(source):
            rebuilt = model.set_params(stride=stride).reconstruct(pixels)
        return common.write_rebuilt(out, pixels, rebuilt)

    def image_dictionary(self, record: Record) -> Any:
        """Return the model."""
        return record.model
