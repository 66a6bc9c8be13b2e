"""A run of images whose time is told before it begins."""

import numpy as np


def words(folder):
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (100, 120), np.uint8)
    Image.fromarray(pixels).save(folder / "p.png")
    image = ("image", "learn", folder / "p.png", "--atoms", 4, "--patch", 5)
    return *image, "--patches", 300_000


CASES = {"image": (words, {"n_samples": 300_000, "n_features": 25})}
