"""
Districts of a city, from trips alone
=====================================

Which places belong together? You have trips: where each began and where it ended. Places from which
people go to the same places are put together. The trips of this city are made by the script; four
districts, separated by a river and a railway.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import RandomWalkFactorization, plots, walks

rng = np.random.default_rng(0)
n_trips = 120_000
home = rng.uniform(0, 1, (n_trips, 2))  # shares of the map, north and east


def district(place):
    """Return the district: the river bends, the railway is straight."""
    river = place[:, 0] > 0.5 + 0.15 * np.sin(2 * np.pi * place[:, 1])
    railway = place[:, 1] > 0.55
    return 2 * river + railway


stays = rng.random(n_trips) < 0.85
goal = rng.uniform(0, 1, (n_trips, 2))
for _ in range(30):  # most trips end in the district where they began
    wrong = stays & (district(goal) != district(home))
    goal[wrong] = rng.uniform(0, 1, (wrong.sum(), 2))
latitude = 45.4 + 0.06 * np.concatenate([home[:, 0], goal[:, 0]])
longitude = 12.3 + 0.09 * np.concatenate([home[:, 1], goal[:, 1]])

# %%
# Positions become cells of 250 m (:class:`atomstream.walks.Grid`), and a trip is a transition from
# cell to cell.

cells, grid = walks.grid_cells(latitude, longitude, 250)
model = RandomWalkFactorization(4, random_state=0)
model.partial_fit_transitions(cells[:n_trips], cells[n_trips:])
labels = model.partition(4)

# %%
# The river and the railway appear, although the model has never seen a map.

figure = plots.partition_map(grid, model.states_, labels)

plt.show()
