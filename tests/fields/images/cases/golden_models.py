"""Golden models of images: how they were learned, and what they give."""

from pathlib import Path

import numpy as np

from atomstream import ColorRestorer, ImageDictionary

HERE = Path(__file__).parents[1] / "golden"


PATCHES = {"patch_size": 4, "random_state": 0}


def patches(grey):
    return ImageDictionary(n_components=10, n_patches=400, batch_size=100, **PATCHES).fit(grey)


def colours(grey):
    rng = np.random.default_rng(1)
    colors = np.array([[0.3, 0.9, 0.2], [0.4, 0.6, 1.0]])
    grass, sky = rng.random((2, 12, 12, 3)) * colors[:, None, None]
    model = ColorRestorer(n_components=2, n_patches=200, **PATCHES)
    return model.fit({"grass": [grass], "sky": [sky]})


def image(model, grey):
    yield "components", model.components_
    yield "reconstruct", model.reconstruct(grey)
    yield "denoise", model.denoise(grey, 0.05, adapt=False)
    yield "after_components", model.partial_fit(grey).components_


def color(model, grey):
    restored, classes = model.restore(grey)
    yield "image", restored
    yield "classes", classes
    for name, dictionary in model.dictionaries_.items():
        yield f"atoms_{name}", dictionary.components_


CASES = {
    "ColorRestorer": (HERE, colours, color),
    "ImageDictionary": (HERE, patches, image),
}
assert len(CASES) == 2
