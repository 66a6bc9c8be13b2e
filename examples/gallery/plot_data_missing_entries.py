"""
Missing entries
===============

You have measured two fifths of the entries of a table. How well do you know the others? NaN means
that an entry was not observed. It takes no part in the loss, and ``impute`` fills it in.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineNMF

rng = np.random.default_rng(0)
places = np.linspace(0, 1, 60)
parts = np.stack([np.exp(-(((places - centre) / 0.12) ** 2)) for centre in (0.15, 0.5, 0.8)])
amounts = np.abs(np.sin(np.outer(np.arange(400) / 40, [1.0, 1.7, 2.9]) + [0, 1, 2]))
truth = amounts @ parts
table = np.where(rng.random(truth.shape) < 0.6, np.nan, truth)

# %%
# A row tells its code as long as it has more observed entries than there are atoms.

model = OnlineNMF(3, missing=True, batch_size=50, n_epochs=60, random_state=0).fit(table)
filled = model.impute(table)
hidden = np.isnan(table)
error = np.linalg.norm((filled - truth)[hidden]) / np.linalg.norm(truth[hidden])
print(f"error on the entries that were hidden: {error:.1%}")

# %%
# What you have, what you get, and the truth.

figure, axes = plt.subplots(3, 1, figsize=(8, 5), layout="constrained", sharex=True)
panels = {"observed": table, "filled in": filled, "truth": truth}
for axis, (title, values) in zip(axes, panels.items(), strict=True):
    axis.imshow(values.T, aspect="auto", cmap="viridis", vmin=0, vmax=1.2)
    axis.set(ylabel="feature")
    axis.set_title(title, loc="left")
axes[2].set_xlabel("row")

plt.show()
