"""Plots of models; each ``NAME_data`` returns the arrays that ``NAME`` draws."""

from atomstream.looks.color import material_map, material_map_data
from atomstream.looks.consensus import (
    clustergram,
    clustergram_data,
    intervals,
    intervals_data,
    usage_maps,
    usage_maps_data,
)
from atomstream.looks.convex import parts, parts_data
from atomstream.looks.drawings import (
    FEW,
    atoms,
    atoms_data,
    bars,
    bars_data,
    curves,
    curves_data,
    objective,
    objective_data,
    reconstruction,
    reconstruction_data,
    triples,
    triples_data,
)
from atomstream.looks.image import comparison, comparison_data, spins, spins_data
from atomstream.looks.network import (
    adjacency,
    adjacency_data,
    network_atoms,
    network_atoms_data,
)
from atomstream.looks.ranks import rank, rank_data, rank_tree, rank_tree_data
from atomstream.looks.series import (
    series_atoms,
    series_atoms_data,
    series_change,
    series_change_data,
    series_forecast,
    series_forecast_data,
)
from atomstream.looks.tensor import loadings, loadings_data
from atomstream.looks.text import topics, topics_data, topics_over_time, topics_over_time_data
from atomstream.looks.video import (
    spatial_atoms,
    spatial_atoms_data,
    temporal_atoms,
    temporal_atoms_data,
    time_courses,
    time_courses_data,
)
from atomstream.looks.walk import (
    partition_map,
    partition_map_data,
    reduced_chain,
    reduced_chain_data,
)

__all__ = [
    "FEW",
    "adjacency",
    "adjacency_data",
    "atoms",
    "atoms_data",
    "bars",
    "bars_data",
    "clustergram",
    "clustergram_data",
    "comparison",
    "comparison_data",
    "curves",
    "curves_data",
    "intervals",
    "intervals_data",
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
    "rank_tree",
    "rank_tree_data",
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
    "time_courses",
    "time_courses_data",
    "topics",
    "topics_data",
    "topics_over_time",
    "topics_over_time_data",
    "triples",
    "triples_data",
    "usage_maps",
    "usage_maps_data",
]
