"""
Several data sets
=================

Two cities have measured the same twelve substances. Which sources do they share, and which are of
one city alone? `BatchNMF` learns both kinds of atoms at once: a row uses the shared ones and those
of its own city.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import BatchNMF

rng = np.random.default_rng(3)
shared, only_north, only_south = (rng.gamma(0.4, 1, (size, 12)) for size in (2, 1, 1))
rows = [rng.exponential(1, (300, 3)) @ np.vstack([shared, own]) for own in (only_north, only_south)]
X = np.vstack(rows) * rng.gamma(200, 1 / 200, (600, 12))
cities = np.repeat(["north", "south"], 300)

# %%
# Two shared atoms, and one of each city.

model = BatchNMF(n_shared=2, n_own=1, random_state=0).fit(X, batch=cities)
codes = model.transform(X, batch=cities)
print("rows of the north that use the atom of the south:", np.count_nonzero(codes[:300, 3]))

# %%
# Every atom beside the planted one: the numbers are cosines of their angles.

found = model.components_
planted = np.vstack([shared, only_north, only_south])
planted = planted / np.linalg.norm(planted, axis=1, keepdims=True)
cosines = found @ planted.T / np.linalg.norm(found, axis=1, keepdims=True)
titles = ["shared", "shared", "north alone", "south alone"]
figure, axes = plt.subplots(4, 1, figsize=(8, 6), layout="constrained", sharex=True)
for axis, atom, cosine, title in zip(axes, found, cosines, titles, strict=True):
    axis.bar(np.arange(12) - 0.2, planted[cosine.argmax()], 0.4, label="planted")
    axis.bar(np.arange(12) + 0.2, atom / np.linalg.norm(atom), 0.4, label="found")
    axis.set_title(f"{title} ({cosine.max():.3f})", loc="left")
axes[0].legend(loc="upper left")
axes[-1].set_xlabel("substance")

plt.show()
