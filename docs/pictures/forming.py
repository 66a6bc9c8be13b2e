"""Draw atoms of a photograph while they form, and beside the photograph.

``python docs/pictures/forming.py`` writes forming.gif and atoms.png into this folder.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_sample_image

from atomstream import OnlineNMF, streams

HERE = Path(__file__).parent
SIZE, ROWS, COLUMNS, ZOOM, GAP = 12, 6, 12, 3, 4
SHOWN = np.unique(np.geomspace(1, 400, 34).astype(int))


def mosaic(atoms, order):
    """Return the atoms side by side as a picture, grey between them."""
    tile = SIZE * ZOOM + GAP
    picture = np.full((ROWS * tile + GAP, COLUMNS * tile + GAP), 210, np.uint8)
    for place, atom in enumerate(order):
        patch = atoms[atom].reshape(SIZE, SIZE)
        grey = 255 * (1 - patch / max(patch.max(), 1e-12))
        top, left = GAP + tile * (place // COLUMNS), GAP + tile * (place % COLUMNS)
        big = np.kron(grey.round(), np.ones((ZOOM, ZOOM))).astype(np.uint8)
        picture[top : top + SIZE * ZOOM, left : left + SIZE * ZOOM] = big
    return picture


def frame(picture, n_patches):
    """Return one frame with a line below that says how many patches were seen."""
    height, width = picture.shape
    page = Image.new("L", (width, height + 26), 255)
    page.paste(Image.fromarray(picture), (0, 0))
    ImageDraw.Draw(page).text((GAP, height + 4), f"{n_patches:,} patches", fill=60, font_size=14)
    return page.quantize(16)


def main():
    """Learn, and keep the atoms after steps that grow."""
    photograph = load_sample_image("china.jpg").mean(axis=2) / 255
    stream = streams.patches(photograph, SIZE, 256, rng=np.random.default_rng(0))
    model = OnlineNMF(ROWS * COLUMNS, alpha=0.01, init="random", random_state=0)
    kept = []
    for step, batch in zip(range(1, SHOWN[-1] + 1), stream, strict=False):
        model.partial_fit(batch)
        if step in SHOWN:
            kept.append((model.components_.copy(), model.n_samples_seen_))
    order = np.argsort(-model.importance_)
    frames = [frame(mosaic(atoms, order), seen) for atoms, seen in kept]
    times = [160] * (len(frames) - 1) + [2500]
    frames[0].save(
        HERE / "forming.gif", save_all=True, append_images=frames[1:], duration=times, loop=0
    )
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9, 2.95), layout="constrained", width_ratios=(1.47, 1.9)
    )
    left.imshow(photograph, cmap="gray")
    left.set_title("a photograph")
    right.imshow(mosaic(model.components_, order), cmap="gray", vmin=0, vmax=255)
    right.set_title("its atoms: every patch is a sum of these")
    for axis in (left, right):
        axis.axis("off")
    figure.savefig(HERE / "atoms.png", dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
