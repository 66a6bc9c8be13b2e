"""Atoms that are convex combinations of samples: their representatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.looks import sections
from atomstream.looks.canvas import BLUE, TEXT, TICK, most_important, panels, plain
from atomstream.looks.record import Record, Table
from atomstream.looks.rows import RowsLook

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ConvexLook(RowsLook):
    """The look of dictionaries of rows whose atoms are made of samples."""

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and the largest samples of atoms."""

        def parts(atom: int) -> str:
            found = record.model.explain(atom)
            return ", ".join(f"{part.share:.0%} of row {part.id}" for part in found)

        return sections.atoms_table(record, most, "made of", parts)


def parts_data(model: Any, top: int = 5) -> list[tuple[list[str], NDArray, float]]:
    """Return what `parts` draws, most important atom first.

    Parameters
    ----------
    model : OnlineConvexMF
    top : int, default=5
        Largest number of representatives of an atom; those with the largest shares are drawn.

    Returns
    -------
    list of (ids, shares, rest)
        The ids of the representatives as strings, their shares in the atom, and the share of all
        others together.
    """
    drawn = []
    for atom in most_important(model):
        found = model.explain(int(atom), top)
        shares = np.array([part.share for part in found])
        drawn.append(([str(part.id) for part in found], shares, max(0.0, 1 - float(shares.sum()))))
    return drawn


def parts(model: Any, *, top: int = 5, n_columns: int = 3) -> Figure:
    """Draw the shares of the largest representatives of each atom as bars, with their ids.

    Parameters
    ----------
    model : OnlineConvexMF
    top : int, default=5
        Largest number of representatives of an atom.
    n_columns : int, default=3
    """
    drawn = parts_data(model, top)
    grid, figure = panels(
        len(drawn), n_columns, 3.2, 0.6 + 0.19 * min(top, max(len(ids) for ids, _, _ in drawn))
    )
    order = most_important(model)
    for axes, atom, (ids, shares, rest) in zip(grid, order, drawn, strict=True):
        axes.barh(range(len(shares)), 100 * shares, color=BLUE)
        axes.set_yticks(range(len(shares)), [plain(name) for name in ids], fontsize=TICK)
        axes.set_ylim(top - 0.5, -0.5)
        axes.tick_params(axis="x", labelsize=TICK)
        others = f", others {100 * rest:.0f} %" if rest > 0.005 else ""
        axes.set_title(f"atom {atom}{others}", fontsize=TEXT)
    for axes in grid[-n_columns:]:
        axes.set_xlabel("share in the atom, %", fontsize=TICK)
    return figure
