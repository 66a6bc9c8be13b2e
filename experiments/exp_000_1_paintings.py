"""Experiment 000-1: the dictionary of one painting reconstructs another one.

Lyu, Needell and Balzano (2020), Fig. 3: 10 x 10 patches, learned online, of Escher's "Cycle"
reconstruct it and Renoir's "Two Sisters". Escher's picture is still protected; three paintings in
the public domain stand in for it beside Renoir's. One pass over 100,000 random patches of each
painting in batches of 256, 100 atoms, all else default; every painting is then rebuilt with every
dictionary (patches 2 pixels apart, averaged); the error is the peak signal-to-noise ratio. Beside
it: 100 patches drawn from the same stream as atoms, with the same codes, and the leading principal
components of its first 10,000 patches, as many as our codes of the painting have entries above
zero on average (all 100 are a basis, and exact). Leaves
``results/000-1.png`` and ``results/000-1.json``.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from PIL import Image
from records import DATA, save
from sklearn.decomposition import PCA

from atomstream import OnlineNMF, images, streams

PAINTINGS = ("gogh_cafe", "mona_lisa", "monet1", "renoir_0")
SIZE, N_ATOMS, N_PATCHES, BATCH, SIDE = 10, 100, 100_000, 256, 480
N_SAMPLED = 10_000  # patches that principal components come from, and that nonzeros are counted of
PARTS = {  # what the figure shows of each painting
    "gogh_cafe": np.s_[160:320, 60:220],
    "mona_lisa": np.s_[120:280, 160:320],
    "monet1": np.s_[100:260, 160:320],
    "renoir_0": np.s_[160:320, 120:280],
}
RANGE = 0.04  # errors from here on are black in the figure


def painting(name: str) -> np.ndarray:
    """Return a painting in grey, at most 480 pixels wide, values in [0, 1]."""
    image = Image.open(DATA / "paintings" / f"{name}.jpg").convert("L")
    image.thumbnail((SIDE, 10 * SIDE))
    return np.asarray(image, dtype=np.float32) / 255


def learn(image: np.ndarray) -> OnlineNMF:
    """Return the dictionary after one pass over random patches."""
    model = OnlineNMF(N_ATOMS, random_state=0)
    rng = np.random.default_rng(0)
    n_batches = N_PATCHES // BATCH
    return model.fit_stream(
        streams.patches(image, SIZE, n_samples=n_batches * BATCH, batch_size=BATCH, rng=rng),
        n_batches=n_batches,
    )


def sampled(image: np.ndarray) -> np.ndarray:
    """Return the first patches of the stream that a dictionary is learned from."""
    rng = np.random.default_rng(0)
    return next(streams.patches(image, SIZE, n_samples=N_SAMPLED, batch_size=N_SAMPLED, rng=rng))


def rivals(rows: np.ndarray, others: np.ndarray, model: OnlineNMF, target: np.ndarray) -> dict:
    """Return the quality of drawn patches and of principal components, and how many of these."""
    drawn = OnlineNMF.from_components(rows[:N_ATOMS])
    kept = round(float((model.transform(others) > 0).sum(axis=1).mean()))
    axes = PCA(kept, random_state=0).fit(rows)
    return {
        "drawn patches": images.psnr(target, images.reconstruct(drawn, target, SIZE, stride=2)),
        "principal components": images.psnr(
            target, images.reconstruct(axes, target, SIZE, stride=2)
        ),
        "nonzeros": kept,
    }


def mosaic(model: OnlineNMF) -> np.ndarray:
    """Return the atoms, most important first, as one picture."""
    atoms = model.components_[np.argsort(-model.importance_)]
    atoms = atoms / np.maximum(atoms.max(axis=1, keepdims=True), 1e-12)
    tiles = np.pad(
        atoms.reshape(10, 10, SIZE, SIZE), ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=0.5
    )
    return tiles.swapaxes(1, 2).reshape(10 * (SIZE + 1), -1)


def draw(
    shown: dict[str, np.ndarray], models: dict[str, OnlineNMF], rebuilt: dict, quality: dict
) -> Figure:
    """Draw a part of each painting, its reconstructions, and how far each is off."""
    figure = Figure(figsize=(17.2, 9.4), layout="constrained")
    grid = figure.subplots(len(PAINTINGS) + 1, 2 * len(PAINTINGS) + 1)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
    for axes in (grid[0, 0], *grid[0, 2::2]):
        axes.axis("off")
    for column, source in enumerate(PAINTINGS):
        left = 2 * column + 1
        grid[0, left].imshow(mosaic(models[source]), cmap="gray", vmin=0, vmax=1)
        grid[0, left].set_title(f"atoms of {source}", fontsize=10)
        for row, target in enumerate(PAINTINGS, start=1):
            part = rebuilt[source, target][PARTS[target]]
            off = np.abs(part - shown[target][PARTS[target]])
            grid[row, left].imshow(part, cmap="gray", vmin=0, vmax=1)
            grid[row, left].set_title(f"{quality[source][target]:.1f} dB", fontsize=10)
            error = grid[row, left + 1].imshow(off, cmap="gray_r", vmin=0, vmax=RANGE)
    for row, target in enumerate(PAINTINGS, start=1):
        grid[row, 0].imshow(shown[target][PARTS[target]], cmap="gray", vmin=0, vmax=1)
        grid[row, 0].set_title(target, fontsize=10)
    bar = figure.colorbar(error, ax=grid[1:], shrink=0.5, aspect=30)
    bar.set_label("absolute error (the range of the painting is 1)")
    return figure


def main() -> None:
    """Learn from every painting, rebuild every painting with each, draw, write the numbers."""
    shown = {name: painting(name) for name in PAINTINGS}
    models = {name: learn(image) for name, image in shown.items()}
    rebuilt = {
        (source, target): images.reconstruct(models[source], shown[target], SIZE, stride=2)
        for source in PAINTINGS
        for target in PAINTINGS
    }
    quality = {
        source: {
            target: images.psnr(shown[target], rebuilt[source, target]) for target in PAINTINGS
        }
        for source in PAINTINGS
    }
    save_figure(draw(shown, models, rebuilt, quality), "000-1", 62)
    rows = {name: sampled(image) for name, image in shown.items()}
    numbers = {
        "patches": N_PATCHES,
        "atoms": N_ATOMS,
        "psnr_by_dictionary_and_painting": quality,
        "rivals": {
            source: {
                target: rivals(rows[source], rows[target], models[source], shown[target])
                for target in PAINTINGS
            }
            for source in PAINTINGS
        },
    }
    save("000-1", numbers)


if __name__ == "__main__":
    main()
