"""A photograph of 12 megapixels rebuilt from 12 x 12 patches at stride 4: seconds and peak memory.

Run it alone, in a fresh process: ``judged/pictures.py [--grey] [--jobs N]``. The
photograph is scikit-learn's "china", enlarged to 4000 x 3000 pixels, with noise of 3 grey levels so
that enlarging does not make it easier to code. Learning (60,000 patches, 100 atoms) and loading are
told apart from rebuilding.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

from atomstream import ImageDictionary, images


def photograph(grey: bool) -> np.ndarray:
    """Return the photograph of 12 megapixels."""
    image = Image.fromarray(load_sample_image("china.jpg"))
    large = np.asarray(
        (image.convert("L") if grey else image).resize((4000, 3000), Image.Resampling.BICUBIC)
    )
    rng, noisy = np.random.default_rng(0), np.empty_like(large)
    for top in range(0, len(large), 100):
        part = large[top : top + 100]
        noisy[top : top + 100] = np.clip(
            part + 3 * rng.standard_normal(part.shape, dtype=np.float32), 0, 255
        )
    return noisy


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Rebuild it and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grey", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    image = photograph(given.grey)
    loaded, start = peak(), time.perf_counter()
    model = ImageDictionary(100, 12, stride=4, n_jobs=given.jobs, random_state=0).fit(image)
    learned, start = time.perf_counter() - start, time.perf_counter()
    rebuilt = model.reconstruct(image)
    seconds, most = time.perf_counter() - start, peak()
    told = {
        "channels": 1 if given.grey else 3,
        "learning_s": round(learned, 1),
        "rebuilding_s": round(seconds, 1),
        "psnr": round(images.psnr(image[:500], rebuilt[:500]), 2),
        "gb_after_loading": round(loaded, 3),
        "gb_at_most": round(most, 3),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
