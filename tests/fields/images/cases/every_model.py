"""Models of images, saved to files, for all verbs that look."""

import math

import numpy as np

from atomstream import ColorRestorer, ImageDictionary


def pictures(rng):
    return {"grass": rng.random((16, 16, 3)), "sky": np.ones((16, 16, 3))}


CASES = {
    "ColorRestorer": {
        "learned": lambda rng: ColorRestorer(2, 4, n_patches=50, random_state=0).fit(pictures(rng)),
        "most": math.inf,  # each class has shares of its own
    },
    "ImageDictionary": {
        "learned": lambda rng: ImageDictionary(4, 4, n_patches=60, random_state=0).fit(
            pictures(rng)["grass"]
        ),
        "rebuilds": "picture.png",
    },
}
