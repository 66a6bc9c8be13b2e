"""Atoms made of samples: the samples that each is made of, in words and as bars."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.looks import Record, Table, canvas, report
from atomstream.looks.rows import RowsLook


class ConvexLook(RowsLook):
    """The look of dictionaries of rows whose atoms are made of samples."""

    def table(self, record: Record, most: int = 20) -> Table:
        """Return shares of code and energy, and the largest samples of atoms."""

        def parts(atom: int) -> str:
            found = record.model.explain(atom)
            return ", ".join(f"{part.share:.0%} of row {part.id}" for part in found)

        return report.atoms_table(record, most, "made of", parts)


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
    for atom in canvas.most_important(model):
        found = model.explain(int(atom), top)
        shares = np.array([part.share for part in found])
        drawn.append(([str(part.id) for part in found], shares, max(0.0, 1 - float(shares.sum()))))
    return drawn


def parts(model: Any, *, top: int = 5, n_columns: int = 3) -> canvas.Figure:
    """Draw the shares of the largest representatives of each atom as bars, with their ids.

    Parameters
    ----------
    model : OnlineConvexMF
    top : int, default=5
        Largest number of representatives of an atom.
    n_columns : int, default=3
    """
    drawn = parts_data(model, top)
    longest, order = max(len(ids) for ids, _, _ in drawn), canvas.most_important(model)
    grid, figure = canvas.panels(len(drawn), n_columns, 3.2, 0.6 + 0.19 * longest)
    for axes, atom, (ids, shares, rest) in zip(grid, order, drawn, strict=True):
        canvas.named_bars(axes, 100 * shares, ids, color=canvas.BLUE)
        axes.set_ylim(top - 0.5, -0.5)
        others = f", others {100 * rest:.0f} %" if rest > 0.005 else ""
        axes.set_title(f"atom {atom}{others}", fontsize=canvas.TEXT)
    for axes in grid[-n_columns:]:
        axes.set_xlabel("share in the atom, %", fontsize=canvas.TICK)
    return figure


canvas.say_reads((parts, parts_data), "explain", "an OnlineConvexMF")
