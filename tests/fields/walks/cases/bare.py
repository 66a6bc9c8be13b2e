"""What runs of walks do without optional libraries."""

import numpy as np


def prepare(folder):
    np.save(folder / "states.npy", np.random.default_rng(0).integers(0, 5, 500))


CASES = {
    "walk": {
        "prepare": prepare,
        "works": ["walk partition @states.npy --states --rank 2 --clusters 2 --out @walk"],
        "asks": [],
    },
}
