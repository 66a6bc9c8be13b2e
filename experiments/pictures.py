"""Saving figures that stay small in a repository."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image


def save_small(figure: Figure, path: Path, dpi: int, *, dithered: bool = False) -> None:
    """Write a figure as a PNG of at most 256 colours, a third of the size of one with all of them.

    Dithering keeps the gradients of a picture that is mostly white, and makes others larger.
    """
    drawn = BytesIO()
    figure.savefig(drawn, dpi=dpi, format="png")
    image = Image.open(drawn).convert("RGB")
    small = image.quantize(256)
    if dithered:
        palette = image.quantize(256, Image.Quantize.MAXCOVERAGE)
        small = image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
    small.save(path, optimize=True)
