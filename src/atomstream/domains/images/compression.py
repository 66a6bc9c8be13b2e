"""Compress an image to a small file: patches side by side, few rounded codes each, LZMA.

    magic, 8 bytes | format, 4 | type, 4 | height, 4 | width, 4 | channels, 4 | patch, 4 | atoms, 4
    | flags, 4 step, 8 | SHA-256 of the dictionary, 32 | five lengths, 5 x 8
    | SHA-256 of the file, 32
    five sections, each compressed: dictionary (or nothing), means, counts, picks, values

Numbers are little-endian. The digest of the file is computed with zeros in its own place. Patches
do not overlap; at the right and lower border the last pixel is repeated. The sections hold whole
numbers (`atomstream.domains.images.packing`):

- dictionary: the atoms rounded to 8 bits, their largest entries to 127 (a reader makes their
  lengths one);
- means: the mean of each channel of each patch, in units of a quarter of ``step``, as differences
  from the previous patch;
- counts: the number of atoms of each patch;
- picks: their numbers in ascending order, as differences;
- values: their coefficients, in units of ``step``.

Codes are computed with the rounded atoms, because these are what a reader has. A reader knows the
length of each section before it unpacks it, and unpacks no more. Nothing in a file is executed.
"""

from __future__ import annotations

import hashlib
import struct
from itertools import accumulate, pairwise
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.coders.pursuit import pursue
from atomstream.core.progress import followed
from atomstream.domains.images.packing import (
    differences,
    folded,
    squeezed,
    sums,
    unfolded,
    unsqueezed,
)
from atomstream.domains.images.pixels import of_type, white
from atomstream.exceptions import InputError

__all__ = ["MAX_PIXELS", "check_limits", "compress", "decompress"]

MAGIC = b"\x93ATOMP\r\n"
FORMAT = 1
HEAD = struct.Struct("<8s8Id32s5Q32s")
DTYPES = ("uint8", "uint16", "float32", "float64")
MAX_PIXELS = 2**28
MAX_ATOMS, MAX_PATCH, MAX_CHANNELS = 2**16 - 1, 256, 64
CENTRED, WITH_DICTIONARY = 1, 2
ROUNDING = 3.0  # step of the codes over the error aimed at; found by measuring
FINER = 4.0  # finer steps for means than for codes: an error of a mean affects all pixels
ERROR = 0.92  # share of the allowed error at which pursuit ends; the rest is for rounding
BLOCK = 4096  # patches coded at a time
BEST, MOST = 60.0, 255  # largest quality in decibels; most atoms in a patch


