"""Figures that stay small in a repository."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure
from PIL import Image
from records import RESULTS


def save_figure(figure: Figure, name: str, dpi: int) -> None:
    """Write ``results/<name>.png`` with 256 colours, which takes a third of the bytes."""
    _write(_drawn(figure, dpi), name)


def save_rows(rows: list[list[Figure]], name: str, width: int) -> None:
    """Write figures in rows as one picture, each row enlarged to so many pixels of width."""
    strips = []
    for row in rows:
        dpi = width / sum(figure.get_figwidth() for figure in row)
        strips.append(_joined([_drawn(figure, dpi) for figure in row], across=True))
    _write(_joined(strips, across=False), name)


def _drawn(figure: Figure, dpi: float) -> Image.Image:
    """Return a figure as an image."""
    file = BytesIO()
    figure.savefig(file, dpi=dpi, format="png")
    return Image.open(file).convert("RGB")


def _joined(images: list[Image.Image], *, across: bool) -> Image.Image:
    """Return images side by side or one below the other, centred on white."""
    widths, heights = zip(*(image.size for image in images), strict=True)
    whole = (sum(widths), max(heights)) if across else (max(widths), sum(heights))
    joined, place = Image.new("RGB", whole, "white"), 0
    for image, wide, high in zip(images, widths, heights, strict=True):
        joined.paste(image, (place, (whole[1] - high) // 2) if across else (0, place))
        place += wide if across else high
    return joined


def _write(image: Image.Image, name: str) -> None:
    """Write an image with 256 colours."""
    RESULTS.mkdir(exist_ok=True)
    image.quantize(256).save(RESULTS / f"{name}.png", optimize=True)
