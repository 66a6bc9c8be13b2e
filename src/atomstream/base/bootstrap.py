"""Which rows each replicate learns from, drawn by row, so that a stream needs no storage."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import count, one_of

# Chances that a Poisson variable of mean one is at most 0, 1, ...; the rest is below 1e-17.
UP_TO = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(19)])
PART, FIRST_COLUMN = 0, 1  # streams of numbers; those of replicates follow


@dataclass(frozen=True)
class RowDraws:
    """What becomes of row i of a stream in every replicate, as a function of its place alone.

    A number is drawn for each row and replicate by hashing the two with the seed, so passes over
    the same rows repeat it, and cuts of the stream do not matter.

    Parameters
    ----------
    seed : int
        At least 0.
    n_parts : int
        A replicate leaves out one of so many parts of the rows: number r those of part
        r mod ``n_parts``.
    block_size : int, default=1
        Consecutive rows that are drawn and left out together.
    bootstrap : bool, default=True
        Whether rows that a replicate does not leave out are counted a random number of times.

    References
    ----------
    Künsch (1989), "The jackknife and the bootstrap for general stationary observations": blocks of
    dependent rows.
    """

    SAVED: ClassVar = (
        *(count("seed"), count("n_parts", 1), count("block_size", 1)),
        one_of("bootstrap", (True, False)),
    )

    seed: int
    n_parts: int
    block_size: int = 1
    bootstrap: bool = True

    def part(self, places: NDArray) -> NDArray:
        """Return the part of each row, whole numbers below ``n_parts`` of shape (n_rows,)."""
        # Neighbours of a block get one number, so dependent rows are left out together.
        drawn = self._uniform(np.array([PART]), places // self.block_size)[0]
        return (drawn * self.n_parts).astype(np.int64)

    def weights(self, n_replicates: int, places: NDArray) -> NDArray:
        """Return how often each replicate has each row, float64 (n_replicates, n_rows).

        Poisson variables of mean one, as a bootstrap of a long stream has, or once each, and 0 for
        the rows that the replicate leaves out.
        """
        numbers = np.arange(n_replicates)
        weights = np.ones((n_replicates, len(places)))
        if self.bootstrap:
            # Inverse transform: the number of cumulative chances below a uniform number is Poisson.
            drawn = self._uniform(numbers + FIRST_COLUMN + 1, places // self.block_size)
            weights = np.searchsorted(UP_TO, drawn, side="right").astype(np.float64)
        left_out = self.part(places) == (numbers % self.n_parts)[:, None]
        weights[left_out] = 0
        return weights

    def first_alike(self, number: int) -> int:
        """Return the first replicate that has the same rows as often as this one."""
        return number if self.bootstrap else number % self.n_parts

    def columns(self, n_features: int) -> list[NDArray]:
        """Return parts of the features; each is predicted from all others."""
        drawn = self._uniform(np.array([FIRST_COLUMN]), np.arange(n_features))[0]
        order = np.argsort(drawn, kind="stable")
        return [np.sort(part) for part in np.array_split(order, min(self.n_parts, n_features))]

    def priority(self, places: NDArray) -> NDArray:
        """Return a number in [0, 1) for each row; the rows with the smallest are a fair sample."""
        # What is left after the part, which took the leading digits, is uniform within each part.
        drawn = self._uniform(np.array([PART]), places)[0] * self.n_parts
        return drawn - np.floor(drawn)

    def _uniform(self, streams: NDArray, places: NDArray) -> NDArray:
        """Return numbers in [0, 1), (n_streams, n_places)."""
        # Mixed twice, so that seeds that are neighbours give streams that have nothing in common.
        keys = mixed(np.uint64(self.seed) + mixed(streams.astype(np.uint64)))
        drawn = mixed(keys[:, None] + mixed(places.astype(np.uint64)))
        # The 53 bits that a float64 holds.
        return (drawn >> np.uint64(11)) * 2.0**-53


def mixed(numbers: NDArray) -> NDArray:
    """Return 64-bit numbers in which every bit depends on every bit of those given.

    References
    ----------
    Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators", the finaliser of
    SplitMix64.
    """
    # Products are meant to overflow: arithmetic is modulo 2^64.
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
