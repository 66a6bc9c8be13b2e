"""Dictionaries of image patches, restorers of colour, and pictures side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, complete_array, counted, library
from atomstream.io import (
    kept_format,
    load_image,
    naming_source,
)
from atomstream.looks import FileCoder, Look, Record, Table, canvas, drawings, report
from atomstream.looks.rebuilt import place_of_image, write_rebuilt


class ImageCoder(FileCoder):
    """Rebuilds images."""

    def reconstruct(self, record: Record, source: Path, out: Path | None, stride: int) -> dict:
        """Write an image rebuilt from its patches."""
        # Before the work: a wrong name should not cost a minute.
        out, model = place_of_image(record, source, out), record.model
        color = len(model.patch_shape_) == 3
        form, pixels = kept_format(out, source, color=color), load_image(source, color=color)
        with naming_source(source):
            rebuilt = model.set_params(stride=stride).reconstruct(pixels)
        return write_rebuilt(out, pixels, rebuilt, form)

    def patch_shape(self, record: Record) -> tuple[int, ...]:
        """Return the shape of the patches."""
        return record.model.patch_shape_


class ImageLook(Look):
    """The look of dictionaries of the patches of images."""

    files = ImageCoder(
        "images", " and codes no rows; to rebuild one use: atomstream reconstruct RUN IMAGE"
    )
    of = "patch"
    samples = "patches, drawn anew"

    def plot(self, model: Any, **options: Any) -> canvas.Figure:
        """Draw the atoms as patches."""
        return drawings.atoms(model.learner_, model.patch_shape_, **options)

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
        return report.atoms_table(record, most)

    def caption(self, record: Record) -> str:
        """Return what the picture of the atoms shows."""
        return (
            f"{counted(len(record.model.components_), 'atom')} as patches, most important first, "
            "with their importance; each from its smallest entry, black, to its largest, white."
        )


def comparison_data(
    pictures: Mapping[str, Any], original: ArrayLike | None = None
) -> list[tuple[str, NDArray]]:
    """Return what `comparison` draws: titles and images.

    With an original the titles contain the quality in decibels.

    Parameters
    ----------
    pictures : mapping of names to arrays of shape (height, width) or (height, width, 3)
    original : array, optional

    Returns
    -------
    list of (str, ndarray)
        The original comes first. Values are in [0, 1].
    """
    from atomstream.io.pixels import as_image, psnr, white

    drawn = [] if original is None else [("original", as_image(original))]
    for name, picture in pictures.items():
        # Holes are NaN, and drawn black.
        image = as_image(picture, holes=True)
        unknown = original is None or np.isnan(image).any()
        quality = "" if unknown else f", {psnr(drawn[0][1], image):.1f} dB"
        drawn.append((canvas.plain(name) + quality, image))
    return [(title, np.clip(np.nan_to_num(image) / white(image), 0, 1)) for title, image in drawn]


def comparison(
    pictures: Mapping[str, Any], original: ArrayLike | None = None, *, n_columns: int = 4
) -> canvas.Figure:
    """Draw images side by side, such as before and after.

    Parameters
    ----------
    pictures : mapping of names to arrays of shape (height, width) or (height, width, 3)
        All of one type; NaN is drawn black.
    original : array, optional
        Drawn first; the titles of the others contain their quality in decibels.
    n_columns : int, default=4
    """
    drawn = comparison_data(pictures, original)
    height, width = drawn[0][1].shape[:2]
    grid, figure = canvas.panels(len(drawn), n_columns, 2.6, 2.6 * height / width + 0.3)
    for axes, (title, image) in zip(grid, drawn, strict=True):
        axes.imshow(image, cmap=canvas.IMAGE, vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=canvas.TEXT)
    return figure


def spins_data(
    configurations: Sequence[ArrayLike],
    models: Sequence[Any],
    rebuilt: Sequence[ArrayLike],
    shape: tuple[int, int],
) -> list[tuple[NDArray, ...]]:
    """Return what `spins` draws: configurations, mosaics of their top atoms, reconstructions."""
    drawn: list[tuple[NDArray, ...]] = []
    for spin, model, image in zip(configurations, models, rebuilt, strict=True):
        # A square mosaic of at most 25 atoms.
        side = min(5, int(np.sqrt(len(model.components_))))
        order = canvas.most_important(model)[: side**2]
        atoms = model.components_[order]
        atoms = atoms / np.maximum(atoms.max(axis=1, keepdims=True), 1e-12)
        framed = np.pad(atoms.reshape(-1, *shape), ((0, 0), (1, 1), (1, 1)), constant_values=0.5)
        rows = framed.reshape(side, side, shape[0] + 2, shape[1] + 2)
        mosaic = rows.swapaxes(1, 2).reshape(side * (shape[0] + 2), -1)
        drawn.append((checked_array(spin), mosaic, checked_array(image)))
    return drawn


def spins(
    configurations: Sequence[ArrayLike],
    models: Sequence[Any],
    rebuilt: Sequence[ArrayLike],
    shape: tuple[int, int],
    *,
    titles: Sequence[str] | None = None,
) -> canvas.Figure:
    """Draw configurations of spins with their atoms and reconstructions, one per column.

    Parameters
    ----------
    configurations : sequence of array of shape (height, width)
    models : sequence of fitted estimators
        Each has learned patches of ``shape``.
    rebuilt : sequence of array of shape (height, width)
    shape : (int, int)
        Shape of a patch.
    titles : sequence of str, optional
    """
    columns = spins_data(configurations, models, rebuilt, shape)
    figure = canvas.empty(3.2 * len(columns) + 0.3, 9.6)
    grid = figure.subplots(3, len(columns), squeeze=False)
    names = ("configuration", "atoms", "reconstruction")
    for place, column in enumerate(columns):
        ends = {"vmin": column[0].min(), "vmax": column[0].max()}
        for axes, image, name in zip(grid[:, place], column, names, strict=True):
            scale = {"vmin": 0, "vmax": 1} if name == "atoms" else ends
            axes.imshow(image, cmap=canvas.IMAGE, interpolation="nearest", **scale)
            axes.set(xticks=[], yticks=[])
            if place == 0:
                axes.set_ylabel(name)
        if titles is not None:
            grid[0, place].set_title(titles[place], fontsize=canvas.HEAD)
    return figure


class ColorLook(Look):
    """The look of restorers of colour: one dictionary of patches for each material."""

    files = FileCoder("images of materials")
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
        # Numbered through, because a table and its edits know one number for each atom.
        parts = record.model.dictionaries_
        names = [str(name) for name, part in parts.items() for _ in part.importance_]
        shares = np.concatenate([part.importance_ for part in parts.values()])
        order = np.argsort(-shares, kind="stable")[:most].tolist()
        rows = [(atom, float(shares[atom]), names[atom]) for atom in order]
        heads = {"code_share": "share in its material", "features": "material"}
        return Table("atom", heads, rows)

    def atoms(self, record: Record) -> NDArray:
        """Return the atoms of all materials as patches."""
        parts = record.model.dictionaries_.values()
        return np.concatenate([part.components_ for part in parts])

    def learned(self, record: Record) -> list[report.Section]:
        """Return the atoms of each material as patches."""
        found, n_atoms = [], record.model.n_components
        for number, (name, dictionary) in enumerate(record.model.dictionaries_.items()):
            first = number * n_atoms
            caption = (
                "Atoms as patches, most important first, with their numbers in the dictionary of "
                f"{name}. In the table below these are {first} to {first + n_atoms - 1}."
            )
            figure = drawings.atoms(dictionary.learner_, dictionary.patch_shape_)
            found.append(report.Section(f"atoms_{number}", str(name), caption, figure))
        return [*found, report.table_section("importance", "All atoms", self.table(record))]


def material_map_data(
    classes: ArrayLike, names: Sequence[str]
) -> tuple[NDArray, list[tuple[str, float]]]:
    """Return what `material_map` draws: the map, and each material with its share of the pixels."""
    classes = complete_array(classes, "classes")
    shares = np.bincount(classes.ravel(), minlength=len(names)) / classes.size
    return classes, list(zip(names, shares.tolist(), strict=True))


def material_map(classes: ArrayLike, names: Sequence[str]) -> canvas.Figure:
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
    colours = [canvas.colour(number) for number in range(len(names))]
    (axes,), figure = canvas.panels(1, 1, 4.6, 4.6 * classes.shape[0] / classes.shape[1])
    ends = {"vmin": -0.5, "vmax": len(names) - 0.5}
    axes.imshow(classes, cmap=ListedColormap(colours), interpolation="nearest", **ends)
    axes.set(xticks=[], yticks=[])
    entries = [
        Patch(color=c, label=f"{canvas.plain(n)} {100 * s:.0f} %")
        for c, (n, s) in zip(colours, shares, strict=True)
    ]
    figure.legend(handles=entries, loc="outside lower left", frameon=False, fontsize=canvas.TEXT)
    return figure


def reconstruction_data(
    image: ArrayLike, approximation: ArrayLike
) -> tuple[NDArray, NDArray, NDArray]:
    """Return what `reconstruction` draws: image, reconstruction clipped to its range, error."""
    image = checked_array(image, "image", float)
    approximation = checked_array(approximation, "approximation", float)
    rebuilt = np.clip(approximation, np.nanmin(image), np.nanmax(image))
    return image, rebuilt, rebuilt - image


def reconstruction(image: ArrayLike, approximation: ArrayLike) -> canvas.Figure:
    """Draw an image, its reconstruction and the error side by side.

    Parameters
    ----------
    image, approximation : array of shape (height, width) or (height, width, 3)
    """
    image, approximation, error = reconstruction_data(image, approximation)
    error = error if error.ndim == 2 else error.mean(axis=2)
    figure = canvas.empty(12, 12 / 3 * image.shape[0] / image.shape[1] + 0.6)
    left, middle, right = figure.subplots(1, 3)
    shown = {"cmap": "gray", "vmin": np.nanmin(image), "vmax": np.nanmax(image)}
    left.imshow(image, **shown)
    middle.imshow(approximation, **shown)
    # A few wrong pixels at edges would leave the rest of the errors white.
    bound = float(np.nanquantile(np.abs(error), 0.995)) or 1.0
    drawn = right.imshow(error, cmap=canvas.SIGNED, vmin=-bound, vmax=bound)
    figure.colorbar(drawn, ax=right, fraction=0.04, pad=0.02)
    for axes, title in ((left, "original"), (middle, "reconstruction"), (right, "error")):
        axes.set_title(title, fontsize=canvas.HEAD)
        axes.axis("off")
    return figure
