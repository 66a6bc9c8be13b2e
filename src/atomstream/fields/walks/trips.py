"""Trips on a map: square cells as the states of a chain, and files of trips and of walks."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, complete_array
from atomstream.exceptions import InputError
from atomstream.io import (
    InputOptions,
    TableOptions,
    check_used,
    open_inputs,
    reading,
    text_lines,
    whole_file,
    write_table,
)

DEGREE = 111_320.0  # metres in a degree of latitude
ROWS = 2**31  # a cell has the number row * ROWS + column; both are counted from ROWS // 2


@dataclass(frozen=True)
class Grid:
    """Square cells of one size around a position.

    Parameters
    ----------
    latitude, longitude : float
        A corner of the cells, in degrees. Degrees of longitude are converted to metres half a
        degree north of it.
    size : float
        Side of a cell in metres.
    """

    latitude: float
    longitude: float
    size: float

    def __post_init__(self) -> None:
        if not (
            abs(self.latitude) <= 85 and abs(self.longitude) <= 360 and 0.1 <= self.size < np.inf
        ):
            raise ValueError(
                "A grid needs a latitude within 85 degrees and a size of at least 0.1 metres, "
                f"got {self.latitude!r}, {self.longitude!r}, {self.size!r}."
            )

    @property
    def steps(self) -> tuple[float, float]:
        """Sides of a cell in degrees of latitude and of longitude."""
        across = self.size / DEGREE
        # Meridians draw together towards the poles; half a degree on is the middle of the whole
        # degree.
        return across, across / np.cos(np.radians(self.latitude + 0.5))

    def cells(self, latitude: ArrayLike, longitude: ArrayLike) -> NDArray:
        """Return the cell of each position; -1 if a coordinate is missing or impossible.

        Parameters
        ----------
        latitude, longitude : array-like of shape (n,)
            Degrees; the position (0, 0) counts as missing.

        Returns
        -------
        ndarray of int64 of shape (n,)
        """
        latitude, longitude, good = _positions(latitude, longitude)
        down, across = self.steps
        rows = np.floor((np.where(good, latitude, 0) - self.latitude) / down).astype(np.int64)
        columns = np.floor((np.where(good, longitude, 0) - self.longitude) / across)
        columns = columns.astype(np.int64)
        # Counted from the middle, so that cells south and west of the corner have numbers too.
        return np.where(good, (rows + ROWS // 2) * ROWS + columns + ROWS // 2, -1)

    def corners(self, cells: ArrayLike) -> NDArray:
        """Return the south-west corners of cells, (latitude, longitude), of shape (n, 2)."""
        rows, columns = np.divmod(complete_array(cells, "cells", np.int64), ROWS)
        down, across = self.steps
        south = self.latitude + (rows - ROWS // 2) * down
        west = self.longitude + (columns - ROWS // 2) * across
        return np.column_stack([south, west])

    def geojson(self, cells: ArrayLike, labels: ArrayLike, visits: ArrayLike | None = None) -> str:
        """Return cells as the text of a GeoJSON file: squares with their clusters.

        Parameters
        ----------
        cells : array-like of int of shape (n,)
        labels : array-like of int of shape (n,)
            Clusters of the cells; cells with a negative one are left out.
        visits : array-like of shape (n,), optional
        """
        down, across = self.steps
        features = []
        places, clusters = complete_array(cells, "cells"), complete_array(labels, "labels")
        listed = zip(places.tolist(), clusters.tolist(), strict=True)
        for number, (cell, label) in enumerate(listed):
            if label < 0:
                continue
            south, west = self.corners([cell])[0]
            east, north = west + across, south + down
            # Counter-clockwise, and closed by its first corner, as RFC 7946 asks.
            ring = [(west, south), (east, south), (east, north), (west, north)]
            properties: dict[str, Any] = {"cell": cell, "cluster": label}
            if visits is not None:
                properties["visits"] = float(checked_array(visits, "visits")[number])
            square = [[round(x, 7), round(y, 7)] for x, y in [*ring, ring[0]]]
            geometry = {"type": "Polygon", "coordinates": [square]}
            features.append({"type": "Feature", "properties": properties, "geometry": geometry})
        return json.dumps({"type": "FeatureCollection", "features": features})


def grid_cells(
    latitude: ArrayLike,
    longitude: ArrayLike,
    size: float = 250.0,
    *,
    min_count: int = 1,
    grid: Grid | None = None,
) -> tuple[NDArray, Grid]:
    """Return the cell of each position as a state of a chain, and the grid.

    Parameters
    ----------
    latitude, longitude : array-like of shape (n,)
        Degrees; NaN and (0, 0) mean that a position is missing.
    size : float, default=250
        Side of a cell in metres.
    min_count : int, default=1
        Cells with fewer positions are dropped and become -1.
    grid : Grid, optional
        The grid of an earlier call; by default it starts at the whole degrees below the median
        position.

    Returns
    -------
    cells : ndarray of int64 of shape (n,)
        -1 for positions without a cell.
    grid : Grid

    Raises
    ------
    ValueError
        If no position is usable.

    Examples
    --------
    >>> cells, grid = grid_cells([40.7490, 40.7495, 40.76, 0], [-73.99, -73.99, -73.99, 0], 250)
    >>> bool(cells[0] == cells[1] != cells[2]), int(cells[3])
    (True, -1)
    """
    if grid is None:
        *places, usable = _positions(latitude, longitude)
        if not usable.any():
            raise ValueError("No position is usable: all are missing or at (0, 0).")
        south, west = (float(np.floor(np.median(part[usable]))) for part in places)
        grid = Grid(south, west, float(size))
    cells = grid.cells(latitude, longitude)
    distinct, places_of, counts = np.unique(cells, return_inverse=True, return_counts=True)
    rare = (counts < min_count) | (distinct < 0)
    return np.where(rare[places_of], -1, cells), grid


def _positions(latitude: ArrayLike, longitude: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return positions in floating point, and which of them are usable."""
    north = checked_array(latitude, "latitude", np.float64)
    east = checked_array(longitude, "longitude", np.float64)
    if north.ndim != 1 or north.shape != east.shape:
        raise ValueError(
            "latitude and longitude must have one axis of the same length, "
            f"got {north.shape} and {east.shape}."
        )
    with np.errstate(invalid="ignore"):
        good = (np.abs(north) <= 90) & (np.abs(east) <= 360) & ((north != 0) | (east != 0))
    return north, east, good


