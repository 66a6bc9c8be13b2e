"""An image as a file of its sparse codes: how large it is, and what comes back from it.

Patches side by side are made of a few atoms each (matching pursuit), codes and means are rounded,
and the whole numbers are packed by LZMA, the low bytes first: the atoms in 8 bits, the means of the
channels as differences from the patch before, the number of atoms of each patch, which ones, and
their coefficients. Codes are computed with the rounded atoms, because these are what a reader has.
"""

from __future__ import annotations

import lzma
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from atomstream import ImageDictionary, images
from atomstream.coders import pursue

# One window for all sections: a reader knows how much memory it will use.
FILTERS = [{"id": lzma.FILTER_LZMA1, "preset": 9, "dict_size": 2**22, "lc": 1, "lp": 0, "pb": 0}]
HEADER = 152  # bytes: the sizes, the lengths of the sections, two digests
STEP = 3.0  # of the codes, over the error aimed at
FINER = 4.0  # finer steps for means than for codes: an error of a mean affects all pixels
SHARE = 0.92  # of the allowed error at which pursuit ends; the rest is for rounding
MAX_ATOMS = 255  # in a patch
BLOCK = 4096  # patches coded at a time
COARSEST, FINEST = -10.0, 70.0  # decibels that are aimed at to reach a quality
CLOSE = 0.1  # decibels from the quality at which no closer file is looked for
SHORT = 0.3  # decibels by which the smallest file may be further from it than the closest
MAX_AIMS = 12
GAIN = 0.7  # part of a gap that a finer aim may leave: where more is left, others are in vain


class Packed(NamedTuple):
    """A file: its bytes, those of them that hold the dictionary, and the image it gives back."""

    n_bytes: int
    n_dictionary: int
    image: np.ndarray


def packed(model: ImageDictionary, image: np.ndarray, quality: float) -> Packed:
    """Return the smallest file near a quality in decibels, of an image of uint8 in colour."""
    aim: float | None = quality
    files: list[Packed] = []
    found: list[tuple[float, float]] = []
    while aim is not None and len(files) < MAX_AIMS:
        files.append(_packed_at(image, model.components_, aim))
        found.append((aim, images.psnr(image, files[-1].image)))
        aim = _next_aim(found, quality)
    gaps = [abs(quality - reached) for _, reached in found]
    # Where the atoms allow no more, a finer aim makes a file larger and hardly better.
    enough = max(min(gaps), min(min(gaps) + CLOSE, SHORT))
    near = (file for file, gap in zip(files, gaps, strict=True) if gap <= enough)
    return min(near, key=lambda file: file.n_bytes)


def _next_aim(found: list[tuple[float, float]], quality: float) -> float | None:
    """Return what to aim at, from earlier aims and what they reached; None to look no further."""
    aim, reached = found[-1]
    gap = quality - reached
    if abs(gap) <= CLOSE:
        return None
    # What is reached does not always rise with the aim: near the quality first, then near the aim.
    for key in (itemgetter(1), itemgetter(0)):
        below = max((pair for pair in found if pair[1] < quality), default=None, key=key)
        above = min((pair for pair in found if pair[1] >= quality), default=None, key=key)
        if below and above:
            share = (quality - below[1]) / (above[1] - below[1])
            between = below[0] + min(max(share, 0.1), 0.9) * (above[0] - below[0])
            if all(between != tried for tried, _ in found):
                return between
    if below and above:
        return None
    if gap > 0 and len(found) > 1 and gap > GAIN * (quality - found[-2][1]):
        return None
    further = min(max(aim + (gap if gap > 0 else 2 * gap), COARSEST), FINEST)
    return None if further == aim else further


def _packed_at(image: np.ndarray, atoms: np.ndarray, aim: float) -> Packed:
    """Return the file whose steps of rounding are made for ``aim`` decibels."""
    height, width, channels = image.shape
    size, error = atoms.shape[1], 10 ** (-aim / 20)
    rows, whole = atoms.reshape(len(atoms), -1).astype(float), [-height % size, -width % size]
    rounded = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True)))
    unit = rounded / np.linalg.norm(rounded, axis=1, keepdims=True)
    pixels = np.pad(image.astype(np.float32) / 255, [(0, n) for n in (*whole, 0)], mode="edge")
    down, across = pixels.shape[0] // size, pixels.shape[1] // size
    patches = pixels.reshape(down, size, across, size, channels).swapaxes(1, 2)
    patches = patches.reshape(down * across, -1, channels)
    parts = [
        _rounded(patches[at : at + BLOCK], unit, error) for at in range(0, len(patches), BLOCK)
    ]
    means, codes, made = (np.concatenate(part) for part in zip(*parts, strict=True))
    table = means.reshape(down, across, channels)
    change = table.copy()
    change[:, 1:] -= table[:, :-1]
    change[1:, 0] -= table[:-1, 0]
    places, picks = np.nonzero(codes)
    gaps = np.where(np.diff(places, prepend=-1) > 0, picks, np.diff(picks, prepend=0))
    counts = np.bincount(places, minlength=len(codes))
    dictionary = _n_bytes(_folded(rounded))
    rest = sum(map(_n_bytes, (_folded(change), counts, gaps, _folded(codes[places, picks]))))
    made = made.reshape(down, across, size, size, channels).swapaxes(1, 2)
    back = np.rint(255 * np.clip(made.reshape(pixels.shape), 0, 1)).astype(np.uint8)
    return Packed(HEADER + dictionary + rest, dictionary, back[:height, :width])


def _rounded(
    patches: np.ndarray, unit: np.ndarray, error: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rounded means and codes of patches, and the patches that they give back."""
    step, channels = STEP * error, patches.shape[-1]
    means = np.rint(patches.mean(axis=1) * (FINER / step)).astype(np.int64)
    rest = (patches - means[:, None] * (step / FINER)).reshape(len(patches), -1)
    codes = pursue(rest, unit, rest.shape[1] * (SHARE * error) ** 2, MAX_ATOMS)
    codes = np.clip(np.rint(codes / step), -32768, 32767)
    made = ((codes * step) @ unit).reshape(len(codes), -1, channels)
    return means, codes, made + means[:, None] * (step / FINER)


def _folded(numbers: np.ndarray) -> np.ndarray:
    """Return 0, -1, 1, -2, 2 ... as 0, 1, 2, 3, 4 ..."""
    numbers = numbers.astype(np.int64)
    return np.where(numbers < 0, -2 * numbers - 1, 2 * numbers)


def _n_bytes(numbers: np.ndarray) -> int:
    """Return how many bytes whole numbers from 0 to 65535 take: all low bytes, then all high."""
    planes = np.ascontiguousarray(numbers, "<u2").reshape(-1, 1).view(np.uint8).T.tobytes()
    return len(lzma.compress(planes, lzma.FORMAT_RAW, filters=FILTERS))
