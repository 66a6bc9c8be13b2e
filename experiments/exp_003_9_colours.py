"""Experiment 003-9: colour for a grey picture of two materials, from dictionaries of each.

Strohmeier's thesis, Fig. 3.7: patches of 10 x 10, 5 atoms per material, 20 batches of 1,000
patches, every patch coded with the greys of its material's colour atoms and rebuilt with their
colours, full overlap. Its picture of grass and sand is not at hand: here materials are cut from
paintings, learned from one part and tested on another, side by side: sky and leaves of van Gogh's
"Cafe Terrace", each nearly of one colour, and grass and a clouded sky of Monet's "Woman with a
Parasol", where blue and white cloud are both sky. The classifier is a perceptron, the thesis's a
convolutional network. Beside it: the mean colour of the true material put on the grey picture, and
no colour at all. Leaves ``results/003-9.png`` and ``results/003-9.json``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from PIL import Image
from records import DATA, save

from atomstream import ColorRestorer, images

SIZE, N_ATOMS, N_PATCHES, SEEDS = 10, 5, 20 * 1000, (0, 1, 2)
LUMA = np.array([0.2989, 0.5870, 0.1140])
# Of each material the rows and columns learned from, and those tested on.
PAIRS = {
    "gogh_cafe": {
        "leaves": (np.s_[230:390, 680:745], np.s_[250:350, 612:676]),
        "sky": (np.s_[10:230, 430:560], np.s_[10:110, 310:374]),
    },
    "monet1": {
        "grass": (np.s_[690:890, 350:700], np.s_[690:890, 20:180]),
        "sky": (np.s_[20:330, 530:700], np.s_[60:260, 5:165]),
    },
}


def tinted(grey: np.ndarray, truth: np.ndarray, examples: dict[str, np.ndarray]) -> np.ndarray:
    """Return the grey picture with the mean colour of the true material of each pixel."""
    means = np.array([image.mean(axis=(0, 1)) for image in examples.values()])
    return means[truth] + (grey - means[truth] @ LUMA)[:, :, None]


def compare(name: str) -> tuple[dict[str, Any], list[tuple[str, np.ndarray]]]:
    """Return the figures of one painting, and what to draw."""
    painting = (
        np.asarray(Image.open(DATA / f"paintings/{name}.jpg").convert("RGB"), dtype=np.float64)
        / 255
    )
    examples = {material: painting[learned] for material, (learned, _) in PAIRS[name].items()}
    original = np.concatenate([painting[tested] for _, tested in PAIRS[name].values()], axis=1)
    truth = np.repeat([0, 1], original.shape[1] // 2)[None].repeat(len(original), axis=0)
    grey = original @ LUMA
    rows, shown = [], []
    for seed in SEEDS:
        model = ColorRestorer(N_ATOMS, SIZE, n_patches=N_PATCHES, random_state=seed).fit(examples)
        kept, plain = (model.set_params(keep_luma=keep).restore(grey) for keep in (True, False))
        quality = {
            "psnr": round(images.psnr(original, kept.image.clip(0, 1)), 2),
            "psnr_without_luma_kept": round(images.psnr(original, plain.image.clip(0, 1)), 2),
            "pixels_right": round(float((kept.classes == truth).mean()), 4),
        }
        rows.append({"seed": seed} | quality)
        shown = shown or [
            ("restored", kept.image),
            ("luma not kept", plain.image),
            ("materials", kept.classes),
        ]
    guess = tinted(grey, truth, examples)
    told = {
        "restored": rows,
        "mean_colour_of_the_true_material_psnr": round(images.psnr(original, guess.clip(0, 1)), 2),
        "grey_psnr": round(images.psnr(original, np.repeat(grey[:, :, None], 3, axis=2)), 2),
    }
    return told, [("original", original), ("given", grey), *shown]


def main() -> None:
    """Learn from one part of each painting, restore the other, draw, write the numbers."""
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    grid, numbers = figure.subplots(len(PAIRS), 5), {}
    for i, (row, name) in enumerate(zip(grid, PAIRS, strict=True)):
        numbers[name], pictures = compare(name)
        for axes, (title, image) in zip(row, pictures, strict=True):
            axes.imshow(image if image.dtype == int else image.clip(0, 1), cmap="gray")
            axes.set(xticks=[], yticks=[])
            axes.set_title(title if i == 0 else "", fontsize=10)
    save_figure(figure, "003-9", 54)
    save("003-9", numbers)


if __name__ == "__main__":
    main()
