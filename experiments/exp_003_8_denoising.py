"""Denoising of photographs beside scikit-image's non-local means and wavelets.

White noise of standard deviation 10, 25 and 50 (of 255) on scikit-image's "camera" and
scikit-learn's "china", grey; one draw each. Everybody is told the noise: non-local means with
patches of 5, distance 6 (h = 0.6 sigma, and the fast mode with h = 0.8 sigma, as scikit-image's
gallery has them), wavelets with BayesShrink. Ours: 256 atoms of 8 x 8 learned on the noisy picture,
all else default; also with the noise estimated, and with a dictionary of another photograph
("flower") that does not adapt. Needs scikit-image and PyWavelets. Leaves
``results/003-8-denoising.png`` and ``results/003-8-denoising.json``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from pictures import save_figure
from records import save
from skimage import data
from skimage.restoration import denoise_nl_means, denoise_wavelet
from sklearn.datasets import load_sample_image

from atomstream import ImageDictionary, images

SIGMAS, LUMA = (10, 25, 50), np.array([0.2989, 0.5870, 0.1140])
CHINA, FLOWER = (load_sample_image(name) / 255.0 for name in ("china.jpg", "flower.jpg"))
PHOTOGRAPHS = {"camera": data.camera() / 255.0, "china, grey": CHINA @ LUMA}


def contenders(noisy: np.ndarray, sigma: float) -> dict[str, Callable[[], np.ndarray]]:
    """Return all methods by name."""
    channels = {"channel_axis": None if noisy.ndim == 2 else 2}
    means = dict(patch_size=5, patch_distance=6, sigma=sigma, **channels)
    flower = FLOWER if noisy.ndim == 3 else FLOWER @ LUMA

    def model(image: np.ndarray) -> ImageDictionary:
        return ImageDictionary(n_jobs=2, random_state=0).fit(image)

    return {
        "ours": lambda: model(noisy).denoise(noisy, sigma),
        "ours, noise estimated": lambda: model(noisy).denoise(noisy),
        "ours, dictionary of flower": lambda: model(flower).denoise(noisy, sigma, adapt=False),
        "nl-means": lambda: denoise_nl_means(noisy, h=0.6 * sigma, fast_mode=False, **means),
        "nl-means, fast": lambda: denoise_nl_means(noisy, h=0.8 * sigma, fast_mode=True, **means),
        "wavelets": lambda: denoise_wavelet(
            noisy, sigma=sigma, rescale_sigma=True, method="BayesShrink", **channels
        ),
    }


def draw(shown: list[tuple[str, np.ndarray]]) -> Figure:
    """Draw a part of pictures, two in a row."""
    figure = Figure(figsize=(11, 11.6), layout="constrained")
    part = np.s_[60:260, 150:350]
    for axes, (title, image) in zip(figure.subplots(2, 2).flat, shown, strict=True):
        axes.imshow(image[part], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=12)
    return figure


def main() -> None:
    """Denoise with all, draw one, write the numbers."""
    numbers, shown = {}, []
    for name, image in PHOTOGRAPHS.items():
        for level in SIGMAS:
            noisy = image + level / 255 * np.random.default_rng(0).standard_normal(image.shape)
            found = numbers[f"{name}, sigma {level}"] = {}
            for method, denoised in contenders(noisy, level / 255).items():
                clean = denoised().clip(0, 1)
                found[method] = round(images.psnr(image, clean), 2)
                if (name, level) == ("camera", 25) and method in (
                    "ours",
                    "nl-means, fast",
                    "wavelets",
                ):
                    shown.append((f"{method}, {found[method]:.2f} dB", clean))
                    picture = noisy
            print(name, level, found, flush=True)
    save_figure(draw([("noise of 25", picture), *shown]), "003-8-denoising", 80)
    save("003-8-denoising", {"psnr": numbers})


if __name__ == "__main__":
    main()
