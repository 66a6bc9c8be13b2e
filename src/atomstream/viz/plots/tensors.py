"""Plots of dictionaries of rank-one atoms: the loadings of each mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from numpy.typing import NDArray

from atomstream.viz.plots.canvas import Fitted, empty, heading, shown
from atomstream.viz.plots.style import BLUE, IMAGE, TEXT, TICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Panel
    from matplotlib.figure import Figure

    from atomstream.domains.tensors.axes import Axes

__all__ = ["loadings", "loadings_data"]

BARS = 8  # up to this number of entries is drawn as bars rather than as a curve
NARROW = 3  # an image whose sides have a larger ratio than this fills its panel
TINY = 1e-12


class Loaded(Fitted, Protocol):
    """A fitted dictionary of rank-one atoms."""

    @property
    def loadings_(self) -> Sequence[NDArray]:
        """One matrix for each mode or group of modes."""

    @property
    def axes_(self) -> Axes:
        """The modes of the samples."""


def loadings_data(
    model: Loaded, n_atoms: int = 12, order: str = "importance"
) -> tuple[list[NDArray], NDArray]:
    """Return what `loadings` draws: the loadings of the most important atoms, and their shares.

    Parameters
    ----------
    model : fitted OnlineCPDictionary
    n_atoms : int, default=12
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.

    Returns
    -------
    columns : list of ndarray of shape (n_atoms, ...)
        One per mode or group of modes; each loading vector has the shape of its group.
    shares : ndarray of shape (n_atoms,)
        Shares of the code.
    """
    drawn = shown(model, n_atoms, order)
    columns = []
    for matrix, group in zip(model.loadings_, model.axes_.groups, strict=True):
        sizes = [model.axes_.shape[mode] for mode in group]
        columns.append(matrix.T[drawn].reshape(len(drawn), *sizes))
    return columns, model.importance_[drawn]


def loadings(
    model: Loaded,
    *,
    names: Sequence[str] | None = None,
    n_atoms: int = 12,
    n_columns: int = 2,
    order: str = "importance",
) -> Figure:
    """Draw the loadings of the most important atoms, the modes of an atom side by side.

    A single mode is drawn as a curve, or as bars if it is short. A group of two modes is drawn as
    an image. A group of three modes is drawn as a colour image if the last one has three entries.
    Each image has its own scale. Larger groups are drawn as curves.

    Parameters
    ----------
    model : fitted OnlineCPDictionary
    names : sequence of str, optional
        Names of the modes or groups of modes; by default those of the data array that the model has
        learned from, or numbers from 0.
    n_atoms : int, default=12
    n_columns : int, default=2
        Number of atoms in a row.
    order : {"importance", "similarity"}, default="importance"
        "similarity" draws the same atoms so that neighbours are alike.
    """
    columns, shares = loadings_data(model, n_atoms, order)
    numbers = shown(model, n_atoms, order)
    names = _names(model) if names is None else list(names)
    if len(names) != len(columns):
        raise ValueError(
            f"names must have one name for each of {len(columns)} modes or groups of modes, "
            f"got {len(names)}."
        )
    n_columns, n_modes = min(n_columns, len(shares)), len(columns)
    n_rows = -(-len(shares) // n_columns)
    figure = empty(1.7 * n_columns * n_modes, 1.25 * n_rows + 0.3)
    grid = figure.subplots(n_rows, n_columns * n_modes, squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for place, (atom, share) in enumerate(zip(numbers, shares, strict=True)):
        row, first = place // n_columns, n_modes * (place % n_columns)
        for mode, values in enumerate(columns):
            axes = grid[row, first + mode]
            _draw(axes, values[place])
            axes.set_title(heading(atom, share) if mode == 0 else "", fontsize=TEXT)
            if place + n_columns >= len(shares):
                axes.set_xlabel(names[mode], fontsize=TEXT)
    return figure


def _names(model: Loaded) -> list[str]:
    """Return the names of the modes, or of groups of modes."""
    known, groups = model.axes_.names, model.axes_.groups
    if known:
        return [", ".join(known[mode] for mode in group) for group in groups]
    return [
        ("mode " if len(group) == 1 else "modes ") + ", ".join(map(str, group)) for group in groups
    ]


def _draw(axes: Panel, values: NDArray) -> None:
    """Draw one loading vector: an image, bars, or a curve."""
    axes.axis("on")
    axes.tick_params(labelsize=TICK, length=2)
    if values.ndim == 2 or (values.ndim == 3 and values.shape[2] == 3):
        low = min(float(values.min()), 0.0)
        shown = (values - low) / max(float(values.max()) - low, TINY)
        narrow = max(shown.shape[:2]) > NARROW * min(shown.shape[:2])
        aspect: Literal["auto", "equal"] = "auto" if narrow else "equal"
        axes.imshow(shown, cmap=IMAGE, vmin=0, vmax=1, interpolation="nearest", aspect=aspect)
        axes.set(xticks=[], yticks=[])
        return
    values = values.ravel()
    if len(values) <= BARS:
        axes.bar(range(len(values)), values, color=BLUE)
        axes.set_xticks(range(len(values)))
    else:
        axes.plot(values, color=BLUE, linewidth=1)
        axes.margins(x=0)
    if values.min() >= 0:
        axes.set_ylim(0, 1.08 * max(float(values.max()), TINY))
