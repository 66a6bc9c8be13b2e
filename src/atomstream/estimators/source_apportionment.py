"""Sources of air and water: many starts, the best Q, block bootstraps, numbers of factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import RandomSource, check_count, generator
from atomstream.base.progress import track
from atomstream.domains.sources import Factors, Ranges, SpeciesTable, block_rows, mapped_to
from atomstream.estimators.nmf import OnlineNMF
from atomstream.exceptions import InputError

NEAR_BEST = 1.01  # times the best Q: starts that come to the same end
SAME = 0.9  # correlation of contributions of the same factor in two starts


def find_sources(
    table: SpeciesTable, n_factors: int, *, n_starts: int = 20, random_state: RandomSource = None
) -> Factors:
    """Find sources by positive matrix factorization: of many starts the one with the least Q.

    Minimises the sum over all entries of ((x - gf) / s)^2 over nonnegative contributions g and
    profiles f, with s the uncertainties (three times as large for weak species).

    Parameters
    ----------
    table : SpeciesTable
        As `atomstream.sources.read` returns it.
    n_factors : int
        Number of sources, below the numbers of species and times.
    n_starts : int, default=20
        Random starts.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    Factors
        Those of the best start.

    References
    ----------
    Paatero, Tapper (1994), "Positive matrix factorization: a non-negative factor model with optimal
    utilization of error estimates of data values".

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import find_sources, sources
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.gamma(1, 1, (100, 2)) @ rng.gamma(1, 1, (2, 5))
    >>> noise = 0.05 * clean + 0.01
    >>> values = np.abs(clean + noise * rng.standard_normal(clean.shape))
    >>> table = sources.SpeciesTable(values, noise, ["Fe", "Zn", "Pb", "SO4", "OC"])
    >>> found = find_sources(table, 2, n_starts=3, random_state=0)
    >>> found.profiles.shape, bool(0.8 < found.q_true / found.q_expected < 1.2)
    ((2, 5), True)
    """
    seeds = generator(random_state).spawn(check_count("n_starts", n_starts))
    found = (factors_of(table, fitted(table, n_factors, seed).components_) for seed in seeds)
    return min(found, key=lambda each: each.q_true)


def bootstrap_sources(
    found: Factors,
    n_bootstraps: int = 100,
    *,
    block: int | None = None,
    random_state: RandomSource = None,
) -> Ranges:
    """Return how often factors return when times are drawn again, and ranges of profiles.

    Each block bootstrap is fitted from a random start of its own. Its factors are mapped to those
    found by the correlation of their contributions at all times of the table.

    Parameters
    ----------
    found : Factors
        As `find_sources` returns them.
    n_bootstraps : int, default=100
        Each takes as long as one start.
    block : int, optional
        Consecutive times that are drawn together; by default the cube root of their number.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    Ranges
        Of the profiles, with how often each factor is mapped.
    """
    seeds = generator(random_state).spawn(check_count("n_bootstraps", n_bootstraps))
    table, n_factors = found.table, len(found.profiles)
    others = []
    for seed in track(seeds, n_bootstraps, "bootstraps"):
        rows = block_rows(len(table.values), block, seed)
        others.append(factors_of(table, fitted(table, n_factors, seed, rows).components_))
    return Ranges.of(found, others)


def fitted(
    table: SpeciesTable, n_factors: int, seed: np.random.Generator, rows: NDArray | None = None
) -> OnlineNMF:
    """Return a fit of the scaled table, or of some of its rows, from one random start."""
    X, weights = table.problem()
    if rows is not None:
        X, weights = X[rows], weights[rows]
    if not 1 <= n_factors < min(X.shape):
        raise InputError(
            f"{table.source} has {X.shape[0]} times and {X.shape[1]} species to fit; needed are "
            f"more than the number of factors, {n_factors}."
        )
    return OnlineNMF(n_factors, random_state=seed).fit(X, entry_weight=weights)


def factors_of(table: SpeciesTable, atoms: NDArray) -> Factors:
    """Return factors whose profiles are atoms of the scaled table, with optimal contributions."""
    X, weights = table.problem()
    codes = OnlineNMF.from_components(atoms).transform(X, entry_weight=weights)
    return Factors.of(table, atoms, codes)


def number_facts(starts: Sequence[Factors], ranges: Ranges) -> dict[str, float]:
    """Return what speaks for a number of factors: Q, and how often its factors return."""
    best = min(starts, key=lambda each: each.q_true)
    near = [each.q_true <= NEAR_BEST * best.q_true for each in starts]
    every = np.arange(len(best.profiles))
    places = [mapped_to(best.contributions, each.contributions, SAME) for each in starts]
    return {
        "factors": len(every),
        "q_true": best.q_true,
        "q_robust": best.q_robust,
        "q_expected": best.q_expected,
        "q_over_expected": best.q_true / best.q_expected if best.q_expected > 0 else np.nan,
        "starts_near_best": float(np.mean(near)),
        "weakest_in_starts": float(np.mean([np.isin(every, p) for p in places], axis=0).min()),
        "weakest_in_bootstraps": float(ranges.mapped.min() / max(ranges.n_bootstraps, 1)),
    }
