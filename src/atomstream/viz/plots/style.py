"""The style of all plots: colours, colour maps and sizes of text."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BLUE",
    "COLORS",
    "ERROR",
    "HEAD",
    "IMAGE",
    "ORANGE",
    "SIGNED",
    "TEXT",
    "TICK",
    "WEIGHT",
    "colour",
    "labelled",
]

# The first two colours of the Okabe-Ito palette, which colour-blind readers can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"
# The palette without yellow, which is too pale for a line; more kinds than that repeat it, paler.
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
# Colour maps: pixels, entries with signs, weights from zero on, and sizes of errors.
IMAGE, SIGNED, WEIGHT, ERROR = "gray", "RdBu_r", "Blues", "magma_r"
# Sizes of text in points: heads of figures, titles and labels, ticks and numbers in cells.
HEAD, TEXT, TICK = 10, 8, 7


def colour(number: int) -> tuple[float, float, float]:
    """Return the colour of kind ``number`` of something, as red, green and blue from 0 to 1."""
    turn, place = divmod(number, len(COLORS))
    parts = (int(COLORS[place][i : i + 2], 16) / 255 for i in (1, 3, 5))
    pale = 1 - 0.6**turn
    red, green, blue = (part + pale * (0.9 - part) for part in parts)
    return red, green, blue


def labelled(axes: Any, **texts: str) -> None:
    """Set ``title``, ``xlabel`` and ``ylabel`` of axes in the sizes of the style."""
    for place, text in texts.items():
        getattr(axes, f"set_{place}")(text, fontsize=TEXT)
    axes.tick_params(labelsize=TICK)
