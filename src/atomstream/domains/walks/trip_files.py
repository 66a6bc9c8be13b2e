"""Files of trips and of walks: blocks of positions or states, busy cells, partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.walks.trips import Grid, grid_cells
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.inputs import open_inputs
from atomstream.io.lines import text_lines
from atomstream.io.outputs import write_table
from atomstream.io.source import InputOptions, reading

LINES = 100_000  # of a file of states, read at a time
ARRAYS = (".npy", ".npz")


def read_positions(
    path: str, columns: tuple[str, ...], start: int, decimal: str = "."
) -> Iterator[NDArray]:
    """Yield the positions where trips begin and end, in blocks of rows.

    Parameters
    ----------
    path : str
        A table or an array with a trip per row.
    columns : tuple of four str
        Names of the longitude and latitude of the origin, then of the destination; numbers from 1
        where the file is an array.
    start : int
        First row.
    decimal : {".", ","}, default="."
        Decimal sign of tables of text.

    Raises
    ------
    InputError
        For columns that the file does not have.
    """
    array = path.lower().endswith(ARRAYS)
    options = InputOptions(columns=() if array else columns, decimal=decimal)
    source = open_inputs((path,), options)[0]
    places = list(range(4))
    if array:
        places = [_place(name, source.n_features) for name in columns]
    elif source.names is not None and all(name in source.names for name in columns):
        places = [source.names.index(name) for name in columns]
    for block in source.blocks(start, 0):
        yield np.asarray(block.X, dtype=np.float64)[:, places]


def busy_cells(
    positions: Iterable[NDArray], size: float, min_count: int
) -> tuple[Grid | None, NDArray]:
    """Lay a grid over trips, and return it with the cells that hold enough ends of trips."""
    grid, counts = None, dict[int, int]()
    for rows in positions:
        longitude, latitude = np.concatenate([rows[:, :2], rows[:, 2:]]).T
        cells, grid = grid_cells(latitude, longitude, size, grid=grid)
        found = np.unique(cells, return_counts=True)
        for cell, count in zip(*map(np.ndarray.tolist, found), strict=True):
            counts[cell] = counts.get(cell, 0) + count
    counts.pop(-1, None)
    busy = sorted(cell for cell, count in counts.items() if count >= min_count)
    return grid, np.array(busy, dtype=np.int64)


def read_states(path: Path, start: int) -> Iterator[NDArray]:
    """Yield the states of a walk in blocks: whole numbers of an array, or one name per line.

    Parameters
    ----------
    path : pathlib.Path
    start : int
        Number of states to leave out at the beginning.

    Raises
    ------
    InputError
        For a file that cannot be read, or an array of anything else.
    """
    with reading(str(path)):
        if path.suffix.lower() == ".npy":
            yield from _whole_numbers(path, start)
            return
        names = filter(None, map(str.strip, text_lines(path)))
        named = islice(names, start, None)
        while block := list(islice(named, LINES)):
            yield np.array(block)


def write_partition(
    folder: Path, states: list[Any], labels: NDArray, visits: NDArray, grid: Grid | None
) -> None:
    """Write the cluster of each state as partition.csv, and of cells also as GeoJSON.

    Parameters
    ----------
    folder : pathlib.Path
    states : list
        Cells of the grid, where there is one.
    labels, visits : ndarray of shape (n_states,)
        Cluster of each state, and how often it was visited.
    grid : Grid or None
    """
    names: tuple[str, ...] = ("state", "cluster", "visits")
    columns: list[list[Any]] = [states, labels.tolist(), visits.tolist()]
    if grid is not None:
        names = ("cell", "south", "west", "cluster", "visits")
        columns[1:1] = grid.corners(states).round(7).T.tolist()
        with whole_file(folder / "partition.geojson") as file:
            file.write(grid.geojson(states, labels, visits).encode())
    write_table(folder / "partition.csv", names, zip(*columns, strict=True))


def _whole_numbers(path: Path, start: int) -> Iterator[NDArray]:
    """Yield the states in an array."""
    states = np.load(path, allow_pickle=False, mmap_mode="r")
    if states.ndim != 1 or states.dtype.kind not in "iu":
        raise InputError(
            f"{path} has shape {states.shape} of {states.dtype}, needed is (n,) of whole numbers."
        )
    for first in range(start, len(states), LINES):
        yield np.asarray(states[first : first + LINES])


def _place(name: str, n_columns: int) -> int:
    """Return the place of a column of an array, counted from 0."""
    if not name.isdecimal() or not 1 <= int(name) <= n_columns:
        raise InputError(f"Columns of an array are numbers from 1 to {n_columns}, got {name!r}.")
    return int(name) - 1
