"""Every plot of images."""

import numpy as np
from drawn import PICTURE, of_patches

from atomstream import plots


def spins():
    image, model = np.random.default_rng(0).integers(0, 2, (12, 12)), of_patches()[0]
    return plots.spins([image] * 2, [model] * 2, [image] * 2, (4, 4), titles=["a", "b"])


CASES = {
    "comparison": lambda: plots.comparison({"blurred": PICTURE / 4}, PICTURE / 4),
    "material_map": lambda: plots.material_map(np.eye(12, dtype=int), ["sky", "grass"]),
    "reconstruction": lambda: plots.reconstruction(PICTURE, PICTURE + 0.1),
    "spins": spins,
}
