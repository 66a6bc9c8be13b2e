"""Runs on a network: a dictionary of its patches, learned along a chain of copies of a motif."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from atomstream.base import counted
from atomstream.fields.networks import Motif, Network
from atomstream.fields.networks.chains.base import patches_of
from atomstream.fields.networks.look import read_network
from atomstream.fields.networks.model import NetworkDictionary
from atomstream.looks.samples import Sample, Samples
from atomstream.runs import Pace, Settings, Task, Work, checkpoints, option, pace_set, sets
from atomstream.runs.reading import number_reading

COPIES = 2000  # of the motif, among which those that use an atom most are found


@dataclass(frozen=True)
class edge_reading(number_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how a file of edges is read."""

    directed: bool | None = option(
        None,
        "Keep the direction of edges, or add both directions.",
        shown="graphs keep theirs, matrices are directed unless symmetric, lists are undirected",
    )
    weight: str = option("weight", "Column or attribute of edges that holds their weights.")
    largest_component: bool = option(False, "Use only the largest component.")

    def network(self, path: str | Path) -> Network:
        """Return the network in a file.

        Raises
        ------
        InputError
            Where there is none.
        """
        return read_network(path, **self.edge_reading())

    def edge_reading(self) -> dict[str, Any]:
        """Return the options of these fields."""
        own = ("directed", "weight", "largest_component")
        return self.reading() | {name: getattr(self, name) for name in own}


@dataclass(frozen=True)
class NetworkSettings(checkpoints, edge_reading, Settings):
    """Settings of a run on a network."""

    TASK = "network"
    MODEL = NetworkDictionary
    ONE_INPUT = "A network is learned from one file of edges"

    motif: str = sets(NetworkDictionary, "motif")
    atoms: int = sets(NetworkDictionary, "n_components")
    alpha: float = sets(NetworkDictionary, "alpha")
    chain: str = sets(NetworkDictionary, "chain")
    schedule: str = sets(NetworkDictionary, "schedule")
    batches: int = sets(NetworkDictionary, "n_batches", free=True)
    batch_size: int = sets(NetworkDictionary, "batch_size")
    thin: int = sets(NetworkDictionary, "thin")


class NetworkTask(Task):
    """A network dictionary, and the network it learns from."""

    settings_type = NetworkSettings
    help = (
        "EDGES holds a line of two nodes and optionally a weight for each edge (.txt, .csv, .tsv, "
        "also .gz; a first line may name more columns), a matrix (.npz, .mtx), or a graph (.gml, "
        ".graphml, .gexf, .net)."
    )
    argument = "edges"
    unit = "patch"
    goal = "batches"
    reported: ClassVar = {
        "nodes": "network.n_nodes",
        "edges": "network.n_edges",
        "atoms": "settings.atoms",
        "copies": "_n_samples",
        "batches": "_n_steps",
    }
    model: NetworkDictionary

    @cached_property
    def network(self) -> Network:
        """The network, read when learning begins: what reading warns of belongs to the run."""
        return self.settings.network(self.settings.inputs[0])

    @property
    def position(self) -> tuple[int, ...]:
        """Batches learned from."""
        return (self._n_steps,)

    def work(self) -> Work:
        """Return how much there is to learn; a network has no rows, only copies of the motif."""
        motif, size = Motif.of(self.settings.motif), self.settings.batch_size
        return Work(self.settings.batches * size, motif.size**2, batch_size=size)

    def advance(self, pace: Pace) -> None:
        """Learn from the batches that are left."""
        network = self.network  # read before the bar of learning is shown
        with pace_set(self.model, pace):
            # The chain goes on from where it stopped, so batches can be asked for in parts.
            left = self.settings.batches - self.position[0]
            self.model.partial_fit(network, n_batches=left)

    def finish(self, folder: Path) -> dict[str, Any]:
        """Keep the copies of the motif that use each atom most, one of each set of nodes."""
        network, k, found = self.network, self.model.motif_.size, Samples()
        # A chain of its own: the one that learns must not move by being looked at.
        states, _ = next(self.model._copies(network, COPIES, self.settings.seed))
        # A set of nodes counts once, however the motif lies on it; the order of the chain stays.
        _, first = np.unique(np.sort(states, axis=1), axis=0, return_index=True)
        states = states[np.sort(first)[:COPIES]]
        patches = patches_of(network, states)

        def copy_of(row: int) -> Sample:
            nodes = ", ".join(str(network.labels[node]) for node in states[row])
            return Sample(f"copy {row}", f"nodes {nodes}", patches[row].reshape(k, k))

        with warnings.catch_warnings(action="ignore"):  # the run has warned already
            found.look(self.model.learner_.transform(patches), copy_of)
        return found.notes()

    @property
    def _learned_from(self) -> str:
        """How many copies of the motif."""
        return f"{counted(self._n_samples, 'copy', 'copies')} of the motif"
