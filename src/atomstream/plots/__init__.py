"""Pictures of what was learned; each ``NAME_data`` returns what ``NAME`` draws."""

from atomstream.plots.dictionaries import (
    FEW,
    atoms,
    atoms_data,
    bars,
    bars_data,
    curves,
    curves_data,
    objective,
    objective_data,
    rank,
    rank_data,
    reconstruction,
    reconstruction_data,
    triples,
    triples_data,
)
from atomstream.plots.maps import partition_map, partition_map_data, reduced_chain, reduced_chain_data
from atomstream.plots.networks import adjacency, adjacency_data, network_atoms, network_atoms_data, spins, spins_data
from atomstream.plots.parts import parts, parts_data

__all__ = [
    "FEW",
    "adjacency",
    "adjacency_data",
    "atoms",
    "atoms_data",
    "bars",
    "bars_data",
    "curves",
    "curves_data",
    "network_atoms",
    "network_atoms_data",
    "objective",
    "objective_data",
    "partition_map",
    "partition_map_data",
    "parts",
    "parts_data",
    "rank",
    "rank_data",
    "reconstruction",
    "reconstruction_data",
    "reduced_chain",
    "reduced_chain_data",
    "spins",
    "spins_data",
    "triples",
    "triples_data",
]
