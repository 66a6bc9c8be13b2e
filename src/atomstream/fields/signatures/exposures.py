"""How many mutations of each sample a signature explains, and which samples have too many."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atomstream.base import RandomSource, check_count, counted, generator, unit
from atomstream.exceptions import DataWarning
from atomstream.fields.signatures.few_atoms import few_codes, possible
from atomstream.fields.signatures.tables import ChannelTable, check_counts, write_tabs

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
    left_out : ndarray of shape (n_samples,)
        Share of the mutations of each sample in channels that no signature has: no signature can
        make them, and the exposures are to the others.
    """

    values: NDArray
    samples: list[str]
    signatures: list[str]
    cosine: NDArray
    left_out: NDArray

    def write(self, path: str | Path) -> None:
        """Write a tab-separated table with samples in rows, ``Samples`` first."""
        rows = zip(self.samples, *self.values.T, strict=True)
        write_tabs(path, ["Samples", *self.signatures], rows)


def refit(mutations: ChannelTable, catalogue: ChannelTable) -> Exposures:
    """Return the exposures of samples to known signatures, few of them in each sample.

    A signature stays in a sample where the counts need it: where the divergence (minus the
    logarithm of the Poisson likelihood) would rise by more than the price of a signature in the
    Bayesian information criterion, times the dispersion of the sample
    (`atomstream.fields.signatures.few_atoms`). Channels that are 0 in all signatures are left out.

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

    Warns
    -----
    DataWarning
        For mutations in channels that no signature has.
    """
    profiles, counts = _profiles(mutations, catalogue), mutations.values
    values, outside = few_codes(counts, profiles), counts * ~possible(counts, profiles)
    made = unit(values @ profiles) * unit(counts)
    left_out = outside.sum(axis=1) / counts.sum(axis=1)
    if (places := np.flatnonzero(left_out)).size:
        first, n_samples = places[0], counted(len(counts), "sample")
        channel, name = mutations.channels[int(outside[first].argmax())], mutations.names[first]
        warnings.warn(
            f"{100 * left_out[first]:.3g} % of the mutations of {name!r} are in channels that no "
            f"signature has, such as {channel!r}, and are left out ({len(places)} of {n_samples} "
            "have such mutations); take signatures that have these channels to explain them.",
            DataWarning,
            stacklevel=2,
        )
    return Exposures(values, mutations.names, catalogue.names, made.sum(axis=1), left_out)


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
