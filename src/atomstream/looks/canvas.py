"""Colours, sizes and the order of atoms in all pictures; helpers for panels and names."""

import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, library, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # loaded by who draws; annotations only name them
    Axes = Figure = Any

# The first two colours of the Okabe-Ito palette, which colour-blind readers can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"
# The palette without yellow, which is too pale for a line; more kinds than that repeat it, paler.
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# Colour maps: pixels, entries with signs, weights from zero on, and sizes of errors.
IMAGE, SIGNED, WEIGHT, ERROR = "gray", "RdBu_r", "Blues", "magma_r"
# Sizes of text in points: heads of figures, titles and labels, ticks and numbers in cells.
HEAD, TEXT, TICK = 10, 8, 7
ORDERS = ("importance", "similarity")  # of atoms
MAX_TREE_ATOMS = 300  # atoms whose tree is turned so that neighbouring leaves are as near as can be


def say_reads(plots: Iterable[Callable[..., Any]], attribute: str, kind: str) -> None:
    """Let plots say what they read of the model that they draw, and which models have that."""
    for plot in plots:
        vars(plot)["reads"] = attribute, kind


def colour(number: int) -> tuple[float, float, float]:
    """Return the colour of kind ``number`` of something, as red, green and blue from 0 to 1."""
    turn, place = divmod(number, len(COLORS))
    parts = (int(COLORS[place][i : i + 2], 16) / 255 for i in (1, 3, 5))
    pale = 1 - 0.6**turn  # each turn through the palette comes nearer to a light grey
    red, green, blue = (part + pale * (0.9 - part) for part in parts)
    return red, green, blue


def labelled(axes: Any, **texts: str) -> None:
    """Set ``title``, ``xlabel`` and ``ylabel`` of axes in the sizes of the style."""
    for place, text in texts.items():
        getattr(axes, f"set_{place}")(text, fontsize=TEXT)
    axes.tick_params(labelsize=TICK)


def most_important(model: Any, n_atoms: int | None = None) -> NDArray:
    """Return the numbers of the atoms that matter most, the first one most."""
    return np.argsort(-model.importance_, kind="stable")[:n_atoms]


def shown(model: Any, n_atoms: int | None = None, order: str = "importance") -> NDArray:
    """Return the numbers of the atoms to draw: those that matter most, in one of two orders.

    Raises
    ------
    ValueError
        For an unknown order.
    """
    return ordered(most_important(model, n_atoms), lambda: model.components_, order)


def ordered(numbers: NDArray, atoms: Callable[[], NDArray], order: str) -> NDArray:
    """Return the numbers of some of the atoms as they are, or so that neighbours are alike."""
    if order not in ORDERS:
        raise ValueError(f"order is {order!r:.40}; choose one of {', '.join(ORDERS)}.")
    if order == "importance":
        return numbers
    return numbers[by_similarity(np.asarray(atoms())[numbers])]


def heading(atom: int, share: float) -> str:
    """Return the title of an atom: its number, from 0 as in ``components_``, and its share."""
    return f"atom {atom}: {100 * share:.1f} %"


def panels(npanels: int, n_columns: int, width: float, height: float) -> tuple[list[Any], Figure]:
    """Return ``npanels`` axes in rows of ``n_columns``, and their figure."""
    # No empty columns beside a few panels.
    n_columns = min(n_columns, npanels)
    n_rows = -(-npanels // n_columns)
    figure = empty(width * n_columns, height * n_rows + 0.3)
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in grid:
        axes.tick_params(labelsize=TICK)
    # The rest of the last row stays white.
    for axes in grid[npanels:]:
        axes.axis("off")
    return list(grid[:npanels]), figure


def cells(n_rows: int, n_columns: int, width: float, height: float) -> tuple[NDArray, Figure]:
    """Return axes without frames, for pictures, and their figure."""
    figure = empty(width * n_columns, height * n_rows)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    return grid, figure


def named_bars(axes: Axes, values: ArrayLike, names: Sequence[str], **style: Any) -> None:
    """Draw values as level bars, the first on top, with their names beside them."""
    axes.barh(range(len(names)), values, **style)
    axes.set_yticks(range(len(names)), [plain(name) for name in names], fontsize=TICK)
    axes.invert_yaxis()


def plain(text: str, length: int = 24) -> str:
    """Return a name for a plot: long ones are cut, and dollar signs do not start a formula."""
    short = text if len(text) <= length else text[: length - 1] + "\u2026"
    return "".join(one if one.isprintable() else "\ufffd" for one in short).replace("$", r"\$")


def write_names(axes: Axes, places: Iterable[tuple[float, float]], names: Iterable[str]) -> None:
    """Write names beside places, dark on a pale rim, so that they can be read on any colour."""
    effects = library("matplotlib.patheffects", "Pictures")
    rim = [effects.withStroke(linewidth=2, foreground="white")]
    middle = sum(axes.get_xlim()) / 2
    for place, name in zip(places, names, strict=True):
        side, shift = ("left", 3) if place[0] < middle else ("right", -3)  # towards the middle
        style: dict[str, Any] = {"ha": side, "fontsize": TICK, "clip_on": True, "path_effects": rim}
        axes.annotate(plain(name, 16), place, (shift, 3), **style, textcoords="offset points")
        axes.plot(*place, ".", color="0.2", markersize=3)


def empty(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches."""
    # Not by pyplot, which keeps every figure in memory until it is closed.
    make = library("matplotlib.figure", "Pictures").Figure
    figure = make(figsize=(width, height), layout="constrained")
    # Notebooks draw figures of pyplot; this shows them any figure.
    figure._repr_png_ = partial(_png, figure)
    return figure


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return buffer.getvalue()


def by_similarity(atoms: ArrayLike) -> NDArray:
    """Return the numbers of atoms in an order in which neighbours are alike.

    It is that of the leaves of a tree: average linkage of one minus the cosines, or minus their
    absolute values where atoms have both signs, for an atom and its opposite are one.

    Parameters
    ----------
    atoms : array-like of shape (n_atoms, ...)

    Returns
    -------
    ndarray of int of shape (n_atoms,)
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    rows = np.nan_to_num(np.asarray(atoms, np.float64))
    rows = rows.reshape(len(rows), -1)
    if len(rows) < 3:
        return np.arange(len(rows))
    rows = unit(rows)
    cosines = rows @ rows.T
    # An atom and its negative are the same with codes of both signs.
    cosines = np.abs(cosines) if (rows < 0).any() else cosines
    distances = np.clip(1 - cosines, 0, 2)[np.triu_indices(len(rows), 1)]
    tree = linkage(distances, "average", optimal_ordering=len(rows) <= MAX_TREE_ATOMS)
    return leaves_list(tree)
