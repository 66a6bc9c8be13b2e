"""Every plot of signatures."""

import numpy as np

from atomstream import plots, signatures

RNG = np.random.default_rng(0)
CASES = {
    "exposures": lambda: plots.exposures(RNG.random((9, 3)), ["a", "b", "c"], list("rstuvwxyz")),
    "mutation_profiles": lambda: plots.mutation_profiles(
        signatures.ChannelTable(RNG.random((2, 2)), ["a", "b"], ["A[C>A]A", "T[T>G]G"])
    ),
}
