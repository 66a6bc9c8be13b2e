"""Every plot of walks."""

import numpy as np

from atomstream import plots
from atomstream.fields.walks.trips import Grid, grid_cells

RNG = np.random.default_rng(0)


def cells():
    """Return the cells of a square of six by five, numbered as `Grid` does."""
    south, west = np.meshgrid(np.arange(6), np.arange(5))
    return grid_cells(-33 + 0.008 * south.ravel(), -70 + 0.01 * west.ravel(), size=800)[0]


CASES = {
    "partition_map": lambda: plots.partition_map(
        Grid(-33, -70, 800),
        cells(),
        RNG.integers(0, 3, 30),
        places={"Plaza": (-69.98, -32.98), "far away": (0.0, 0.0)},
    ),
    "reduced_chain": lambda: plots.reduced_chain([[0.9, 0.1], [0.2, 0.8]], [0.6, 0.4]),
    "usage_maps": lambda: plots.usage_maps(
        RNG.random((30, 3)), RNG.random((30, 2)), names=[f"station {i}" for i in range(30)]
    ),
}
