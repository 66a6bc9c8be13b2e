"""Sources of air and water: many starts, the best Q, block bootstraps, numbers of factors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import RandomSource, check_count, generator, track
from atomstream.estimators.nmf import OnlineNMF
from atomstream.exceptions import InputError
from atomstream.fields.sources import Factors, Ranges, SpeciesTable, block_rows, mapped_to
from atomstream.fields.sources.anchors import in_ranges
from atomstream.fields.sources.factors import MAPPED_SHARE
from atomstream.fields.sources.species import by_species

NEAR_BEST = 1.01  # times the best Q: starts that come to the same end
SAME = 0.9  # correlation of contributions of the same factor in two starts


def find_sources(
    table: SpeciesTable,
    n_factors: int,
    *,
    anchors: Any = None,
    a_value: float = 0.0,
    n_starts: int = 20,
    random_state: RandomSource = None,
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
    anchors : array-like of shape (n_anchors, n_used), frame or path, optional
        Profiles that are known, in concentrations of the species that are fitted (``table.used``),
        up to a factor each; NaN where an entry is free. They are the first ones that are found.
        Columns of a frame or file have the names of species; entries of others are free.
    a_value : float, default=0.0
        Entries of anchors may lie within (1 - a) and (1 + a) times those given; 0 fixes them [2]_.
    n_starts : int, default=20
        Random starts.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    Factors
        Those of the best start.

    References
    ----------
    .. [1] Paatero, Tapper (1994), "Positive matrix factorization: a non-negative factor model with
       optimal utilization of error estimates of data values".
    .. [2] Canonaco, Crippa, Slowik, Baltensperger, Prévôt (2013), "SoFi, an IGOR-based interface
       for the efficient use of the generalized multilinear engine (ME-2)".

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
    known = None if anchors is None else (by_species(anchors, table), a_value)
    models = (fitted(table, n_factors, seed, known=known) for seed in seeds)
    found = (factors_of(table, model.components_) for model in models)
    return replace(min(found, key=lambda each: each.q_true), known=known)


def bootstrap_sources(
    found: Factors,
    n_bootstraps: int = 100,
    *,
    block: int | None = None,
    random_state: RandomSource = None,
) -> Ranges:
    """Return how often factors return when times are drawn again, and ranges of profiles.

    Each block bootstrap is fitted from a random start of its own, with the anchors of those found.
    Its factors are mapped to these by the correlation of their contributions at all times.

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
        model = fitted(table, n_factors, seed, rows, found.known)
        others.append(factors_of(table, model.components_))
    return Ranges.of(found, others)


def fitted(
    table: SpeciesTable, size: int, seed: np.random.Generator, rows: Any = None, known: Any = None
) -> OnlineNMF:
    """Return a fit of the scaled table, or of some of its rows, from one random start."""
    X, weights = table.problem()
    if rows is not None:
        X, weights = X[rows], weights[rows]
    if not 1 <= size < min(X.shape):
        raise InputError(
            f"{table.source} has {X.shape[0]} times and {X.shape[1]} species to fit; needed are "
            f"more than the number of factors, {size}."
        )
    model = OnlineNMF(size, random_state=seed)
    if known is not None:
        first, updater = in_ranges(table, size, *known)
        others = X[seed.choice(len(X), size - len(first))]
        model.set_params(updater=updater, init=np.concatenate([first, others]))
    # Coding needs the profiles alone, and files hold no updater that is for one table.
    return model.fit(X, entry_weight=weights).set_params(updater="auto")


def factors_of(table: SpeciesTable, atoms: NDArray) -> Factors:
    """Return factors whose profiles are atoms of the scaled table, with optimal contributions."""
    codes = contributions_to(table.values[:, table.used], table.errors, atoms * table.scale)
    return Factors.of(table, atoms, codes)


def contributions_to(values: NDArray, errors: NDArray, profiles: NDArray) -> NDArray:
    """Return the contributions of profiles to concentrations, by weighted least squares."""
    scale = np.maximum(profiles.max(axis=0), 1e-300)  # a species may be in no profile
    model = OnlineNMF.from_components(profiles / scale)
    return np.asarray(model.transform(values / scale, entry_weight=(scale / errors) ** 2))


class Compared(NamedTuple):
    """One number of factors: which start is best, its ranges over bootstraps, and figures."""

    start: int
    best: Factors
    ranges: Ranges
    facts: dict[str, float]


def compared(starts: Sequence[Factors], bootstraps: Sequence[Factors]) -> Compared:
    """Return what speaks for a number of factors: Q, and how often its factors return."""
    ends = np.array([each.q_true for each in starts])
    best = starts[int(ends.argmin())]
    ranges = Ranges.of(best, [*bootstraps])
    every, expected = np.arange(len(best.profiles)), best.q_expected
    back = [
        np.isin(every, mapped_to(best.contributions, each.contributions, SAME)) for each in starts
    ]
    facts = {
        "factors": len(every),
        "q_true": best.q_true,
        "q_robust": best.q_robust,
        "q_expected": expected,
        "q_over_expected": best.q_true / expected if expected > 0 else np.nan,
        "starts_near_best": float((ends <= NEAR_BEST * ends.min()).mean()),
        "weakest_in_starts": float(np.mean(back, axis=0).min()),
        "weakest_in_bootstraps": float(ranges.mapped.min() / ranges.n_bootstraps),
    }
    return Compared(int(ends.argmin()), best, ranges, facts)


def chosen_number(facts: Sequence[dict[str, float]]) -> tuple[int, str]:
    """Return the largest number of factors all of which return in bootstraps, and a sentence."""
    back = {int(each["factors"]): each["weakest_in_bootstraps"] for each in facts}
    rule = f"all factors are mapped in {MAPPED_SHARE:.0%} of the bootstraps"
    if steady := [number for number, share in back.items() if share >= MAPPED_SHARE]:
        return max(steady), f"{max(steady)} is the largest number of which {rule}."
    best = max(back, key=lambda number: back[number])
    return best, f"Of no number {rule}; of {best} each is in {back[best]:.0%} at least."
