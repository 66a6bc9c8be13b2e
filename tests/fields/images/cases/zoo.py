"""Small models of images, and images that they learn from."""

import numpy as np
from cases import rows

from atomstream import ColorRestorer, ImageDictionary


def materials():
    rng = np.random.default_rng(0)
    grass = rng.uniform(0.4, 0.5, (20, 20, 1)) * [0.4, 1.0, 0.2]
    return {"grass": grass, "sky": rng.uniform(0.85, 0.9, (20, 20, 1)) * [0.6, 0.8, 1.0]}


CASES = {
    "images": (
        ImageDictionary(4, 4, n_patches=60, random_state=0),
        lambda: rows()[:16],
        "reconstruct",
    ),
    "colours": (
        ColorRestorer(2, 4, n_patches=60, random_state=0),
        materials,
        lambda model, examples: model.restore(examples["sky"][:, :, 0])[0],
    ),
}
