"""Photographs compressed: our files beside JPEG's of the same quality.

Twelve photographs of scikit-learn and scikit-image at five qualities (PSNR in decibels), with a
dictionary in the file (64, 128 or 256 atoms: the fewest that reach the quality, learned from the
photograph itself), and with 256 atoms that were learned from the others (for colour, from those in
colour) and are not in the file. JPEG is Pillow's, optimised, with the sampling of colour that makes
the smaller file. Sizes do not depend on the machine. ``python benchmarks/photographs.py`` writes
``photographs.json``; ``--page`` writes ``docs/photographs.md`` from it.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from atomstream import ImageDictionary, images
from atomstream.domains.images import jpeg_size

HERE = Path(__file__).parent
NUMBERS, PAGE = HERE / "photographs.json", HERE.parent / "docs" / "photographs.md"
OURS = ("china", "flower")
THEIRS = (
    *("astronaut", "chelsea", "coffee", "rocket", "stereo_motorcycle", "hubble_deep_field"),
    *("camera", "coins", "moon", "gravel"),
)
QUALITIES = (25, 30, 33, 36, 40)
ATOMS = (64, 128, 256)
NEAR = 0.3  # decibels
KINDS = {
    "with_dictionary": "The dictionary is learned from the photograph and is in its file",
    "shared_dictionary": "The dictionary is learned from other photographs and is not in the file",
}
HEAD = """# Compressed photographs beside JPEG

`atomstream image compress` is a way to look at a dictionary and to ship it, not one to save space.
The tables hold sizes of our files over those of JPEG files that are as good; above 1, JPEG is
smaller. With its dictionary a file is larger in {larger} of {cases} cases. Without it, a file is
smaller than JPEG's in {smaller} of {cases}, but nobody can read it who does not have the model.

Twelve photographs of scikit-learn and scikit-image at five qualities (PSNR in decibels over all
channels). JPEG is Pillow's, optimised, with the sampling of colour that makes the smaller file;
later formats were not measured. Dictionaries have 256 atoms of 8 x 8 pixels, or 64 or 128 where
they are in the file and reach the quality. Those that are not in the file are learned from the
other photographs: for colour from the others in colour, for grey from all. All files have the
quality asked for within {gap:.2f} decibels. `benchmarks/photographs.py` measures, and
`benchmarks/photographs.json` holds the sizes.

"""


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
        NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n")


def page() -> None:
    """Write the page from the numbers."""
    numbers = json.loads(NUMBERS.read_text())
    own, shared = (_cases(numbers, kind) for kind in KINDS)
    text = HEAD.format(
        cases=len(own),
        larger=sum(_ratio(case) > 1 for case in own),
        smaller=sum(_ratio(case) < 1 for case in shared),
        gap=max(
            abs(case["psnr"] - QUALITIES[i % len(QUALITIES)])
            for i, case in enumerate([*own, *shared])
        ),
    )
    for kind, title in KINDS.items():
        text += f"**{title}:**\n\n| photograph | pixels |"
        text += "".join(f" {quality} dB |" for quality in QUALITIES)
        text += "\n|---|---|" + "---|" * len(QUALITIES) + "\n"
        ratios = []
        for name, known in numbers.items():
            ratios.append([_ratio(case) for case in known[kind]])
            cells = " | ".join(f"{ratio:.2f}" for ratio in ratios[-1])
            text += f"| {name} | {' x '.join(map(str, known['shape']))} | {cells} |\n"
        medians = " | ".join(f"{median:.2f}" for median in np.nanmedian(ratios, axis=0))
        text += f"| median | | {medians} |\n\n"
    PAGE.write_text(text.rstrip() + "\n")


def _cases(numbers: dict, kind: str) -> list[dict]:
    """Return what was measured of all photographs at all qualities."""
    return [case for known in numbers.values() for case in known[kind]]


def _ratio(case: dict) -> float:
    """Return our size over JPEG's; NaN where one of them is not good enough."""
    return case["bytes"] / case["jpeg_bytes"] if case["jpeg_bytes"] else float("nan")


if __name__ == "__main__":
    page() if "--page" in sys.argv else measure()
