"""Which known signatures the found ones are, and how many mutations of each sample they explain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import RandomSource, check_count, check_number, generator, unit
from atomstream.coders.few_atoms import few_codes
from atomstream.dictionaries.matching import align
from atomstream.domains.signatures.tables import ChannelTable, check_counts, write_tabs


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
        shares = weights / weights.sum()
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


FENCE = 1.5  # interquartile ranges of the logarithms above their upper quartile
ENDS = (2.5, 97.5)  # per cent


@dataclass(frozen=True)
class Exposures:
    """Mutations of each sample by signature.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_signatures)
        Numbers of mutations; 0 where a signature is not needed.
    samples, signatures : list of str
    cosine : ndarray of shape (n_samples,)
        Of the counts of each sample and what the signatures make of them.
    """

    values: NDArray
    samples: list[str]
    signatures: list[str]
    cosine: NDArray

    def write(self, path: str | Path) -> None:
        """Write a tab-separated table with samples in rows, ``Samples`` first."""
        rows = zip(self.samples, *self.values.T, strict=True)
        write_tabs(path, ["Samples", *self.signatures], rows)


def refit(mutations: ChannelTable, catalogue: ChannelTable) -> Exposures:
    """Return the exposures of samples to known signatures, few of them in each sample.

    A signature stays in a sample where the counts need it: where the divergence (minus the
    logarithm of the Poisson likelihood) would rise by more than the price of a signature in the
    Bayesian information criterion, times the dispersion of the sample
    (`atomstream.coders.few_atoms`).

    Parameters
    ----------
    mutations : ChannelTable
        Counts.
    catalogue : ChannelTable
        Signatures, over the same channels in any order.

    Raises
    ------
    InputError
        For channels that one of the two lacks, fractions, and samples without mutations.
    """
    profiles = _profiles(mutations, catalogue)
    values = few_codes(mutations.values, profiles)
    made = unit(values @ profiles) * unit(mutations.values)
    return Exposures(values, mutations.names, catalogue.names, made.sum(axis=1))


def exposure_intervals(
    mutations: ChannelTable,
    catalogue: ChannelTable,
    fitted: Exposures,
    *,
    n_resamples: int = 100,
    random_state: RandomSource = None,
) -> tuple[NDArray, NDArray]:
    """Return intervals of 95 % of exposures, by drawing the counts of each sample again.

    Every count is replaced by a Poisson number of that mean. The signatures of a sample stay those
    that `refit` has chosen: intervals tell how surely these are told apart, not whether others
    would be chosen.

    Parameters
    ----------
    mutations, catalogue : ChannelTable
        As given to `refit`.
    fitted : Exposures
        What it returned.
    n_resamples : int, default=100
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    low, high : ndarray of shape (n_samples, n_signatures)
    """
    profiles, rng = _profiles(mutations, catalogue), generator(random_state)
    n_resamples = check_count("n_resamples", n_resamples)
    drawn = rng.poisson(mutations.values, (n_resamples, *mutations.values.shape)).astype(float)
    # A row of zeros has no code: one mutation of the most frequent channel stands for it.
    draws, rows = np.nonzero(drawn.sum(axis=2) == 0)
    drawn[draws, rows, mutations.values[rows].argmax(axis=1)] = 1
    codes = [few_codes(counts, profiles, fitted.values > 0) for counts in drawn]
    low, high = np.percentile(codes, ENDS, axis=0)
    return low, high


def _profiles(mutations: ChannelTable, catalogue: ChannelTable) -> NDArray:
    """Return the signatures over the channels of the counts, each of sum one."""
    check_counts(mutations)
    values = catalogue.like(mutations).values
    return np.asarray(values / np.maximum(values.sum(axis=1, keepdims=True), 1e-300))


def hypermutated(mutations: ChannelTable) -> tuple[float, list[str]]:
    """Return the number of mutations above which samples are hypermutated, and their names.

    It is Tukey's fence on the logarithms of the totals: the upper quartile plus 1.5 times the range
    between the quartiles.

    Parameters
    ----------
    mutations : ChannelTable
    """
    totals = mutations.values.sum(axis=1)
    lower, upper = np.percentile(np.log(np.maximum(totals, 1)), (25, 75))
    limit = float(np.exp(upper + FENCE * (upper - lower)))
    pairs = zip(mutations.names, totals, strict=True)
    return limit, [name for name, total in pairs if total > limit]


def capped(mutations: ChannelTable, limit: float | None = None) -> ChannelTable:
    """Return counts in which no sample has more mutations than a limit: larger ones are scaled.

    Parameters
    ----------
    mutations : ChannelTable
    limit : float, optional
        By default that of `hypermutated`.
    """
    most = hypermutated(mutations)[0] if limit is None else limit
    totals = mutations.values.sum(axis=1, keepdims=True)
    scale = np.minimum(most / np.maximum(totals, 1e-300), 1.0)
    return replace(mutations, values=mutations.values * scale)
