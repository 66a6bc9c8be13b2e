"""Which known signatures the found ones are, and which they are made of."""

from typing import NamedTuple

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import check_count, check_number
from atomstream.dictionaries.matching import align
from atomstream.fields.signatures.tables import ChannelTable


class Match(NamedTuple):
    """A found signature and the known one that is its partner; none where all are taken."""

    name: str
    known: str
    cosine: float


class Decomposition(NamedTuple):
    """A found signature as a sum of known ones.

    Attributes
    ----------
    name : str
    known : tuple of str
        The largest share first.
    shares : tuple of float
        Of sum one.
    cosine : float
        Of the found signature and the sum.
    """

    name: str
    known: tuple[str, ...]
    shares: tuple[float, ...]
    cosine: float


def match(found: ChannelTable, catalogue: ChannelTable) -> list[Match]:
    """Return the known signature that each found one is matched with, one to one.

    Partners are those with the largest sum of cosines, as `atomstream.align` finds them.

    Parameters
    ----------
    found, catalogue : ChannelTable
        Over the same channels, in any order.
    """
    known = catalogue.like(found)
    paired = align(found.values, known.values)
    return [
        Match(name, "" if other < 0 else known.names[other], float(cosine))
        for name, other, cosine in zip(found.names, paired.order, paired.similarity, strict=True)
    ]


def decompose(
    found: ChannelTable, catalogue: ChannelTable, most: int = 3, *, min_gain: float = 0.01
) -> list[Decomposition]:
    """Return each found signature as a sum of at most a few known ones.

    The known signature that raises the cosine most comes in, one after the other; those in it are
    exchanged as long as that raises it further. A further one has to raise it by ``min_gain``.

    Parameters
    ----------
    found, catalogue : ChannelTable
        Over the same channels, in any order.
    most : int, default=3
        Known signatures in a sum.
    min_gain : float, default=0.01
    """
    known, most = catalogue.like(found), check_count("most", most)
    check_number("min_gain", min_gain)
    sums = []
    for name, profile in zip(found.names, found.values, strict=True):
        places, weights, cosine = _sum_of(profile, known.values, most, min_gain)
        order = [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]
        # Nothing known is in a profile that has none of its channels: its sum is empty.
        shares = weights / max(weights.sum(), 1e-300)
        parts = tuple(known.names[places[i]] for i in order)
        sums.append(Decomposition(name, parts, tuple(float(shares[i]) for i in order), cosine))
    return sums


def _sum_of(
    profile: NDArray, known: NDArray, most: int, min_gain: float
) -> tuple[list[int], NDArray, float]:
    """Return places of known signatures, their weights, and the cosine of the sum."""
    places: list[int] = []
    weights, cosine = np.zeros(0), -np.inf
    while len(places) < most:
        tried, at = _best([*places, -1], len(places), profile, known)
        for slot in range(len(tried)):  # an earlier one may be worse beside the newest
            tried, at = max((_best(tried, slot, profile, known), (tried, at)), key=lambda x: x[1])
        if places and at < cosine + min_gain:
            break
        places, cosine = tried, at
        weights = scipy.optimize.nnls(known[places].T, profile)[0]
    return places, weights, float(cosine)


def _best(
    places: list[int], slot: int, profile: NDArray, known: NDArray
) -> tuple[list[int], float]:
    """Return places with the best signature in one slot, and the cosine of their sum."""
    others = places[:slot] + places[slot + 1 :]
    choices = [
        places[:slot] + [i] + places[slot + 1 :] for i in range(len(known)) if i not in others
    ]
    cosines = [_cosine(profile, known[chosen]) for chosen in choices]
    return choices[int(np.argmax(cosines))], max(cosines)


def _cosine(profile: NDArray, parts: NDArray) -> float:
    """Return the cosine of a profile and the sum of parts that is nearest to it."""
    made = scipy.optimize.nnls(parts.T, profile)[0] @ parts
    return float(made @ profile / max(np.linalg.norm(made) * np.linalg.norm(profile), 1e-300))