LINES = 100_000  # of a file of states, read at a time
ARRAYS = (".npy", ".npz")


def read_positions(
    path: str, columns: tuple[str, ...], start: int, **reading: Any
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
    **reading
        How tables are read, as in `atomstream.io.TableOptions`.

    Raises
    ------
    InputError
        For columns that the file does not have.
    """
    array = path.lower().endswith(ARRAYS)
    options = InputOptions(columns=() if array else columns, **reading)
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
    # Positions that are missing share one number, which is no place.
    counts.pop(-1, None)
    busy = sorted(cell for cell, count in counts.items() if count >= min_count)
    return grid, np.array(busy, dtype=np.int64)


def read_states(path: Path, start: int, table: TableOptions | None = None) -> Iterator[NDArray]:
    """Yield the states of a walk in blocks: whole numbers of an array, or one name per line.

    Parameters
    ----------
    path : pathlib.Path
    start : int
        Number of states to leave out at the beginning.
    table : TableOptions, optional
        Of lines their ``encoding``.

    Raises
    ------
    InputError
        For a file that cannot be read, or an array of anything else.
    """
    with reading(str(path)):
        is_array = path.suffix.lower() == ".npy"
        table = table or TableOptions()
        check_used(table, set() if is_array else {"encoding"}, str(path))
        if is_array:
            yield from _whole_numbers(path, start)
            return
        names = filter(None, map(str.strip, text_lines(path, table.encoding)))
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
