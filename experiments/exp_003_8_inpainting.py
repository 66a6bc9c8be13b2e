"""Inpainting of photographs of which half of the pixels are missing, beside interpolation.

Half of the pixels (all three channels) of scikit-learn's "china" and "flower" are hidden at random,
one draw, and filled in by linear and cubic interpolation (scipy.interpolate.griddata; the nearest
pixel outside of the convex hull), by values whose Laplacian, or the Laplacian of that, vanishes
where pixels are missing (harmonic and biharmonic), and by 256 atoms of 8 x 8 learned on the picture
itself, its holes filled roughly at first; all else default. Leaves ``results/003-8-inpainting.png``
and ``results/003-8-inpainting.json``.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from scipy.interpolate import griddata
from scipy.sparse.linalg import splu
from sklearn.datasets import load_sample_image

from atomstream import ImageDictionary, images

N_DRAWS = 1


def interpolated(image: np.ndarray, missing: np.ndarray, method: str) -> np.ndarray:
    """Return the image with missing pixels interpolated."""
    known, wanted = np.argwhere(~missing), np.argwhere(missing)
    values = griddata(known, image[~missing], wanted, method=method)
    outside = np.isnan(values).any(axis=1)
    values[outside] = griddata(known, image[~missing], wanted[outside], method="nearest")
    filled = image.copy()
    filled[missing] = values
    return filled


def smooth(image: np.ndarray, missing: np.ndarray, method: str) -> np.ndarray:
    """Return the image with missing pixels where its Laplacian is zero, or the Laplacian of it."""
    along = []
    for size in missing.shape:
        middle = np.full(size, -2.0)
        middle[[0, -1]] = -1.0  # nothing flows over the border
        along.append(
            sp.diags_array([np.ones(size - 1), middle, np.ones(size - 1)], offsets=[-1, 0, 1])
        )
    rows, columns = (sp.eye_array(size) for size in missing.shape)
    laplacian = sp.csr_array(sp.kron(along[0], columns) + sp.kron(rows, along[1]))
    operator = laplacian @ laplacian if method == "biharmonic" else -laplacian
    gone, values = missing.ravel(), image.reshape(-1, 3).copy()
    wanted = sp.csr_array(operator)[gone]
    values[gone] = splu(wanted[:, gone].tocsc()).solve(-wanted[:, ~gone] @ values[~gone])
    return values.reshape(image.shape)


def learned(image: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the image with missing pixels filled in by a dictionary of its own."""
    holes = np.where(missing[:, :, None], np.nan, image)
    return ImageDictionary(n_jobs=2, random_state=0).fit(images.first_guess(holes)).inpaint(holes)


def draw(shown: dict[str, dict[str, np.ndarray]], numbers: dict) -> Figure:
    """Draw a part of each photograph, given and filled in, by columns."""
    figure = Figure(figsize=(9.4, 17.4), layout="constrained")
    grid = figure.subplots(5, len(shown))
    for column, (name, pictures) in zip(grid.T, shown.items(), strict=True):
        for axes, (title, picture) in zip(column, pictures.items(), strict=True):
            axes.imshow(picture[150:270, 260:420], interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            told = f", {numbers[name][title][0]} dB" if title in numbers[name] else ""
            axes.set_title(f"{name}: {title}{told}", fontsize=11)
    return figure


def main() -> None:
    """Fill in with all, draw, write the numbers."""
    numbers: dict[str, dict[str, list[float]]] = {}
    shown = {}
    for name in ("china", "flower"):
        image, numbers[name] = load_sample_image(f"{name}.jpg") / 255.0, {}
        for seed in range(N_DRAWS):
            missing = np.random.default_rng(seed).random(image.shape[:2]) < 0.5
            start = time.perf_counter()
            filled = {"ours": learned(image, missing).clip(0, 1)}
            seconds = time.perf_counter() - start
            for method in ("linear", "cubic"):
                filled[method] = interpolated(image, missing, method).clip(0, 1)
            rivals = {
                method: smooth(image, missing, method) for method in ("harmonic", "biharmonic")
            }
            for method, result in (filled | rivals).items():
                numbers[name].setdefault(method, []).append(
                    round(images.psnr(image, result.clip(0, 1)), 2)
                )
            numbers[name].setdefault("our_seconds", []).append(round(seconds, 1))
            if seed == 0:
                given = np.where(missing[:, :, None], 0, image)
                shown[name] = {"original": image, "half is missing": given, **filled}
        print(name, numbers[name], flush=True)
    save_figure(draw(shown, numbers), "003-8-inpainting", 80)
    save("003-8-inpainting", {"psnr": numbers})


if __name__ == "__main__":
    main()
