"""Factors in the words of the field: profiles, contributions, Q, and ranges of profiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

from atomstream.base import checked_array
from atomstream.fields.sources.species import SpeciesTable

ROBUST = 4.0  # scaled residuals beyond it count linearly in the robust Q
MAPPED = 0.6  # correlation of contributions from which a factor is mapped to another
MAPPED_SHARE = 0.8  # of the bootstraps, from which a factor is steady (Norris et al. 2014)
ENDS = (5, 95)  # per cent


@dataclass(frozen=True, eq=False)
class Factors:
    """Profiles of sources and their contributions over time.

    Attributes
    ----------
    table : SpeciesTable
    profiles : ndarray of shape (n_factors, n_used)
        Concentrations of the species that are fitted (``table.used``), on average over time.
    contributions : ndarray of shape (n_times, n_factors)
        Each of mean one.
    known : tuple of (array-like, float), optional
        The anchors that the first profiles were kept near, and their a-value.
    """

    table: SpeciesTable
    profiles: NDArray
    contributions: NDArray
    known: tuple[Any, float] | None = None

    @classmethod
    def of(cls, table: SpeciesTable, atoms: NDArray, codes: NDArray) -> Factors:
        """Return factors whose contributions have mean one, from atoms of the scaled table."""
        size = np.maximum(codes.mean(axis=0), 1e-300)  # 0 where nothing uses an atom
        return cls(table, atoms * size[:, None] * table.scale, codes / size)

    @property
    def species(self) -> list[str]:
        """Names of the columns of the profiles."""
        return [str(self.table.species[place]) for place in self.table.used]

    def per_cent(self) -> NDArray:
        """Return the share of each species that a factor has, in per cent, as the profiles."""
        return per_cent(self.profiles)

    @cached_property
    def residuals(self) -> NDArray:
        """Concentrations less what the factors make of them, over the uncertainties as fitted."""
        table = self.table
        return (table.values[:, table.used] - self.contributions @ self.profiles) / table.errors

    @property
    def q_true(self) -> float:
        """Sum of the squares of the scaled residuals."""
        return float((self.residuals**2).sum())

    @property
    def q_robust(self) -> float:
        """The same, but residuals r beyond 4 count as 4 |r|, as in the robust mode of PMF."""
        size = np.abs(self.residuals)
        return float((size * np.minimum(size, ROBUST)).sum())

    @property
    def q_expected(self) -> float:
        """Strong values less the entries of profiles and contributions (Norris et al. 2014).

        With a half-life both count as their times do.
        """
        n_strong, n_factors = self.table.is_strong.sum(), len(self.profiles)
        size = self.table.time_weights.sum()
        # An entry of a profile takes from each time its share in what determines the entry.
        of_profile = (self.table.time_weights**2).sum() / size
        return float(size * (n_strong - n_factors) - n_factors * n_strong * of_profile)

    def q_by_species(self) -> NDArray:
        """Return Q over the expected Q for each species: about 1 where its uncertainties fit."""
        share = self.q_expected / max(self.table.is_strong.sum(), 1)
        return np.asarray((self.residuals**2).sum(axis=0) / share)

    @cached_property
    def of_total(self) -> NDArray | None:
        """Contributions in concentrations of the total, by nonnegative regression without constant.

        None where no total was given.
        """
        total = self.table.total
        if total is None:
            return None
        known = ~np.isnan(total)
        return self.contributions * scipy.optimize.nnls(self.contributions[known], total[known])[0]

    @property
    def shares(self) -> NDArray:
        """Share of each factor in the total, or, without one, in the species on average."""
        sizes = (
            self.per_cent().mean(axis=1) if self.of_total is None else self.of_total.mean(axis=0)
        )
        return np.asarray(sizes / max(sizes.sum(), 1e-300))


@dataclass(frozen=True, eq=False)
class Ranges:
    """How far factors return when the times are drawn again.

    Attributes
    ----------
    n_bootstraps : int
    mapped : ndarray of int of shape (n_factors,)
        Bootstraps with a factor that is mapped to it.
    low, high : ndarray of shape (n_factors, n_used)
        5 and 95 per cent of the profiles of the factors mapped to each; NaN without any.
    """

    n_bootstraps: int
    mapped: NDArray
    low: NDArray
    high: NDArray

    @classmethod
    def of(cls, found: Factors, others: list[Factors]) -> Ranges:
        """Return the ranges of factors over those of bootstraps, contributions at all times."""
        places = [mapped_to(found.contributions, other.contributions) for other in others]
        rows = [
            np.concatenate([o.profiles[p == k] for o, p in zip(others, places, strict=True)])
            for k in range(len(found.profiles))
        ]
        nothing = np.full((len(ENDS), found.profiles.shape[1]), np.nan)
        ends = [np.percentile(each, ENDS, axis=0) if len(each) else nothing for each in rows]
        mapped = sum((np.isin(np.arange(len(rows)), p) for p in places), np.zeros(len(rows), int))
        return cls(len(others), mapped, *np.swapaxes(ends, 0, 1))


def per_cent(profiles: NDArray) -> NDArray:
    """Return the share of each species that each of the profiles has, in per cent."""
    profiles = checked_array(profiles, "profiles")
    return np.asarray(100 * profiles / np.maximum(profiles.sum(axis=0), 1e-300))


def mapped_to(contributions: NDArray, others: NDArray, least: float = MAPPED) -> NDArray:
    """Return which factor each of other contributions is mapped to, -1 for none.

    It is the one whose contributions have the largest correlation with them, if that is at least
    ``least``: .6 as in PMF 5 (Norris et al. 2014). Several may be mapped to the same.

    Parameters
    ----------
    contributions : ndarray of shape (n_times, n_factors)
        Of the factors that others are mapped to.
    others : ndarray of shape (n_times, n_others)
        Of the factors that are mapped.
    least : float, default=0.6
        Correlation from which two factors are the same.

    Returns
    -------
    ndarray of int of shape (n_others,)
    """
    both = checked_array(contributions, "contributions"), checked_array(others, "others")
    rows = [each.T - each.mean(axis=0)[:, None] for each in both]
    unit = [each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-300) for each in rows]
    likeness = unit[1] @ unit[0].T
    return np.where(likeness.max(axis=1) >= least, likeness.argmax(axis=1), -1)


def block_rows(n_times: int, size: int | None, rng: np.random.Generator) -> NDArray:
    """Return row numbers of a moving block bootstrap (Künsch 1989), as many as there are times.

    Parameters
    ----------
    n_times : int
        Number of rows.
    size : int or None
        Consecutive rows of a block; None is the cube root of the number of times.
    rng : Generator
        What draws the first rows of the blocks.

    Returns
    -------
    ndarray of int of shape (n_times,)
    """
    length: int = min(size or round(n_times ** (1 / 3)), n_times)
    first = rng.integers(0, n_times - length + 1, -(-n_times // length))
    return np.asarray((first[:, None] + np.arange(length)).ravel()[:n_times])
