"""Experiment 003-8: paintings from a dictionary of colour patches, and as small files beside JPEG.

Strohmeier's thesis, Fig. 3.6: 100 atoms of 20 x 20 x 3 from 30 batches of 1,000 patches,
nonnegative (its penalty is not told; here none), the painting rebuilt from patches 5 pixels apart;
its picture (Afremov) is protected, van Gogh's "Cafe Terrace" stands in. Also: patches 20
pixels apart (blocks), the same dictionary on two other paintings beside their own, and a signed
dictionary; and two rivals fitted to 10,000 patches of the same painting, the 100 leading principal
components, and 100 patches as nonnegative atoms. Then paintings and a photograph as files, their
dictionary of 128 atoms of 8 x 8 inside, at 25 to 40 dB, beside JPEG at equal PSNR: the smallest
file of Pillow's JPEG (optimised, found by bisection, colour whole or halved) that is at least as
good, with the standard tables, made for the eye, and with flat ones, made for PSNR as ours. Leaves
``results/003-8.png`` and ``results/003-8.json``.
"""

from __future__ import annotations

import io

import numpy as np
from image_codec import packed
from matplotlib.figure import Figure
from pictures import save_figure
from PIL import Image
from records import DATA, save
from sklearn.datasets import load_sample_image
from sklearn.decomposition import PCA

from atomstream import ImageDictionary, images, streams

NAMES = ("gogh_cafe", "mona_lisa", "monet1")
QUALITIES = (25, 30, 35, 40)
TABLES = ("standard", "flat")
LINES = {
    "ours": ("ours", "o-"),
    "ours_without_dictionary": ("ours without the dictionary", "o:"),
    "jpeg_standard": ("JPEG, standard tables", "s-"),
    "jpeg_flat": ("JPEG, flat tables", "s--"),
}


def painting(name: str) -> np.ndarray:
    """Return a painting, 8 bits per channel."""
    return np.asarray(Image.open(DATA / "paintings" / f"{name}.jpg").convert("RGB"))


def thesis(**changes: object) -> ImageDictionary:
    """Return a model with the parameters of the thesis."""
    settings = dict(
        alpha=0.0, nonnegative=True, stride=5, n_patches=30_000, batch_size=1000, n_jobs=2
    )
    return ImageDictionary(100, 20, random_state=0, **(settings | changes))


