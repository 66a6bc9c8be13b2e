"""Learning from trips or a walk as a run: cells counted, transitions learned from, a partition written."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.diagnostics import lumpability_of
from atomstream.domains.walks.trips import Grid, grid_cells
from atomstream.estimators.walk import RandomWalkFactorization
from atomstream.exceptions import InputError
from atomstream.io.files import whole_file
from atomstream.io.inputs import InputOptions, open_inputs
from atomstream.io.source import fingerprint
from atomstream.runs.folder import RunFolder
from atomstream.runs.settings import WalkSettings

__all__ = ["WalkRun"]

LINES = 100_000  # of a file of states, read at a time
ARRAYS = (".npy", ".npz")
Moves = tuple[NDArray, NDArray]


class _File:
    """An input: its name, and a mark to know its content again."""

    def __init__(self, path: str) -> None:
        self.name, self.path = path, Path(path)

    def fingerprint(self) -> str:
        """Return what changes when the content does."""
        return fingerprint([self.path])


class WalkRun:
    """A factorization of a chain, what it learns from, and what is written beside it.

    Parameters
    ----------
    folder : RunFolder
    settings : WalkSettings
    """

    def __init__(self, folder: RunFolder, settings: WalkSettings) -> None:
        self.folder, self.settings = folder, settings
        self.sources = [_File(settings.inputs[0])]
        if not self.sources[0].path.is_file():
            raise InputError(f"There is no {settings.inputs[0]}.")
        self.model: RandomWalkFactorization = settings.new_model()
        self.grid: Grid | None = None
        self.kept: NDArray = np.empty(0, np.int64)
        self.n_dropped = 0

    def run(self, told: Callable[[str], Any]) -> None:
        """Learn, partition, and write everything.

        Parameters
        ----------
        told : callable
            Hears in a few words what is being done.
        """
        began = time.monotonic()
        try:
            if not self.settings.states:
                told("counting cells")
                self._count()
            for number in range(self.settings.passes):
                told(f"learning, pass {number + 1} of {self.settings.passes}")
                self._learn()
            told("partitioning")
            labels = self.model.partition(self.settings.clusters, random_state=self.settings.seed)
            going = self._going(labels)
            score = lumpability_of(going, labels)
        except ValueError as error:
            raise InputError(str(error)) from None
        notes = {
            "seconds": time.monotonic() - began,
            "going": going,
            "lumpability": score,
            "n_dropped": self.n_dropped,
            "grid": None
            if self.grid is None
            else [self.grid.latitude, self.grid.longitude, self.grid.size],
        }
        self.folder.save(self.model, notes, keep=1)
        self._write(labels)

    # -- what comes in
    # --------------------------------------------------------------------------------------------

    def _positions(self) -> Iterator[NDArray]:
        """Yield (origin longitude, latitude, destination longitude, latitude) in blocks of rows."""
        wanted = (*self.settings.origin, *self.settings.destination)
        path = self.settings.inputs[0]
        array = path.lower().endswith(ARRAYS)
        source = open_inputs((path,), InputOptions(columns=() if array else wanted))[0]
        places = [_column(name, source.n_features) for name in wanted] if array else list(range(4))
        if not array and source.names is not None and all(name in source.names for name in wanted):
            places = [source.names.index(name) for name in wanted]
        for block in source.blocks(0, 0):
            yield np.asarray(block.X, dtype=np.float64)[:, places]

    def _count(self) -> None:
        """Lay the grid and find the cells that are met often enough."""
        counts: dict[int, int] = {}
        for rows in self._positions():
            longitude, latitude = np.concatenate([rows[:, :2], rows[:, 2:]]).T
            cells, self.grid = grid_cells(latitude, longitude, self.settings.cell, grid=self.grid)
            for cell, count in zip(
                *map(np.ndarray.tolist, np.unique(cells, return_counts=True)), strict=True
            ):
                counts[cell] = counts.get(cell, 0) + count
        counts.pop(-1, None)
        often = [cell for cell, count in counts.items() if count >= self.settings.min_count]
        if len(often) < 2:
            raise InputError(
                f"{self.settings.inputs[0]} meets {len(often)} cells {self.settings.min_count} times or more; "
                "choose larger cells with --cell or a smaller --min-count."
            )
        self.kept = np.sort(np.array(often, dtype=np.int64))

    def _moves(self) -> Iterator[Moves]:
        """Yield trips between cells that are met often enough, or the steps of a walk."""
        if self.settings.states:
            yield from self._steps()
            return
        assert self.grid is not None
        self.n_dropped = 0
        for rows in self._positions():
            ends = [self.grid.cells(rows[:, 2 * side + 1], rows[:, 2 * side]) for side in (0, 1)]
            good = np.isin(ends[0], self.kept) & np.isin(ends[1], self.kept)
            self.n_dropped += int((~good).sum())
            if good.any():
                yield ends[0][good], ends[1][good]

    def _steps(self) -> Iterator[Moves]:
        last = None
        for states in self._walk():
            walk = states if last is None else np.concatenate([last, states])
            last = walk[-1:]
            if len(walk) > 1:
                yield walk[:-1], walk[1:]

    def _walk(self) -> Iterator[NDArray]:
        """Yield the states of a walk: whole numbers of an array, or one name per line."""
        path = self.sources[0].path
        if path.suffix.lower() == ".npy":
            try:
                states = np.load(path, allow_pickle=False, mmap_mode="r")
            except (OSError, ValueError, EOFError) as error:
                raise InputError(f"{path} cannot be read ({error}).") from None
            if states.ndim != 1 or states.dtype.kind not in "iu":
                raise InputError(
                    f"{path} has shape {states.shape} of {states.dtype}, needed is (n,) of whole numbers."
                )
            for start in range(0, len(states), LINES):
                yield np.asarray(states[start : start + LINES])
            return
        try:
            with path.open(encoding="utf-8-sig") as file:
                lines = (line.strip() for line in file)
                names = (line for line in lines if line)
                while block := list(islice(names, LINES)):
                    yield np.array(block)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read ({error}).") from None

    def _learn(self) -> None:
        """Make one pass."""
        if self.settings.states:
            self.model.begin_walk()
            for states in self._walk():
                self.model.partial_fit(states)
            if not hasattr(self.model, "factor_"):
                raise InputError(f"{self.settings.inputs[0]} holds no states.")
            return
        for origins, destinations in self._moves():
            self.model.partial_fit_transitions(origins, destinations)
        if not hasattr(self.model, "factor_"):
            raise InputError(
                f"{self.settings.inputs[0]} holds no trip between cells that are met often enough."
            )

    def _going(self, labels: NDArray) -> NDArray:
        """Return how often each state is left for each cluster, (n_states, n_clusters)."""
        going = np.zeros((len(labels), self.settings.clusters))
        for origins, destinations in self._moves():
            tails, heads = self.model.index_.find(origins), self.model.index_.find(destinations)
            np.add.at(going, (tails, labels[heads]), 1.0)
        return going

    # -- what goes out
    # --------------------------------------------------------------------------------------------

    def _write(self, labels: NDArray) -> None:
        """Write the partition as a table and, of cells, as GeoJSON."""
        visits = self.model.visits_.sum(axis=0)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        states = list(self.model.states_)
        if self.grid is None:
            writer.writerow(("state", "cluster", "visits"))
            writer.writerows(zip(states, labels.tolist(), visits.tolist(), strict=True))
        else:
            writer.writerow(("cell", "south", "west", "cluster", "visits"))
            corners = self.grid.corners(states).round(7).tolist()
            rows = zip(states, corners, labels.tolist(), visits.tolist(), strict=True)
            writer.writerows((state, *corner, label, count) for state, corner, label, count in rows)
            with whole_file(self.folder.path / "partition.geojson") as file:
                file.write(self.grid.geojson(states, labels, visits).encode())
        with whole_file(self.folder.path / "partition.csv") as file:
            file.write(text.getvalue().encode())


def _column(name: str, n_columns: int) -> int:
    if not name.isdecimal() or not 1 <= int(name) <= n_columns:
        raise InputError(f"Columns of an array are numbers from 1 to {n_columns}, got {name!r}.")
    return int(name) - 1
