"""Experiment 003-9: colour for a grey picture of two materials, from dictionaries of each.

Strohmeier's thesis, Fig. 3.7: patches of 10 x 10, 5 atoms per material, 20 batches of 1,000
patches, every patch coded with the greys of its material's colour atoms and rebuilt with their
colours, full overlap. Its picture of grass and sand is not at hand: here materials are cut from
paintings, learned from one part and tested on another, side by side: sky and leaves of van Gogh's
"Cafe Terrace", each nearly of one colour, and grass and a clouded sky of Monet's "Woman with a
Parasol", where blue and white cloud are both sky.

Materials are told apart by the perceptron on Fourier magnitudes and by the convolutional network
(the thesis has one too), for which torch must be installed.
Beside them: the nearest grey patches of all examples, without materials, their mean colour put on
the grey picture (near by pixels, Fourier magnitudes or sorted greys, and 1 to 64 of them: chosen on
the examples alone, where upper halves colour the lower ones); the mean colour of the true material
put on it; and no colour at all.
Leaves ``results/003-9.png`` and ``results/003-9.json``.
"""

from __future__ import annotations

from itertools import product
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.figure import Figure
from patch_network import ConvolutionalClassifier
from pictures import save_figure
from PIL import Image
from records import DATA, save
from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d
from sklearn.neighbors import NearestNeighbors

from atomstream import ColorRestorer, images
from atomstream.fields.images import color
from atomstream.fields.images.classifiers import PatchClassifier
from atomstream.fields.images.color import Restored

SIZE, N_ATOMS, N_PATCHES, SEEDS = 10, 5, 20 * 1000, (0, 1, 2)
CLASSIFIERS = {"perceptron": PatchClassifier, "convolutional": ConvolutionalClassifier}
NEIGHBOURS, N_NEAR = (1, 4, 16, 64), 5000  # how many, among how many patches of a material
ALIKE = {  # what makes grey patches near
    "pixels": lambda greys: greys.reshape(len(greys), -1),
    "Fourier magnitudes": lambda greys: np.abs(np.fft.rfft2(greys)).reshape(len(greys), -1),
    "sorted greys": lambda greys: np.sort(greys.reshape(len(greys), -1), axis=1),
}
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


def from_neighbours(grey: np.ndarray, examples: list[np.ndarray], alike: str) -> dict:
    """Return, by how many, the grey picture with the mean colour of the nearest grey patches."""
    rows = np.concatenate(
        [
            np.random.default_rng(0).permutation(extract_patches_2d(each, (SIZE, SIZE)))[:N_NEAR]
            for each in examples
        ]
    )
    greys, asked = rows @ LUMA, extract_patches_2d(grey, (SIZE, SIZE))
    tints = (rows - greys[..., None]).mean(axis=(1, 2))
    feature = ALIKE[alike]
    near = NearestNeighbors(n_neighbors=max(NEIGHBOURS), algorithm="brute").fit(feature(greys))
    found, made = near.kneighbors(feature(asked), return_distance=False), {}
    for k in NEIGHBOURS:
        tint = tints[found[:, :k]].mean(axis=1)[:, None, None]
        spread = np.broadcast_to(tint, (*asked.shape, 3))
        added = reconstruct_from_patches_2d(spread, (*grey.shape, 3))
        made[k] = (grey[:, :, None] + added).clip(0, 1)
    return made


