"""Photographs compressed: our files beside JPEG's of the same quality.

Twelve photographs of scikit-learn and scikit-image at five qualities (PSNR in decibels), with a
dictionary in the file (64, 128 or 256 atoms: the fewest that reach the quality, learned from the
photograph itself), and with 256 atoms that were learned from the others (for colour, from those in
colour) and are not in the file. JPEG is Pillow's, optimised, with the sampling of colour that makes
the smaller file. Sizes do not depend on the machine. ``python benchmarks/photographs.py`` writes
``results/photographs.json``.
"""

from __future__ import annotations

import warnings

import numpy as np
from benchmark_records import save

from atomstream import ImageDictionary, images
from atomstream.domains.images import jpeg_size

OURS = ("china", "flower")
THEIRS = (
    *("astronaut", "chelsea", "coffee", "rocket", "stereo_motorcycle", "hubble_deep_field"),
    *("camera", "coins", "moon", "gravel"),
)
QUALITIES = (25, 30, 33, 36, 40)
ATOMS = (64, 128, 256)
NEAR = 0.3  # decibels


def photograph(name: str) -> np.ndarray:
    """Return a photograph, uint8 of shape (height, width[, 3])."""
    if name in OURS:
        from sklearn.datasets import load_sample_image

        return load_sample_image(f"{name}.jpg")
    import skimage.data

    found = getattr(skimage.data, name)()
    return np.asarray(found[0] if isinstance(found, tuple) else found)


def measured(image: np.ndarray, models: list[ImageDictionary], quality: int, inside: bool) -> dict:
    """Return the sizes of our file and of JPEG's, with the first model that is good enough."""
    for model in models:
        data = model.compress(image, quality, include_dictionary=inside)
        reached = images.psnr(image, model.decompress(data))
        if reached >= quality - NEAR:
            break
    size = jpeg_size(image, reached)
    sizes = {"bytes": len(data), "jpeg_bytes": size}
    return {"quality": quality, "psnr": reached, "atoms": model.n_components, **sizes}


def measure() -> None:
    """Measure all photographs and write the numbers."""
    warnings.simplefilter("ignore")  # of files larger than pixels: that is what is measured
    pictures = {name: photograph(name) for name in (*OURS, *THEIRS)}
    numbers = {}
    for name, image in pictures.items():
        others = [part for other, part in pictures.items() if other != name]
        if image.ndim == 2:
            others = [part if part.ndim == 2 else part[:, :, 1] for part in others]
        else:
            others = [part for part in others if part.ndim == 3]
        own = [ImageDictionary(n_atoms, random_state=0).fit(image) for n_atoms in ATOMS]
        shared = [ImageDictionary(ATOMS[-1], random_state=0).fit(others)]
        numbers[name] = {
            "shape": image.shape,
            "with_dictionary": [measured(image, own, q, True) for q in QUALITIES],
            "shared_dictionary": [measured(image, shared, q, False) for q in QUALITIES],
        }
        print(name, flush=True)
        save("photographs", numbers)


if __name__ == "__main__":
    measure()
