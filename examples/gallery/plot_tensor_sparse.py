"""
A sparse tensor of visits
=========================

Who is where, and when? A day of a city is a table of places and hours, and most of its entries are
zero. Sparse batches are never made dense. The habits in this example are made by the script.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from atomstream import OnlineCPDictionary

rng = np.random.default_rng(0)
n_days, n_places, hours = 400, 300, np.arange(24)
where = np.zeros((3, n_places))
where[0, :80], where[1, 90:180], where[2, 200:] = (rng.gamma(1, 1, n) for n in (80, 90, 100))
when = np.stack(
    [
        np.exp(-(((hours - 8.5) / 1.5) ** 2)) + np.exp(-(((hours - 17.5) / 1.5) ** 2)),
        np.exp(-(((hours - 13) / 2.0) ** 2)),
        np.exp(-(((hours - 21.5) / 1.8) ** 2)),
    ]
)
weekend = np.arange(n_days) % 7 >= 5
strength = np.where(weekend[:, None], [0.1, 0.5, 1.5], [1.0, 0.6, 0.5])
strength = strength * rng.gamma(9, 1 / 9, strength.shape)
visits = rng.poisson(0.4 * np.einsum("tr,rp,rh->tph", strength, where, when))
days = sp.coo_array(visits.astype(float))  # days x places x hours
print(f"{days.nnz / np.prod(days.shape):.1%} of the entries are not zero")

# %%
# Samples are days. An atom is a habit: places times hours.

model = OnlineCPDictionary(3, init="samples", random_state=0).fit(days)
codes = model.transform(days)
places, times = model.loadings_

# %%
# Three habits: commuters, lunch, and nights out. The last one belongs to weekends.

order = (when @ (times / np.linalg.norm(times, axis=0))).argmax(axis=1)
figure, axes = plt.subplots(3, 3, figsize=(9, 5), layout="constrained")
for line, atom, name in zip(axes, order, ("commuters", "lunch", "nights out"), strict=True):
    line[0].set_ylabel(name)
    line[0].bar(hours, times[:, atom])
    line[1].plot(places[:, atom], ".", markersize=3)
    line[2].bar(range(7), [codes[day::7, atom].mean() for day in range(7)])
    line[2].set_xticks(range(7), ["M", "T", "W", "T", "F", "S", "S"])
    for axis in line:
        axis.set_yticks([])
titles = ("hour of the day", "number of the place", "day of the week")
for axis, title in zip(axes[0], titles, strict=True):
    axis.set_title(title)

plt.show()
