"""The public plots: the one table from which they are loaded, listed and typed."""

import atomstream.fields.consensus.look
import atomstream.fields.convex.look
import atomstream.fields.images.look
import atomstream.fields.networks.look
import atomstream.fields.series.look
import atomstream.fields.signatures.look
import atomstream.fields.sources.look
import atomstream.fields.tensors.look
import atomstream.fields.text.look
import atomstream.fields.video.look
import atomstream.fields.walks.look

from .drawings import MAX_BARS as MAX_BARS
from .drawings import atoms as atoms
from .drawings import atoms_data as atoms_data
from .drawings import bars as bars
from .drawings import bars_data as bars_data
from .drawings import curves as curves
from .drawings import curves_data as curves_data
from .drawings import objective as objective
from .drawings import objective_data as objective_data
from .drawings import triples as triples
from .drawings import triples_data as triples_data

clustergram = atomstream.fields.consensus.look.clustergram
clustergram_data = atomstream.fields.consensus.look.clustergram_data
intervals = atomstream.fields.consensus.look.intervals
intervals_data = atomstream.fields.consensus.look.intervals_data
rank = atomstream.fields.consensus.look.rank
rank_tree = atomstream.fields.consensus.look.rank_tree
rank_tree_data = atomstream.fields.consensus.look.rank_tree_data
parts = atomstream.fields.convex.look.parts
parts_data = atomstream.fields.convex.look.parts_data
comparison = atomstream.fields.images.look.comparison
comparison_data = atomstream.fields.images.look.comparison_data
material_map = atomstream.fields.images.look.material_map
material_map_data = atomstream.fields.images.look.material_map_data
reconstruction = atomstream.fields.images.look.reconstruction
reconstruction_data = atomstream.fields.images.look.reconstruction_data
spins = atomstream.fields.images.look.spins
spins_data = atomstream.fields.images.look.spins_data
adjacency = atomstream.fields.networks.look.adjacency
adjacency_data = atomstream.fields.networks.look.adjacency_data
network_atoms = atomstream.fields.networks.look.network_atoms
network_atoms_data = atomstream.fields.networks.look.network_atoms_data
series_atoms = atomstream.fields.series.look.series_atoms
series_atoms_data = atomstream.fields.series.look.series_atoms_data
series_change = atomstream.fields.series.look.series_change
series_change_data = atomstream.fields.series.look.series_change_data
series_forecast = atomstream.fields.series.look.series_forecast
series_forecast_data = atomstream.fields.series.look.series_forecast_data
exposures = atomstream.fields.signatures.look.exposures
exposures_data = atomstream.fields.signatures.look.exposures_data
mutation_profiles = atomstream.fields.signatures.look.mutation_profiles
mutation_profiles_data = atomstream.fields.signatures.look.mutation_profiles_data
factor_cycles = atomstream.fields.sources.look.factor_cycles
factor_cycles_data = atomstream.fields.sources.look.factor_cycles_data
factor_numbers = atomstream.fields.sources.look.factor_numbers
factor_profiles = atomstream.fields.sources.look.factor_profiles
factor_series = atomstream.fields.sources.look.factor_series
loadings = atomstream.fields.tensors.look.loadings
loadings_data = atomstream.fields.tensors.look.loadings_data
topics = atomstream.fields.text.look.topics
topics_data = atomstream.fields.text.look.topics_data
topics_over_time = atomstream.fields.text.look.topics_over_time
topics_over_time_data = atomstream.fields.text.look.topics_over_time_data
spatial_atoms = atomstream.fields.video.look.spatial_atoms
spatial_atoms_data = atomstream.fields.video.look.spatial_atoms_data
temporal_atoms = atomstream.fields.video.look.temporal_atoms
temporal_atoms_data = atomstream.fields.video.look.temporal_atoms_data
time_courses = atomstream.fields.video.look.time_courses
time_courses_data = atomstream.fields.video.look.time_courses_data
partition_map = atomstream.fields.walks.look.partition_map
partition_map_data = atomstream.fields.walks.look.partition_map_data
reduced_chain = atomstream.fields.walks.look.reduced_chain
usage_maps = atomstream.fields.walks.look.usage_maps
usage_maps_data = atomstream.fields.walks.look.usage_maps_data
