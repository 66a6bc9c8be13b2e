"""
Forecasts with bands
====================

What comes next, and how sure can you be? The series are the water temperatures of the Pacific, one
number a month since 1950. Regressions on earlier months, exponential smoothing and the months of a
year ago forecast together, each weighed by its past errors. Forecasts are honest: each was made
before the value was known.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

from atomstream import SeriesDictionary

table = sm.datasets.elnino.load_pandas().data
temperature = table.drop(columns="YEAR").to_numpy().reshape(-1, 1)
first_year = int(table["YEAR"].iloc[0])

# %%
# The model learns the temperatures relative to an offset of its own, and returns degrees.

horizon = 18
model = SeriesDictionary(20, window=24, season=12, random_state=0).fit(temperature[:-horizon])
ahead = model.predict(horizon)
band = model.predict_interval(horizon, coverage=0.8)
error = np.abs(ahead - temperature[-horizon:]).mean()
print(f"mean error over {horizon} months: {error:.2f} degrees")

# %%
# The band of a month is as wide as the past errors of forecasts so far ahead ask for.

months = first_year + np.arange(len(temperature)) / 12
past, future = slice(-horizon - 60, -horizon), slice(-horizon, None)
figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
axis.plot(months[past], temperature[past], color="black", label="known")
axis.plot(months[future], temperature[future], "k.", label="what came")
axis.plot(months[future], ahead, color="C1", label="forecast")
axis.fill_between(
    months[future], band.low[:, 0], band.high[:, 0], color="C1", alpha=0.25, label="band of 80 %"
)
axis.set(ylabel="sea temperature, °C", title="Pacific near Peru, monthly")
axis.set_ylim(top=29)  # room for the legend
axis.legend(loc="upper left", ncols=2)

plt.show()
