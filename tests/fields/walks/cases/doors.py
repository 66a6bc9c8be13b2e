"""Calls of what takes states, places, and transitions between them."""

import numpy as np
from given import CODES, LABELS, NORTH, PLACES, WALK, WEIGHTS, WHOLE, holes

from atomstream import RandomWalkFactorization, walks
from atomstream.looks import plots


def of_walks(**settings):
    return RandomWalkFactorization(2, random_state=0, **settings)


PARTITION = of_walks().fit(WALK)
PARTITION.partition(2)
GRID = walks.Grid(40.0, -74.0, 250.0)
START = holes(np.random.default_rng(0).random((6, 2)), 3)

CASES = {
    "RandomWalkFactorization(init)": (START, lambda X: of_walks(n_states=3, init=X).fit(WALK)),
    "RandomWalkFactorization.fit(states)": (PLACES, lambda X: of_walks().fit(X).embedding_),
    "RandomWalkFactorization.partial_fit(states)": (
        PLACES,
        lambda X: of_walks().partial_fit(X).embedding_,
    ),
    "RandomWalkFactorization.predict(states)": (PLACES, lambda X: PARTITION.predict(X)),
    "RandomWalkFactorization.fit_stream(batches)": (
        PLACES,
        lambda X: of_walks().fit_stream([X]).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(origins)": (
        PLACES,
        lambda X: of_walks().partial_fit_transitions(X, WALK[:8]).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(destinations)": (
        PLACES,
        lambda X: of_walks().partial_fit_transitions(WALK[:8], X).embedding_,
    ),
    "RandomWalkFactorization.partial_fit_transitions(weights)": (
        holes(np.ones(8), 2),
        lambda X: of_walks().partial_fit_transitions(WALK[:8], WALK[1:9], X).embedding_,
    ),
    "fields.walks.grid_cells(latitude)": (NORTH, lambda X: walks.grid_cells(X, NORTH - 110)[0]),
    "fields.walks.grid_cells(longitude)": (NORTH, lambda X: walks.grid_cells(NORTH, X)[0]),
    "fields.walks.Grid.cells(latitude)": (NORTH, lambda X: GRID.cells(X, NORTH - 114)),
    "fields.walks.Grid.cells(longitude)": (NORTH, lambda X: GRID.cells(NORTH, X)),
    "fields.walks.Grid.corners(cells)": (PLACES, GRID.corners),
    "fields.walks.Grid.geojson(cells)": (PLACES, lambda X: len(GRID.geojson(X, WALK[:8]))),
    "fields.walks.Grid.geojson(labels)": (PLACES, lambda X: len(GRID.geojson(WALK[:8], X))),
    "looks.plots.partition_map_data(labels)": (
        LABELS,
        lambda X: plots.partition_map_data(GRID, np.arange(14), X)[1],
    ),
    "looks.plots.partition_map_data(cells)": (
        WEIGHTS + np.arange(14),
        lambda X: plots.partition_map_data(GRID, X, np.arange(14))[0],
    ),
    "looks.plots.usage_maps_data(usages)": (
        CODES,
        lambda X: plots.usage_maps_data(X, WHOLE[:, :2])[1],
    ),
    "looks.plots.usage_maps_data(places)": (CODES, lambda X: plots.usage_maps_data(WHOLE, X)[2]),
}
assert len(CASES) == 19