def chosen_neighbours(examples: list[np.ndarray]) -> tuple[str, int]:
    """Return the features and the number by which upper halves colour the lower ones best."""
    upper = [each[: len(each) // 2] for each in examples]
    errors = dict.fromkeys(product(ALIKE, NEIGHBOURS), 0.0)
    for each, alike in product(examples, ALIKE):
        lower = each[len(each) // 2 :]
        for k, picture in from_neighbours(lower @ LUMA, upper, alike).items():
            errors[alike, k] += float(((picture - lower) ** 2).mean())
    return min(errors, key=errors.__getitem__)


def nearest(original: np.ndarray, examples: list[np.ndarray]) -> tuple[dict, np.ndarray]:
    """Return (figures, picture) of the nearest grey patches, and figures of those by pixels."""
    began, grey = process_time(), original @ LUMA
    alike, k = chosen_neighbours(examples)
    picture = from_neighbours(grey, examples, alike)[k]
    quality = {
        "alike": alike,
        "neighbours": k,
        "psnr": images.psnr(original, picture),
        "cpu_seconds": process_time() - began,
        "psnr_by_pixels": images.psnr(original, from_neighbours(grey, examples, "pixels")[1]),
    }
    return quality, picture


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
    guess = tinted(grey, truth, examples).clip(0, 1)
    near, picture = nearest(original, [*examples.values()])
    shown = [("original", original), ("given", grey), ("true material's mean colour", guess)]
    shown.append((f"nearest grey patches: {near['psnr']:.1f} dB", picture))
    told: dict[str, Any] = {
        "mean_colour_of_the_true_material_psnr": images.psnr(original, guess),
        "nearest": near,
        "grey_psnr": images.psnr(original, np.repeat(grey[:, :, None], 3, axis=2)),
    }
    for classifier in CLASSIFIERS:
        told[classifier] = []
        for seed in SEEDS:
            quality, kept = restored(examples, original, truth, classifier, seed)
            told[classifier].append(quality)
            print(name, classifier, quality, flush=True)
            if seed == SEEDS[0]:
                title = f"{classifier}: {quality['psnr']:.1f} dB"
                shown += [(title, kept.image), (f"{classifier}: materials", kept.classes)]
    return told, shown


def restored(
    examples: dict[str, np.ndarray],
    original: np.ndarray,
    truth: np.ndarray,
    classifier: str,
    seed: int,
) -> tuple[dict[str, float], Restored]:
    """Return (figures, picture) of a model with one classifier."""
    model = ColorRestorer(N_ATOMS, SIZE, n_patches=N_PATCHES, random_state=seed)
    begin = process_time()
    with patch.object(color, "PatchClassifier", CLASSIFIERS[classifier]):
        model.fit(examples)
    seconds = process_time() - begin
    kept, plain = (
        model.set_params(keep_luma=keep).restore(original @ LUMA) for keep in (True, False)
    )
    # What is lost where every pixel has the right material: the codes' part of the error.
    model._shares = lambda image: np.eye(len(examples))[truth]
    told = model.set_params(keep_luma=True).restore(original @ LUMA)
    quality = {
        "psnr_of_the_true_materials": images.psnr(original, told.image.clip(0, 1)),
        "psnr": images.psnr(original, kept.image.clip(0, 1)),
        "psnr_without_luma_kept": images.psnr(original, plain.image.clip(0, 1)),
        "pixels_right": float((kept.classes == truth).mean()),
        "seconds_to_learn": seconds,
    }
    return quality, kept


def main() -> None:
    """Learn from one part of each painting, restore the other, draw, write the numbers."""
    figure = Figure(figsize=(12.5, 10.5), layout="constrained")
    grid, numbers = figure.subplots(2 * len(PAIRS), 4, height_ratios=(1, 1, 0.85, 0.85)), {}
    for i, name in enumerate(PAIRS):
        numbers[name], pictures = compare(name)
        grey = f"given: {numbers[name]['grey_psnr']:.1f} dB"
        ordered = [pictures[0], (grey, pictures[1][1]), *pictures[2:]]
        for axes, panel in zip(grid[2 * i : 2 * i + 2].ravel(), ordered, strict=True):
            axes.set_axis_off()
            image = panel[1]
            axes.imshow(image if image.dtype == int else image.clip(0, 1), cmap="gray")
            axes.set_title(panel[0], fontsize=10)
    save_figure(figure, "003-9", 80)
    save("003-9", numbers)


if __name__ == "__main__":
    main()
