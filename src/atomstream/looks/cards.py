"""The atoms of a report, one card for each: what is known of an atom, ready to be shown."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import library

MOST_PIXELS = 64  # height and width of a small picture
MAX_CURVES, MAX_PLACES = 4, 128  # curves in a picture, and places of a curve
WIDTH, HEIGHT = 120.0, 60.0  # the box that curves are drawn in


@dataclass(frozen=True)
class Picture:
    """A small picture: an image, or a few curves.

    Attributes
    ----------
    png : str
        Base64 text of the image; empty for curves.
    curves : list of str
        Points of each curve in a box of 120 x 60, as SVG writes them.
    zero : float or None
        Height of zero in that box, where it is inside.
    """

    png: str = ""
    curves: Sequence[str] = ()
    zero: float | None = None


@dataclass(frozen=True)
class Term:
    """A word of a topic.

    Attributes
    ----------
    word : str
    share : float
        Probability of the word in the topic.
    lift : float
        The same over its probability in all topics together.
    """

    word: str
    share: float
    lift: float


@dataclass(frozen=True)
class Sample:
    """A sample that uses an atom.

    Attributes
    ----------
    label : str
        Its name or number.
    share : float
        Share of the atom in its code.
    picture : Picture or None
    text : str
        Its text, or its largest features.
    uses : list of (int, float)
        The atoms that it uses most, with their shares.
    """

    label: str
    share: float
    picture: Picture | None = None
    text: str = ""
    uses: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Card:
    """An atom.

    Attributes
    ----------
    number : int
    figures : dict of str to float
        Its importance, error and change, as far as they are known.
    about : dict of str to values
        What else a table of atoms tells.
    text : str
    picture : Picture or None
    past : list of Picture
        How it looked at some earlier times.
    terms : list of Term
    samples : list of Sample
        Those that use it most.
    course : list of float
        Its share at each time.
    place : int or None
        Its place in the order in which neighbours are alike.
    """

    number: int
    figures: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    picture: Picture | None = None
    past: Sequence[Picture] = ()
    terms: Sequence[Term] = ()
    samples: Sequence[Sample] = ()
    course: Sequence[float] = ()
    place: int | None = None


@dataclass(frozen=True)
class Cards:
    """All cards of a report.

    Attributes
    ----------
    noun : str
        Such as "atom" or "topic".
    cards : list of Card
        The most important first.
    n_atoms : int
        Of the model; more than there are cards in very large ones.
    times : list of str
        Names of the times of the courses.
    frames : list of int
        For each time the place among the pictures of an atom: first those of the past, then that of
        now. Empty where there are none of the past.
    notes : list of str
        Sentences on what the cards show.
    saved : dict
        The edits made so far, as in ``edits.json``: with its run and its step.
    """

    noun: str
    cards: Sequence[Card]
    n_atoms: int
    times: Sequence[str] = ()
    frames: Sequence[int] = ()
    notes: Sequence[str] = ()
    saved: Mapping[str, Any] = field(default_factory=dict)


def pictures(values: NDArray) -> list[Picture]:
    """Return small pictures of several things of one shape.

    Parameters
    ----------
    values : ndarray
        The first axis counts the things. Each of them is a curve, of shape (n,), or an image, of
        shape (height, width) or (height, width, 3).

    Returns
    -------
    list of Picture
        Images are in grey or in colour, each from its smallest entry to its largest.
    """
    values = np.nan_to_num(np.asarray(values, np.float64))
    if values.ndim == 2:
        return [curves(one[:, None]) for one in values]
    return [_image(one) for one in values]


def curves(columns: NDArray) -> Picture:
    """Return the columns of an array of shape (n, n_curves) as curves."""
    # A missing entry would leave a hole in the points of a curve.
    columns = np.nan_to_num(np.asarray(columns, np.float64)[:, :MAX_CURVES])
    # Means of equal parts: a page holds hundreds of such pictures.
    parts = np.array_split(columns, min(len(columns), MAX_PLACES))
    means = np.array([part.mean(axis=0) for part in parts])
    low, high = float(means.min()), float(means.max())
    # A line at zero only where the curve crosses it.
    zero = _heights(np.zeros(1), low, high)[0] if low < 0 < high else None
    return Picture(curves=[_points(_heights(curve, low, high)) for curve in means.T], zero=zero)


def bars(values: NDArray) -> Picture:
    """Return the entries of a vector as bars, each from zero to its height."""
    values = np.nan_to_num(np.asarray(values, np.float64))
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    zero = float(_heights(np.zeros(1), low, high)[0])
    width = WIDTH / len(values)
    corners = [
        f"{width * x:.4g},{y:.4g}"
        for place, height in enumerate(_heights(values, low, high))
        for x, ends in ((place + 0.15, (zero, height)), (place + 0.85, (height, zero)))
        for y in ends
    ]
    return Picture(curves=[" ".join(corners)], zero=zero)


def course_points(course: Sequence[float]) -> str:
    """Return the shares of an atom at all times as the points of a curve that begins at zero."""
    shares = np.nan_to_num(np.asarray(course, np.float64))
    return _points(_heights(shares, 0.0, float(shares.max())))


def _heights(values: NDArray, low: float, high: float) -> NDArray:
    """Return the heights of values in the box, from the top."""
    # Two units of margin, for lines have a width; a constant curve lies at the top without dividing
    # by zero.
    heights: NDArray = 2 + (high - values) * (HEIGHT - 4) / ((high - low) or 1.0)
    return heights.round(2)


def _points(heights: NDArray) -> str:
    # One point is drawn as a level line.
    heights = np.repeat(heights, 2) if len(heights) == 1 else heights
    across = np.linspace(0, WIDTH, len(heights))
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in zip(across, heights, strict=True))


def coarse(pixels: NDArray) -> NDArray:
    """Return an image with so few of its pixels that it makes a small picture."""
    step = -(-max(pixels.shape[:2]) // MOST_PIXELS)
    return pixels[::step, ::step]


def _image(pixels: NDArray) -> Picture:
    pixels = coarse(pixels)
    # Each picture over its own range: atoms have no common scale.
    low, high = pixels.min(), pixels.max()
    shades = np.round(255 * (pixels - low) / ((high - low) or 1.0)).astype(np.uint8)
    image, buffer = library("PIL.Image", "Pictures"), io.BytesIO()
    image.fromarray(shades).save(buffer, format="png")
    return Picture(png=base64.b64encode(buffer.getvalue()).decode("ascii"))