class Header(NamedTuple):
    """The numbers at the beginning of a file."""

    magic: bytes
    format: int
    dtype: int
    height: int
    width: int
    channels: int
    patch: int
    atoms: int
    flags: int
    step: float
    dictionary: bytes
    lengths: tuple[int, ...]
    digest: bytes

    @classmethod
    def of(cls, data: bytes) -> Header:
        """Return the header of a file."""
        fields = HEAD.unpack_from(data)
        return cls._make([*fields[:11], fields[11:16], fields[16]])

    def packed(self) -> bytes:
        """Return the bytes of the header."""
        return HEAD.pack(*self[:11], *self.lengths, self.digest)

    @property
    def grid(self) -> tuple[int, int]:
        """Number of patches from top to bottom and from left to right."""
        return -(-self.height // self.patch), -(-self.width // self.patch)

    @property
    def n_features(self) -> int:
        """Number of entries of a patch."""
        return self.patch**2 * max(self.channels, 1)


def compress(
    image: NDArray, atoms: NDArray, aim: float, *, centred: bool, include_dictionary: bool
) -> bytes:
    """Return the compressed image as the bytes of a file.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, n_channels)
        At least as large as a patch.
    atoms : ndarray of shape (n_components, size, size[, n_channels])
    aim : float
        What sets the steps of rounding, in decibels: the quality is near it.
    centred : bool
        Whether the atoms are made for patches without their means.
    include_dictionary : bool
    """
    rounded = _rounded(atoms)
    dictionary = rounded.astype(np.int8).tobytes()
    error = 10 ** (-aim / 20)
    height, width = image.shape[:2]
    channels, size = (image.shape[2] if image.ndim == 3 else 0), atoms.shape[1]
    patches, apart = _cut(image, size), max(channels, 1) * centred
    blocks = range(0, len(patches), BLOCK)
    parts = [
        _coded(patches[at : at + BLOCK], _unit(rounded), error, apart)
        for at in followed(blocks, len(blocks), "compressing")
    ]
    means, counts, picks, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    table = means.reshape(-(-height // size), -(-width // size), -1)
    numbers = [folded(differences(table)), counts, picks, folded(values)]
    if include_dictionary:
        numbers.insert(0, folded(rounded))
    sections = [squeezed(part) for part in numbers]
    flags = CENTRED * centred + WITH_DICTIONARY * include_dictionary
    header = Header(
        MAGIC,
        FORMAT,
        DTYPES.index(image.dtype.name),
        height,
        width,
        channels,
        size,
        len(atoms),
        flags,
        ROUNDING * error,
        hashlib.sha256(dictionary).digest(),
        (0,) * (not include_dictionary) + tuple(map(len, sections)),
        bytes(32),
    )
    body = b"".join(sections)
    digest = hashlib.sha256(header.packed() + body).digest()
    return header._replace(digest=digest).packed() + body


def decompress(
    data: bytes, atoms: NDArray | None = None, *, max_pixels: int = MAX_PIXELS
) -> NDArray:
    """Return the image that `ImageDictionary.compress` compressed; the bytes are never executed.

    Parameters
    ----------
    data : bytes
    atoms : ndarray of shape (n_components, size, size[, n_channels]), optional
        The dictionary, for files that do not contain one.
    max_pixels : int, default=2**28
        Images that claim more are refused before memory is allocated.

    Returns
    -------
    ndarray of shape (height, width) or (height, width, n_channels)
        Of the type of the original image.

    Raises
    ------
    InputError
        For bytes of another kind, of a later format, or damaged, for sizes that make no sense,
        and for the wrong dictionary.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(
            f"data must be the bytes of a compressed image, got {type(data).__name__}."
        )
    data = bytes(data)
    header = _checked(data, max_pixels)
    places = pairwise(accumulate(header.lengths, initial=HEAD.size))
    sections = [data[first:end] for first, end in places]
    rounded = _dictionary(header, sections[0], atoms)
    n_patches, channels = header.grid[0] * header.grid[1], max(header.channels, 1)
    n_means = channels if header.flags & CENTRED else 0
    means = sums(
        unfolded(unsqueezed(sections[1], n_patches * n_means)).reshape(*header.grid, n_means)
    )
    counts = unsqueezed(sections[2], n_patches)
    if counts.max() > min(MOST, header.atoms):
        raise InputError("The compressed image claims patches of more atoms than there are.")
    picks = unsqueezed(sections[3], counts.sum())
    values = unfolded(unsqueezed(sections[4], counts.sum()))
    ends = np.concatenate([[0], counts.cumsum()])
    like, shape = np.empty(0, DTYPES[header.dtype]), (header.patch, header.patch, channels)
    image = np.empty((header.height, header.width, channels), like.dtype)
    means = means.reshape(n_patches, 1, -1)
    down, right = np.divmod(np.arange(n_patches), header.grid[1])
    blocks = range(0, n_patches, BLOCK)
    for at in followed(blocks, len(blocks), "decompressing"):
        end = min(at + BLOCK, n_patches)
        inside = slice(ends[at], ends[end])
        codes = _spread(counts[at:end], picks[inside], values[inside], len(rounded)) * header.step
        rows = (codes @ _unit(rounded)).reshape(end - at, -1, channels)
        if n_means:
            rows = rows + means[at:end] * (header.step / FINER)
        for patch, top, left in zip(
            of_type(np.clip(rows, 0, 1), like), down[at:end], right[at:end], strict=True
        ):
            size = header.patch
            place = image[top * size :, left * size :][:size, :size]
            place[:] = patch.reshape(shape)[: place.shape[0], : place.shape[1]]
    return image if header.channels else image[:, :, 0]


def check_limits(image: NDArray, atoms: NDArray, quality: float) -> None:
    """Check that the format can hold an image and its atoms."""
    if image.dtype.name not in DTYPES:
        raise ValueError(
            f"Images of {image.dtype} cannot be compressed; give one of {', '.join(DTYPES)}."
        )
    if isinstance(quality, bool) or not isinstance(quality, Real) or not 0 < quality <= BEST:
        raise ValueError(
            f"quality must be above 0 and at most {BEST:.0f} decibels, got {quality!r}."
        )
    height, width = image.shape[:2]
    channels, size = (image.shape[2] if image.ndim == 3 else 0), atoms.shape[1]
    if (
        height * width > MAX_PIXELS
        or len(atoms) > MAX_ATOMS
        or size > MAX_PATCH
        or channels > MAX_CHANNELS
    ):
        raise ValueError(
            f"At most {MAX_PIXELS} pixels, {MAX_CHANNELS} channels, {MAX_ATOMS} atoms and patches "
            f"of {MAX_PATCH} can be compressed, got an image of shape {image.shape}, {len(atoms)} "
            f"atoms and patches of {size}."
        )


def _rounded(atoms: NDArray) -> NDArray:
    """Return atoms as whole numbers from -127 to 127, (n_components, n_features)."""
    rows = atoms.reshape(len(atoms), -1).astype(float)
    top = np.abs(rows).max(axis=1, keepdims=True)
    return np.rint(rows * np.divide(127, top, out=np.zeros_like(top), where=top > 0))


def _unit(rounded: NDArray) -> NDArray:
    """Return rounded atoms scaled to length one; atoms of length 0 stay 0."""
    return rounded / np.maximum(np.linalg.norm(rounded, axis=1, keepdims=True), 1)


def _cut(image: NDArray, size: int) -> NDArray:
    """Return patches side by side as rows, channels last, white 1; border pixels are repeated."""
    pixels = np.clip(image.reshape(*image.shape[:2], -1).astype(np.float32) / white(image), 0, 1)
    more = [(0, -n % size) for n in image.shape[:2]]
    pixels = np.pad(pixels, (*more, (0, 0)), mode="edge")
    height, width, channels = pixels.shape
    apart = pixels.reshape(height // size, size, width // size, size, channels)
    return apart.swapaxes(1, 2).reshape(-1, size * size * channels)


def _coded(
    rows: NDArray, atoms: NDArray, error: float, centred: int
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return rounded means of patches, counts of atoms, differences of picks, and rounded codes.

    ``centred`` is the number of channels whose means are coded separately, 0 for none.
    """
    apart, step = rows.reshape(len(rows), -1, max(centred, 1)), ROUNDING * error
    means = np.rint(apart.mean(axis=1) * (FINER / step)).astype(np.int64)[:, :centred]
    rest = (apart - means[:, None] * (step / FINER)).reshape(rows.shape) if centred else rows
    codes = pursue(rest, atoms, rows.shape[1] * (ERROR * error) ** 2, MOST)
    rounded = np.clip(np.rint(codes / step), -32768, 32767)
    places, picks = np.nonzero(rounded)
    first = np.concatenate([[True], places[1:] != places[:-1]])[: len(places)]
    gaps = np.where(first, picks, np.diff(picks, prepend=0))
    return means, np.bincount(places, minlength=len(rows)), gaps, rounded[places, picks]


def _spread(counts: NDArray, gaps: NDArray, values: NDArray, n_atoms: int) -> NDArray:
    """Return the codes that `_coded` wrote as a table, (n_patches, n_atoms)."""
    rows = np.repeat(np.arange(len(counts)), counts)
    total = np.concatenate([[0], gaps.cumsum()])
    before = total[np.concatenate([[0], counts.cumsum()])[:-1]]
    picks = total[1:] - np.repeat(before, counts)
    if len(picks) and picks.max() >= n_atoms:
        raise InputError("The compressed image uses atoms that are not in its dictionary.")
    codes = np.zeros((len(counts), n_atoms))
    codes[rows, picks] = values
    return codes


def _dictionary(header: Header, section: bytes, atoms: NDArray | None) -> NDArray:
    """Return the rounded atoms: those of the file, or the given ones if their digest agrees."""
    n_entries = header.atoms * header.n_features
    if header.flags & WITH_DICTIONARY:
        rounded = unfolded(unsqueezed(section, n_entries)).reshape(header.atoms, -1)
        if np.abs(rounded).max() > 127:
            raise InputError("The compressed image has atoms of more than 8 bits.")
    elif atoms is None:
        raise InputError(
            "The compressed image does not contain its dictionary; decompress it with the model "
            "that compressed it."
        )
    else:
        rounded = _rounded(atoms)
    if hashlib.sha256(rounded.astype(np.int8).tobytes()).digest() != header.dictionary:
        raise InputError("The image was compressed with another dictionary.")
    return rounded


def _checked(data: bytes, max_pixels: int) -> Header:
    """Validate bytes and return their header."""
    if len(data) < HEAD.size or not data.startswith(MAGIC):
        raise InputError(
            f"These {len(data)} bytes are not an image compressed by atomstream; they begin with "
            f"{data[:8]!r}."
        )
    header = Header.of(data)
    if header.format != FORMAT:
        raise InputError(
            f"The image has format {header.format}, and this release reads {FORMAT}; install a "
            "later release."
        )
    body = memoryview(data)[HEAD.size :]
    if hashlib.sha256(header._replace(digest=bytes(32)).packed() + body).digest() != header.digest:
        raise InputError(
            "The compressed image is damaged: its digest does not agree with its content."
        )
    sensible = (
        header.dtype < len(DTYPES),
        header.height * header.width > 0,
        header.channels <= MAX_CHANNELS,
        1 <= header.patch <= min(MAX_PATCH, header.height, header.width),
        1 <= header.atoms <= MAX_ATOMS,
        header.flags <= (CENTRED | WITH_DICTIONARY),
        0 < header.step < 10,
        sum(header.lengths) == len(body),
    )
    if not all(sensible):
        raise InputError("The compressed image claims sizes that make no sense.")
    if header.height * header.width > max_pixels:
        raise InputError(
            f"The compressed image claims {header.height} x {header.width} pixels, more than "
            f"max_pixels={max_pixels}."
        )
    return header
