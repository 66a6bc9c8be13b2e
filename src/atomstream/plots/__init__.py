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
from atomstream.plots.pictures import comparison, comparison_data, material_map, material_map_data
from atomstream.plots.series import (
    series_atoms,
    series_atoms_data,
    series_change,
    series_change_data,
    series_forecast,
    series_forecast_data,
)
from atomstream.plots.tensors import loadings, loadings_data
from atomstream.plots.topics import topics, topics_data, topics_over_time, topics_over_time_data
from atomstream.plots.video import spatial_atoms, spatial_atoms_data, temporal_atoms, temporal_atoms_data

__all__ = [
    "FEW",
    "adjacency",
    "adjacency_data",
    "atoms",
    "atoms_data",
    "bars",
    "bars_data",
    "comparison",
    "comparison_data",
    "curves",
    "curves_data",
    "loadings",
    "loadings_data",
    "material_map",
    "material_map_data",
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
    "series_atoms",
    "series_atoms_data",
    "series_change",
    "series_change_data",
    "series_forecast",
    "series_forecast_data",
    "spatial_atoms",
    "spatial_atoms_data",
    "spins",
    "spins_data",
    "temporal_atoms",
    "temporal_atoms_data",
    "topics",
    "topics_data",
    "topics_over_time",
    "topics_over_time_data",
    "triples",
    "triples_data",
]
