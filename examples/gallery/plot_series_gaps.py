"""
Fill the gaps of series
=======================

A sensor was silent for days. What would it have measured? The other sensors know: atoms are
patterns of all series together, so what was observed tells what was not.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import SeriesDictionary

rng = np.random.default_rng(0)
hours = np.arange(24 * 40)
day = 8 + 5 * np.sin(2 * np.pi * hours / 24)
weather = np.convolve(rng.standard_normal(hours.size + 72), np.ones(72) / 8, "valid")[: hours.size]
shift = np.array([0, 2, 4])
truth = np.stack([np.roll(day, lag) + np.roll(weather, lag) for lag in shift], axis=1)
truth = truth - truth.min() + 0.3 * rng.random(truth.shape)

table = truth.copy()
table[rng.random(table.shape) < 0.1] = np.nan  # single values that are lost
table[400:520, 1] = np.nan  # five days of silence

# %%
# To fill gaps, keep all of the past (``schedule="power"``), let the initialisation see the whole
# table, and leave the head out, which only forecasts.

how = {"ridge": 0.01, "schedule": "power", "head": None}
model = SeriesDictionary(30, window=24, **how, random_state=0)
filled = model.fit(table, init=table).impute(table)
hidden = np.isnan(table)
print(f"root mean squared error: {np.sqrt(np.mean((filled - truth)[hidden] ** 2)):.2f} degrees")

# %%
# The second sensor during its silence.

span = slice(340, 580)
figure, axes = plt.subplots(3, 1, figsize=(8, 5), layout="constrained", sharex=True)
for number, axis in enumerate(axes):
    axis.plot(hours[span] / 24, truth[span, number], color="0.8", linewidth=4, label="truth")
    axis.plot(hours[span] / 24, filled[span, number], color="C1", label="filled in")
    axis.plot(hours[span] / 24, table[span, number], color="black", label="observed")
    axis.set_ylabel(f"sensor {number + 1}, °C")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, ncols=3, loc="outside upper center")
axes[2].set_xlabel("day")

plt.show()