def rivals(source: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """Return the quality of a painting by components and drawn patches of a source."""
    unit, shown = (np.float32(each) / 255 for each in (source, target))
    rng = np.random.default_rng(0)
    rows = next(streams.patches(unit, 20, 10_000, n_samples=10_000, rng=rng))
    axes = PCA(100, random_state=0).fit(rows)
    settings = {"alpha": 0.0, "nonnegative": True, "stride": 5}
    drawn = ImageDictionary.from_components(rows[:100].reshape(-1, 20, 20, 3), **settings)
    return {
        "components": images.psnr(shown, images.reconstruct(axes, shown, 20, stride=5).clip(0, 1)),
        "drawn": images.psnr(target, drawn.reconstruct(target)),
    }


def jpeg(image: np.ndarray, psnr: float, tables: str) -> int:
    """Return the bytes of the smallest JPEG file that is at least as good."""
    found = []
    for subsampling in (0, 2):
        least, most = 1, 95  # of the quality, or of what flat tables are finer than 96
        while least <= most:
            level = (least + most) // 2
            how = (
                {"quality": level} if tables == "standard" else {"qtables": [[96 - level] * 64] * 2}
            )
            file = io.BytesIO()
            Image.fromarray(image).save(file, "JPEG", subsampling=subsampling, optimize=True, **how)
            if images.psnr(image, np.asarray(Image.open(file))) >= psnr:
                found.append(len(file.getvalue()))
                most = level - 1
            else:
                least = level + 1
    return min(found)


def files(image: np.ndarray) -> list[dict[str, float]]:
    """Return bits per pixel and quality of files of an image."""
    model = ImageDictionary(128, n_jobs=2, random_state=0).fit(image)
    n_pixels, rows = image.shape[0] * image.shape[1], []
    for quality in QUALITIES:
        file = packed(model, image, float(quality))
        psnr = images.psnr(image, file.image)
        bare = file.n_bytes - file.n_dictionary
        bits = {"ours": file.n_bytes, "ours_without_dictionary": bare}
        bits |= {f"jpeg_{tables}": jpeg(image, psnr, tables) for tables in TABLES}
        rows.append(
            {"psnr": round(psnr, 2)}
            | {name: round(8 * n / n_pixels, 3) for name, n in bits.items()}
        )
    return rows


def draw(pictures: dict[str, np.ndarray], sizes: dict[str, list[dict]]) -> Figure:
    """Draw pictures in one row each of two, and quality against size below."""
    figure = Figure(figsize=(13, 12.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(2.6, 1))
    for axes, (title, image) in zip(top.subplots(2, 2).flat, pictures.items(), strict=True):
        axes.imshow(image)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=12)
    panels = bottom.subplots(1, len(sizes))
    for axes, (name, rows) in zip(panels, sizes.items(), strict=True):
        for key, (label, style) in LINES.items():
            bits, psnr = [row[key] for row in rows], [row["psnr"] for row in rows]
            axes.plot(bits, psnr, style, ms=4, label=label)
        axes.set(xlabel="bits per pixel", title=name)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("PSNR, dB")
    bottom.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def main() -> None:
    """Rebuild, pack, draw, write the numbers."""
    shown = {name: painting(name) for name in NAMES}
    cafe = thesis().fit(shown["gogh_cafe"])
    rebuilt = cafe.reconstruct(shown["gogh_cafe"])
    blocks = cafe.set_params(stride=20).reconstruct(shown["gogh_cafe"])
    cafe.set_params(stride=5)
    signed = thesis(nonnegative=False).fit(shown["gogh_cafe"]).reconstruct(shown["gogh_cafe"])
    quality = {
        "stride 5": images.psnr(shown["gogh_cafe"], rebuilt),
        "stride 20": images.psnr(shown["gogh_cafe"], blocks),
        "signed, 100 atoms of 20 x 20": images.psnr(shown["gogh_cafe"], signed),
    }
    for name in NAMES[1:]:
        quality[f"{name} by gogh_cafe"] = images.psnr(shown[name], cafe.reconstruct(shown[name]))
        quality[f"{name} by its own"] = images.psnr(
            shown[name], thesis().fit(shown[name]).reconstruct(shown[name])
        )
    beside = {
        f"{target} by {source}": rivals(shown[source], shown[target])
        for target in NAMES
        for source in dict.fromkeys((NAMES[0], target))
    }
    print(quality, beside, flush=True)
    sizes = {
        name: files(image)
        for name, image in (shown | {"china": load_sample_image("china.jpg")}).items()
    }
    part = np.s_[380:580, 150:420]
    pictures = {
        "original": shown["gogh_cafe"][part],
        f"patches 5 apart, {quality['stride 5']:.1f} dB": rebuilt[part],
        f"patches 20 apart, {quality['stride 20']:.1f} dB": blocks[part],
        "the 24 atoms used most": mosaic(cafe),
    }
    save_figure(draw(pictures, sizes), "003-8", 80)
    rounded = {name: round(value, 2) for name, value in quality.items()}
    save("003-8", {"psnr": rounded, "psnr_of_rivals": beside, "bits_per_pixel": sizes})


def mosaic(model: ImageDictionary) -> np.ndarray:
    """Return the 24 most important atoms as one picture, four rows of six."""
    atoms = model.components_[np.argsort(-model.importance_)[:24]]
    atoms = atoms / atoms.max(axis=(1, 2, 3), keepdims=True)
    tiles = np.pad(atoms, ((0, 0), (0, 2), (0, 2), (0, 0)), constant_values=1)
    return tiles.reshape(4, 6, 22, 22, 3).swapaxes(1, 2).reshape(88, 132, 3)


if __name__ == "__main__":
    main()
