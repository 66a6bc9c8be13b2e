"""Experiment 003-12: colour patches of the Cafe Terrace, three reshapings.

Strohmeier (2023), section 4.8.2 and Fig. 4.3: 1000 patches of 20 x 20 pixels and 3 colours, 24
atoms, 400 batches and lambda = 1. Colour values lie in [0, 1], and alpha = lambda / 2 = 0.5 in our
halved objective. The modes of the patches are kept apart, (height), (width), (colour); or space is
one mode, (height, width), (colour); or all are one. Everything else is default: 25 passes in
batches of 63 patches make the 400. The painting, half as wide as the file, is rebuilt from patches
4 pixels apart, coded with the same alpha, averaged where they overlap. Leaves
``results/003-12.png`` and ``results/003-12.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from PIL import Image
from records import DATA, save
from threadpoolctl import threadpool_limits

from atomstream import OnlineCPDictionary, images, streams

SHAPE = (20, 20, 3)
N_PATCHES, N_ATOMS, N_EPOCHS, BATCH, ALPHA, STRIDE, SIDE = 1000, 24, 25, 63, 0.5, 4, 375
RESHAPINGS = {
    "height, width, colour": [(0,), (1,), (2,)],
    "space, colour": [(0, 1), (2,)],
    "all joint": [(0, 1, 2)],
}


@dataclass
class OnRows:
    """A model of tensors that takes and gives them as rows, as `images.reconstruct` has patches."""

    model: Any

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Code patches."""
        return self.model.transform(rows.reshape(-1, *self.model.shape_in_))

    def inverse_transform(self, codes: np.ndarray) -> np.ndarray:
        """Decode patches."""
        return self.model.inverse_transform(codes).reshape(len(codes), -1)


def painting() -> np.ndarray:
    """Return the painting half as wide, values in [0, 1]."""
    image = Image.open(DATA / "paintings/gogh_cafe.jpg").convert("RGB")
    image.thumbnail((SIDE, 10 * SIDE))
    return np.asarray(image, dtype=np.float32) / 255


def learn(patches: np.ndarray, reshape: list[tuple[int, ...]]) -> tuple[OnlineCPDictionary, float]:
    """Return (the dictionary, CPU seconds)."""
    begin = process_time()
    model = OnlineCPDictionary(
        N_ATOMS, alpha=ALPHA, reshape=reshape, batch_size=BATCH, n_epochs=N_EPOCHS, random_state=0
    ).fit(patches)
    return model, process_time() - begin


def mosaic(atoms: np.ndarray, shares: np.ndarray, n_columns: int = 6) -> np.ndarray:
    """Return the atoms, most important first, as one picture, each scaled by its largest value."""
    atoms = atoms[np.argsort(-shares)]
    tiles = atoms / np.maximum(atoms.max(axis=(1, 2, 3), keepdims=True), 1e-12)
    tiles = np.pad(tiles, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=1)
    height, width, n_channels = tiles.shape[1:]
    return (
        tiles.reshape(-1, n_columns, height, width, n_channels)
        .swapaxes(1, 2)
        .reshape(-1, n_columns * width, 3)
    )


def size_and_error(model: OnlineCPDictionary, patches: np.ndarray) -> dict[str, float]:
    """Return how well patches are explained, and by how many numbers."""
    codes = model.transform(patches)
    left = np.linalg.norm(model.inverse_transform(codes) - patches) / np.linalg.norm(patches)
    return {
        "relative_error_on_patches": float(left),
        "numbers_in_dictionary": sum(U.size for U in model.loadings_),
        "share_of_zero_codes": float((codes == 0).mean()),
        "batches": model.n_steps_,
    }


def main() -> None:
    """Learn with each reshaping, rebuild the painting, draw, write the numbers."""
    image = painting()
    rng = np.random.default_rng(0)
    stream = streams.patches(image, SHAPE[:2], n_samples=N_PATCHES, batch_size=N_PATCHES, rng=rng)
    patches = next(iter(stream)).reshape(-1, *SHAPE)
    figure = Figure(figsize=(10.5, 6.0), layout="constrained")
    grid = figure.subplots(2, 4, height_ratios=(2, 1))
    grid[0, 0].imshow(image)
    grid[0, 0].set_title(f"original\n{image.shape[1]} x {image.shape[0]}", fontsize=9)
    grid[1, 0].imshow(mosaic(patches[:N_ATOMS], np.zeros(N_ATOMS)), interpolation="nearest")
    grid[1, 0].set_title("some of the patches", fontsize=9)
    report: dict[str, Any] = {
        "patches": N_PATCHES,
        "atoms": N_ATOMS,
        "alpha": ALPHA,
        "clock": "process time of one thread; other work on the machine slows it a little",
    }
    with threadpool_limits(1):
        for column, (name, reshape) in enumerate(RESHAPINGS.items(), start=1):
            model, seconds = learn(patches, reshape)
            rebuilt = images.reconstruct(OnRows(model), image, SHAPE[:2], stride=STRIDE)
            numbers = {"psnr": images.psnr(image, rebuilt), "cpu_seconds": seconds}
            numbers |= size_and_error(model, patches)
            report[name] = {key: round(value, 4) for key, value in numbers.items()}
            print(name, report[name], flush=True)
            grid[0, column].imshow(rebuilt.clip(0, 1))
            grid[0, column].set_title(f"{name}\n{numbers['psnr']:.1f} dB", fontsize=9)
            grid[1, column].imshow(
                mosaic(model.components_, model.importance_), interpolation="nearest"
            )
            grid[1, column].set_title(
                f"atoms: {numbers['numbers_in_dictionary']:,} numbers", fontsize=9
            )
    for axes in grid.flat:
        axes.axis("off")
    save("003-12", report)
    save_figure(figure, "003-12", 80)


if __name__ == "__main__":
    main()
