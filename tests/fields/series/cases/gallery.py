"""Every plot of series."""

import functools

import numpy as np

from atomstream import SeriesDictionary, plots

WAVES = np.array([np.sin(np.arange(60) / k) + 1.2 for k in (3, 4, 5)]).T


@functools.cache
def waves():
    """Return a model of waves that has learned."""
    return SeriesDictionary(3, 6, n_init=40, n_init_batches=4, random_state=0).fit(WAVES)


def forecast():
    ahead = np.ones((3, 6, 3)) + np.arange(3)[:, None, None] / 9
    return plots.series_forecast(WAVES, WAVES + 0.1, ahead, names=["a", "b", "c"])


CASES = {
    "series_atoms": lambda: plots.series_atoms(waves(), names=["a", "b", "c"]),
    "series_change": lambda: plots.series_change(waves(), names=["a", "b", "c"]),
    "series_forecast": forecast,
}
