"""Bad input to runs of pictures: what is wrong, the command, and what is said of it."""

import numpy as np

from atomstream import ImageDictionary, OnlineNMF, save


def prepare(folder):
    from PIL import Image

    y, x = np.mgrid[:50, :60]
    values = 0.5 + 0.2 * np.sin(y / 4) * np.cos(x / 5) + 0.2 * ((y + x) % 23 > 11)
    grey = np.rint(255 * values).astype(np.uint8)
    Image.fromarray(grey).save(folder / "grey.png")
    Image.fromarray(np.dstack([grey, grey // 2, grey // 3])).save(folder / "color.png")
    Image.fromarray(np.zeros((9, 9), np.uint8)).save(folder / "small.png")
    Image.fromarray(np.full((50, 60), 255, np.uint8)).save(folder / "white.png")
    model = ImageDictionary(16, 6, n_patches=1000, random_state=0).fit(grey)
    save(model, folder / "model.atoms")
    save(OnlineNMF(2), folder / "fresh.atoms")
    save(OnlineNMF(2, random_state=0).fit(grey / 255), folder / "other.atoms")


BAD = {
    "no such file": ("image denoise none.png --out o.png", "There is no file"),
    "over the input": ("image denoise grey.png --out grey.png", "is the input itself"),
    "another ending": ("image denoise grey.png --out o.xyz", "does not end like an image"),
    "a large patch": ("image denoise grey.png --out o.png --patch 70", "smaller than a patch"),
    "negative noise": (
        "image denoise grey.png --out o.png --sigma -1",
        "Invalid value for '--sigma'",
    ),
    "no image": ("image denoise model.atoms --out o.png", "model.atoms"),
    "a model of rows": (
        "image denoise grey.png --out o.png --model other.atoms",
        "has learned from rows; needed is a dictionary of image patches",
    ),
    "a model without atoms": (
        "image denoise grey.png --out o.png --model fresh.atoms",
        "holds a model that has not learned anything",
    ),
    "no model": ("image denoise grey.png --out o.png --model grey.png", "no saved model"),
    "other channels": (
        "image denoise color.png --out o.png --model model.atoms",
        "has learned patches of shape",
    ),
    "a small mask": ("image inpaint grey.png --mask small.png --out o.png", "they must agree"),
    "a mask of all": ("image inpaint grey.png --mask white.png --out o.png", "no observed pixel"),
    "no such folder": ("image denoise grey.png --out nowhere/o.png", "its folder is missing"),
}

assert len(BAD) == 13
CASES = {"pictures": (prepare, BAD)}
