"""Figures with photographs in them as small files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image


def save(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure as a PNG of 256 colours."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dpi)
    squeeze(Image.open(file), path)


def squeeze(image: Image.Image, path: Path) -> None:
    """Write an image with 256 colours."""
    image.convert("RGB").quantize(256).save(path, optimize=True)
