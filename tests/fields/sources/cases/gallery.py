"""Every plot of sources."""

import numpy as np

from atomstream import plots

RNG = np.random.default_rng(0)
HOURS = np.datetime64("2024-02-01T00") + np.arange(300) + 500 * (np.arange(300) > 150)
CASES = {
    "factor_cycles": lambda: plots.factor_cycles(RNG.random((300, 2)), HOURS),
    "factor_numbers": lambda: plots.factor_numbers(RNG.random((3, 8)) + np.arange(3)[:, None]),
    "factor_profiles": lambda: plots.factor_profiles(
        RNG.random((2, 5)), ["Fe", "Zn", "Pb", "SO4", "OC"], ranges=RNG.random((2, 2, 5))
    ),
    "factor_series": lambda: plots.factor_series(RNG.random((300, 2)), HOURS),
}
