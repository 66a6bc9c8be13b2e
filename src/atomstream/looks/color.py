"""Restorers of colour: the atoms of each material, and maps of materials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.base.extras import library
from atomstream.looks import drawings, sections
from atomstream.looks.canvas import TEXT, colour, panels, plain
from atomstream.looks.look import Look
from atomstream.looks.record import Record, Table
from atomstream.looks.report import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ColorLook(Look):
    """The look of restorers of colour: one dictionary of patches for each material."""

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
            figure = drawings.atoms(dictionary.learner_, dictionary.patch_shape_)
            found.append(Section(f"atoms_{number}", str(name), caption, figure))
        return [*found, sections.table_section("importance", "All atoms", self.table(record))]


def material_map_data(
    classes: ArrayLike, names: Sequence[str]
) -> tuple[NDArray, list[tuple[str, float]]]:
    """Return what `material_map` draws: the map, and each material with its share of the pixels."""
    classes = np.asarray(classes)
    shares = np.bincount(classes.ravel(), minlength=len(names)) / classes.size
    return classes, list(zip(names, shares.tolist(), strict=True))


def material_map(classes: ArrayLike, names: Sequence[str]) -> Figure:
    """Draw the material of each pixel, with the share of each material.

    Parameters
    ----------
    classes : array-like of int of shape (height, width)
        As returned by `atomstream.ColorRestorer.restore`.
    names : sequence of str
        Names of the materials: ``materials_``.
    """
    ListedColormap = library("matplotlib.colors", "Pictures").ListedColormap
    from matplotlib.patches import Patch

    classes, shares = material_map_data(classes, names)
    colours = [colour(number) for number in range(len(names))]
    (axes,), figure = panels(1, 1, 4.6, 4.6 * classes.shape[0] / classes.shape[1])
    ends = {"vmin": -0.5, "vmax": len(names) - 0.5}
    axes.imshow(classes, cmap=ListedColormap(colours), interpolation="nearest", **ends)
    axes.set(xticks=[], yticks=[])
    entries = [
        Patch(color=c, label=f"{plain(n)} {100 * s:.0f} %")
        for c, (n, s) in zip(colours, shares, strict=True)
    ]
    figure.legend(handles=entries, loc="outside lower left", frameon=False, fontsize=TEXT)
    return figure
