"""Runs on trips between places or on a walk: a chain factorized, and its states partitioned."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.base.parameters import number, whole
from atomstream.exceptions import InputError
from atomstream.fields.walks import Grid, trips
from atomstream.fields.walks.model import RandomWalkFactorization
from atomstream.io import TableOptions
from atomstream.runs import Pace, Settings, Task, checkpoints, option, sets
from atomstream.runs.reading import entry_reading
from atomstream.watch.diagnostics import lumpability_of

Transitions = tuple[NDArray, NDArray]


@dataclass(frozen=True)
class WalkSettings(checkpoints, entry_reading, Settings):
    """Settings of a run on trips or on a walk."""

    TASK = "walk"
    MODEL = RandomWalkFactorization
    ONE_INPUT = "Trips or states are learned from one file"

    states: bool = option(
        False, "FILE holds the states of a walk: one per line, or an .npy array of whole numbers."
    )
    origin: tuple[str, ...] = option(
        (), "Columns of the longitude and latitude where trips begin: LON,LAT.", listed=True
    )
    destination: tuple[str, ...] = option(
        (), "Columns of the longitude and latitude where trips end: LON,LAT.", listed=True
    )
    cell: float = option(250.0, "Side of a cell, in metres.", number(1), length=True)
    min_count: int = option(20, "Leave out cells with fewer trip ends than this.", whole())
    rank: int = sets(RandomWalkFactorization, "n_components")
    scaling: str = sets(RandomWalkFactorization, "scaling")
    clusters: int = option(10, "Number of parts of the partition.", whole())
    passes: int = option(1, "Passes over FILE.", whole(), free=True)
    tau: int = sets(RandomWalkFactorization, "tau")

    def check(self) -> None:
        """Raise ValueError where the settings do not go together."""
        for name in ("origin", "destination"):
            # Each side needs two columns, and one that is named twice is a slip of the hand.
            if not self.states and len(getattr(self, name)) != 2:
                raise ValueError(
                    f"Trips need --{name} LON,LAT, two columns; the states of a walk need --states."
                )
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"--{name} names one column twice.")
        if self.states and (self.origin or self.destination):
            raise ValueError("A file of states has no --origin or --destination.")
        super().check()


class WalkTask(Task):
    """A factorization of a chain, and the trips or states it learns from."""

    settings_type = WalkSettings
    help = (
        "FILE is CSV, Parquet, .npy or .npz with a trip per row, or holds --states. Writes "
        "partition.csv, and partition.geojson for trips, to the folder of the run."
    )
    argument = "file"
    goal = "passes"
    reported: ClassVar = {
        "states": "states",
        "transitions": "_n_steps",
        "dropped": "n_dropped",
        "clusters": "settings.clusters",
    }
    noted = ("kept", "n_dropped")
    omitted = (("trips", "n_dropped", "no position, or a cell with too few trip ends"),)
    model: RandomWalkFactorization

    def __init__(self, settings: WalkSettings) -> None:
        super().__init__(settings)
        self.grid: Grid | None = None
        self.kept: NDArray = np.empty(0, np.int64)  # cells with enough trip ends
        self.n_dropped = 0
        self._at = (0, 0)

    @property
    def position(self) -> tuple[int, ...]:
        """Passes completed, and rows or states of the next one."""
        return self._at

    def notes(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the model."""
        grid = self.grid
        laid = None if grid is None else [grid.latitude, grid.longitude, grid.size]
        return super().notes() | {"grid": laid}

    def restore(self, model: RandomWalkFactorization, notes: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(model, notes)
        # The cells come from the checkpoint: counting them again would read the whole file.
        self._at = tuple(notes["position"])
        if notes["grid"] is not None:
            self.grid = Grid(*notes["grid"])

    def advance(self, pace: Pace) -> None:
        """Make the passes that are left, resting after each block of the file."""
        # A pass of its own before learning: a cell that is met twice in a year belongs to no part.
        if not self.settings.states and self.grid is None:
            self._count_cells()
        learn = self._learn_states if self.settings.states else self._learn_trips
        while self._at[0] < self.settings.passes:
            for _ in learn(self._at[1]):
                if pace.rest():
                    return
            self._at = (self._at[0] + 1, 0)

    def _learn_states(self, start: int) -> Iterator[None]:
        """Learn from one pass over a walk."""
        # A pass begins a new walk: the step from the last state to the first one never happened.
        if not start:
            self.model.begin_walk()
        for states in self._states(start):
            self.model.partial_fit(states)
            # After each block, and not at the end: the run rests here.
            self._at = (self._at[0], self._at[1] + len(states))
            yield
        if not self.learned:
            raise InputError(f"{self.settings.inputs[0]} holds no states.")

    def _learn_trips(self, start: int) -> Iterator[None]:
        """Learn from one pass over trips."""
        if not start:
            self.n_dropped = 0
        for n_rows, origins, destinations in self._trips(start):
            self.n_dropped += n_rows - len(origins)
            if len(origins):
                self.model.partial_fit_transitions(origins, destinations)
            # Rows are counted, not trips: the next session reads on from this row.
            self._at = (self._at[0], self._at[1] + n_rows)
            yield
        if not self.learned:
            raise InputError(
                f"{self.settings.inputs[0]} holds no trip between cells that are met often enough."
            )

    # -- inputs

    def _positions(self, start: int) -> Iterator[NDArray]:
        settings = self.settings
        columns = (*settings.origin, *settings.destination)
        return trips.read_positions(settings.inputs[0], columns, start, **settings.reading())

    def _states(self, start: int) -> Iterator[NDArray]:
        table = TableOptions(**self.settings.reading())
        return trips.read_states(self.sources[0].files[0], start, table)

    def _count_cells(self) -> None:
        """Lay the grid, and find the cells with enough trip ends."""
        least = self.settings.min_count
        self.grid, self.kept = trips.busy_cells(self._positions(0), self.settings.cell, least)
        if len(self.kept) < 2:
            raise InputError(
                f"{self.settings.inputs[0]} meets {len(self.kept)} cells "
                f"{counted(least, 'time')} or more; choose larger cells with --cell or a smaller "
                "--min-count."
            )

    def _trips(self, start: int) -> Iterator[tuple[int, NDArray, NDArray]]:
        """Yield how many rows were read, and the trips among them between cells that are kept."""
        assert self.grid is not None
        for rows in self._positions(start):
            ends = [self.grid.cells(rows[:, 2 * side + 1], rows[:, 2 * side]) for side in (0, 1)]
            # A trip with one end left out has no transition to learn, and counts as dropped.
            good = np.isin(ends[0], self.kept) & np.isin(ends[1], self.kept)
            yield len(rows), ends[0][good], ends[1][good]

    def _transitions(self) -> Iterator[Transitions]:
        """Yield all transitions of a pass."""
        if not self.settings.states:
            yield from ((origins, destinations) for _, origins, destinations in self._trips(0))
            return
        last = np.empty(0)
        for states in self._states(0):
            # The step from one block to the next is a transition too.
            walk = np.concatenate([last, states]) if len(last) else states
            last = walk[-1:]
            yield walk[:-1], walk[1:]

    # -- results

    def finish(self, folder: Path) -> dict[str, Any]:
        """Partition the states, and write the parts as a table and, of cells, as GeoJSON."""
        labels = self.model.partition(self.settings.clusters, random_state=self.settings.seed)
        # A pass of its own, for the partition is known only now, and counts of all pairs of states
        # may be too large to be kept while learning.
        leaving = self._leaving(labels)
        lumpability = lumpability_of(leaving, labels)  # may refuse, and then nothing is written
        visits = self.model.visits_.sum(axis=0)
        trips.write_partition(folder, list(self.model.states_), labels, visits, self.grid)
        return {"going": leaving, "lumpability": lumpability}

    def _leaving(self, labels: NDArray) -> NDArray:
        """Return how often each state is left for each cluster, (n_states, n_clusters)."""
        counts = np.zeros((len(labels), self.settings.clusters))
        for origins, destinations in self._transitions():
            if len(origins):
                tails = self.model.index_.find(origins)
                heads = self.model.index_.find(destinations)
                np.add.at(counts, (tails, labels[heads]), 1.0)
        return counts

    @property
    def states(self) -> int:
        """Number of states that were met."""
        return len(self.model.states_) if self.learned else 0

    def headline(self) -> str:
        """Return what the run came to in a few words."""
        clusters = counted(self.settings.clusters, "cluster")
        states, steps = counted(self.states, "state"), counted(self._n_steps, "transition")
        return f"{clusters} of {states} from {steps}"
