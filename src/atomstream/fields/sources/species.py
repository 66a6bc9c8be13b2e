"""Tables of species over time: concentrations, their uncertainties, and the field's rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, checked_array, complete_array
from atomstream.exceptions import InputError
from atomstream.io.series_table import read_series

BAD, WEAK = 0.5, 1.0  # signal to noise below which a species is so
WEAK_FACTOR = 3.0  # on the uncertainties of weak species
OF_LIMIT, UNCERTAINTY_OF_LIMIT = 1 / 2, 5 / 6  # of the detection limit, where a value is below it
OF_MISSING = 4.0  # uncertainty of what is missing, in medians of the species
MAX_AGE = 40.0  # half-lives: what is older counts as this, and not as nothing


@dataclass(eq=False)
class SpeciesTable:
    """Concentrations of species over time, with the uncertainty of every entry.

    Values below a detection limit become half of it, with 5/6 of it as their uncertainty [1]_.
    Missing values (NaN) become the median of the species, with four times that as their
    uncertainty [2]_. Signal to noise is the mean over the observed values of how far they lie
    above their uncertainty, in units of it (0 where they lie below); below 0.5 a species is bad
    (left out of the fit), below 1 weak (its uncertainties count three times) [2]_.

    Parameters
    ----------
    values, uncertainties : array-like of shape (n_times, n_species)
    species : sequence of str
    dates : array-like of datetime64 or int of shape (n_times,), optional
        They must rise and may leave gaps. By default rows are numbered from 0.
    total : array-like of shape (n_times,), optional
        Such as the mass of all particles: left out of the fit; contributions are scaled to it.
    limits : array-like of shape (n_species,), optional
        Detection limits.
    kinds : mapping of str to {"strong", "weak", "bad"}, optional
        Species that are so whatever their signal to noise.
    source : str, default="The table"
        Where it is from, for messages.

    Attributes
    ----------
    signal_to_noise : ndarray of shape (n_species,)
    kinds : list of {"strong", "weak", "bad"}
        Of all species.
    used : ndarray of int of shape (n_used,)
        Places of the species that are fitted: all that are not bad.
    is_strong : ndarray of bool of shape (n_used,)
    scale : ndarray of shape (n_used,)
        Root mean squares of the fitted species.
    errors : ndarray of shape (n_times, n_used)
        Uncertainties as they are fitted: three times as large where a species is weak, and divided
        by the root of what a time counts.
    time_weights : ndarray of shape (n_times,)
        What a time counts in Q: 1 without a half-life.
    rules : ndarray of shape (4, n_used)
        Of the fitted species: detection limits (0 for none), what stands for a missing value, the
        uncertainty of that, and the factor of the uncertainties.
    n_missing, n_below : ndarray of int of shape (n_species,)
        Values that were missing, and below the limit.

    Raises
    ------
    InputError
        For uncertainties of another shape or not above 0, dates that do not rise, negative
        concentrations, and species that are constant or never observed.

    References
    ----------
    .. [1] Polissar, Hopke, Paatero, Malm, Sisler (1998), "Atmospheric aerosol over Alaska: 2.
       Elemental composition and sources"; reviewed by Reff, Eberly, Bhave (2007), "Receptor
       modeling of ambient particulate matter data using positive matrix factorization". Their
       value for what is missing is a geometric mean; the median is that of [2].
    .. [2] Norris, Duvall, Brown, Bai (2014), "EPA Positive Matrix Factorization (PMF) 5.0:
       Fundamentals and user guide".
    """

    values: Any
    uncertainties: Any
    species: Sequence[str]
    dates: Any = None
    total: Any = None
    limits: ArrayLike | None = None
    kinds: Any = None
    source: str = "The table"

    def __post_init__(self) -> None:
        values = checked_array(self.values, "values", np.float64)
        given = checked_array(self.uncertainties, "uncertainties", np.float64)
        if values.ndim != 2 or values.shape != given.shape or values.shape[1] != len(self.species):
            raise InputError(
                f"{self.source} has concentrations of shape {values.shape}, uncertainties of shape "
                f"{given.shape} and {len(self.species)} species; every concentration needs one "
                "uncertainty."
            )
        self.dates = (
            np.arange(len(values)) if self.dates is None else complete_array(self.dates, "dates")
        )
        self.total = None if self.total is None else checked_array(self.total, "total", np.float64)
        limits = checked_array(0 if self.limits is None else self.limits, "limits", np.float64)
        limits = np.broadcast_to(np.where(limits > 0, limits, -np.inf), values.shape)
        missing, below = np.isnan(values), values < limits
        check_entries(values, given, limits, self.species, self.dates, self.source)
        self._check(values, missing | below)
        known = np.where(below, OF_LIMIT * limits, values)
        given = np.where(below, UNCERTAINTY_OF_LIMIT * limits, given)
        middle = np.nanmedian(known, axis=0)
        # A median of 0 has no uncertainty of its own: the largest one of the species is taken.
        wide = np.where(middle > 0, OF_MISSING * middle, np.where(missing, 0, given).max(axis=0))
        self.values = np.where(missing, middle, known)
        self.uncertainties = np.where(missing, wide, given)
        self.n_missing, self.n_below = missing.sum(axis=0), below.sum(axis=0)
        above = np.maximum(known - given, 0) / np.where(missing, 1, given)
        self.signal_to_noise = np.nanmean(above, axis=0)
        self.kinds = self._kinds(dict(self.kinds or {}))
        self.used: NDArray = np.flatnonzero(np.array(self.kinds) != "bad")
        self.is_strong: NDArray = np.array(self.kinds)[self.used] == "strong"
        self.scale: NDArray = np.sqrt((self.values[:, self.used] ** 2).mean(axis=0))
        factors = np.where(self.is_strong, 1, WEAK_FACTOR)
        self.errors = self.uncertainties[:, self.used] * factors
        self.time_weights = np.ones(len(values))
        by_species = np.maximum(limits[0], 0), middle, wide
        self.rules = np.stack([*(each[self.used] for each in by_species), factors])

    def _check(self, values: NDArray, replaced: NDArray) -> None:
        """Raise InputError for dates that do not rise, and for species that say nothing."""
        steps = np.diff(self.dates)
        back = np.flatnonzero(~(steps > np.zeros((), steps.dtype)))
        if len(self.dates) != len(values) or len(back):
            place = back[0] if len(back) else -1
            raise InputError(
                f"The dates of {self.source} must rise, one for each row: {self.dates[place + 1]} "
                f"(row {place + 1}, counted from 0) comes after {self.dates[place]}; sort the rows "
                "and keep one of each date."
            )
        known = np.where(replaced, -1, values)  # all that is below detection is one value
        for name, column, missing in zip(self.species, known.T, np.isnan(values).T, strict=True):
            if len(np.unique(column[~missing])) < 2:
                raise InputError(
                    f"The species {name!r} of {self.source} has the same value at all times, or "
                    "none; leave it out."
                )

    def _kinds(self, asked: dict[str, str]) -> list[str]:
        """Return whether each species is strong, weak or bad."""
        if unknown := set(asked) - set(self.species):
            raise InputError(f"{self.source} has no species {min(unknown)!r}.")
        by_signal = np.digitize(self.signal_to_noise, (BAD, WEAK)).tolist()
        pairs = zip(self.species, by_signal, strict=True)
        kinds = [asked.get(name, ("bad", "weak", "strong")[place]) for name, place in pairs]
        if set(kinds) == {"bad"}:
            raise InputError(f"{self.source} has no species with more signal than noise.")
        return kinds

    def problem(self) -> tuple[NDArray, NDArray]:
        """Return what a factorization minimises over: scaled concentrations and their weights."""
        return self.values[:, self.used] / self.scale, (self.scale / self.errors) ** 2

    def with_half_life(self, half_life: Any) -> SpeciesTable:
        """Return the table for factors of now: older times count less in Q.

        Parameters
        ----------
        half_life : timedelta or number
            A time so much older than the last one counts half, as if its uncertainties were larger
            by the root of 2. A number where rows are numbered.
        """
        # Months have no length of their own.
        dates = self.dates.astype("M8[s]") if self.dates.dtype.kind == "M" else self.dates
        ages: NDArray = np.full(1, np.nan)
        with suppress(TypeError), np.errstate(all="ignore"):
            ages = np.asarray((dates[-1] - dates) / half_life)
        if ages.dtype.kind != "f" or not (ages >= 0).all():
            raise InputError(
                f"{self.source} needs a half_life above 0: a duration such as "
                f'np.timedelta64(60, "D") where rows have dates, else a number; got {half_life!r}.'
            )
        aged, weights = copy(self), 0.5 ** np.minimum(ages, MAX_AGE)
        aged.errors = self.errors / np.sqrt(weights)[:, None]
        aged.time_weights = self.time_weights * weights
        return aged


def read(
    concentrations: Any,
    uncertainties: Any,
    *,
    total: str | None = None,
    limits: Any = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    **reading: Any,
) -> SpeciesTable:
    """Return concentrations with their uncertainties, by the rules of `SpeciesTable`.

    Parameters
    ----------
    concentrations, uncertainties : path or frame
        Files or frames with a column of dates, or frames with dates as their index.
    total : str, optional
        The column of a total, such as the mass of all particles.
    limits : path or frame, optional
        One row, the detection limits of species.
    drop : collection of str, default=()
        Columns that are left out.
    kinds : mapping of str to {"strong", "weak", "bad"}, optional
        Species that are so whatever their signal to noise.
    **reading
        How the tables are read, as in `atomstream.io.TableOptions` and `read_series`: missing,
        below_limit, decimal, time, dates, ...

    Raises
    ------
    InputError
        For what cannot be read, and for tables of different rows or species.
    """
    first, second = _pair(concentrations, uncertainties, reading)
    values, names, dates, source = first
    kept = [name for name in names if name not in (total, *drop)]
    _places(first, [*([] if total is None else [total]), *drop, *second.names])
    here, there = _places(first, kept), _places(second, kept)
    table = values[:, here], second.values[:, there], kept, dates
    of_total = None if total is None else values[:, names.index(total)]
    row, columns, *_ = _beside(limits, reading) if limits is not None else (np.zeros((1, 0)), [])
    by_name = dict(zip(columns, row[0], strict=True))
    lowest = [by_name.get(name, 0.0) for name in kept]
    return SpeciesTable(*table, total=of_total, limits=lowest, kinds=kinds, source=source)


def read_more(
    concentrations: Any,
    uncertainties: Any,
    species: Sequence[str],
    rules: NDArray,
    **reading: Any,
) -> tuple[NDArray, NDArray, NDArray]:
    """Return more rows of species of a table by its ``rules``: values, errors and dates.

    A row is the same whatever others stand beside it: what is missing is taken from the table.
    """
    first, second = _pair(concentrations, uncertainties, reading)
    values, given = (each.values[:, _places(each, species)] for each in (first, second))
    limits, middle, wide, factors = rules
    limits = np.where(limits > 0, limits, -np.inf)
    check_entries(values, given, limits, species, first.dates, first.source)
    lacking, below = np.isnan(values), values < limits
    values = np.where(lacking, middle, np.where(below, OF_LIMIT * limits, values))
    given = np.where(below, UNCERTAINTY_OF_LIMIT * limits, given)
    return values, np.where(lacking, wide, given) * factors, first.dates


def check_entries(
    values: NDArray,
    given: NDArray,
    limits: NDArray,
    species: Sequence[str],
    dates: NDArray,
    source: str,
) -> None:
    """Raise InputError for the first concentration or uncertainty that is wrong."""
    replaced = np.isnan(values) | (values < limits)
    negative = "at least 0: give detection limits, or set it to 0"
    for wrong, entries, what, needed in (
        (~replaced & ~(given > 0), given, "uncertainty", "above 0"),
        (values == np.inf, values, "concentration", "finite"),
        (~replaced & (values < 0), values, "concentration", negative),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(
                f"The {what} of {species[column]!r} at {dates[row]} for {source} is "
                f"{entries[row, column]:g}; needed is {needed}."
            )


def by_species(profiles: Any, table: SpeciesTable, **reading: Any) -> NDArray:
    """Return profiles in the order of the species that are fitted, NaN where they lack one.

    Columns of frames and files have names; those of arrays are in this order.
    """
    if not _is_table(profiles):
        return np.atleast_2d(checked_array(profiles, "profiles", np.float64))
    values, names, _, source = _beside(profiles, reading)
    if unknown := [name for name in names if name not in table.species]:
        raise InputError(f"{source} has the species {unknown[0]!r}, which {table.source} lacks.")
    columns, free = dict(zip(names, values.T, strict=True)), np.full(len(values), np.nan)
    fitted = [str(table.species[place]) for place in table.used]
    return np.column_stack([columns.get(name, free) for name in fitted])


class _Columns(NamedTuple):
    """Columns of a table."""

    values: NDArray
    names: list[str]
    dates: NDArray
    source: str


def _columns(source: Any, reading: Mapping[str, Any]) -> _Columns:
    table = read_series(source, **reading)
    found = _Columns(table.values, table.names, table.labels, table.path)
    if repeated := [name for name in found.names if found.names.count(name) > 1]:
        raise InputError(f"{found.source} has the column {repeated[0]!r} twice; leave one out.")
    return found


def _is_table(source: Any) -> bool:
    return isinstance(source, str | Path) or hasattr(source, "columns")


def _beside(source: Any, reading: Mapping[str, Any]) -> _Columns:
    """Return a table beside the one of concentrations, whose rows are no times."""
    of_times = ("time", "dates", "regular", "duplicates", "columns", "drop", "index")
    how = {name: value for name, value in reading.items() if name not in of_times}
    if hasattr(source, "reset_index"):
        # An index of pandas names profiles, and is no column of times.
        source = source.reset_index(drop=True)
    return _columns(source, how)


def _pair(concentrations: Any, uncertainties: Any, reading: Mapping[str, Any]) -> list[_Columns]:
    """Return both tables; their rows must have the same dates."""
    for name, table in (("concentrations", concentrations), ("uncertainties", uncertainties)):
        if not _is_table(table):
            got = f"{table!r:.40}" if np.isscalar(table) else type(table).__name__
            raise InputError(
                f"{name} must be a path or a frame with a column for each species, got {got}; a "
                "frame of uncertainties is for example 0.1 * concentrations."
            )
    pair = [_columns(each, reading) for each in (concentrations, uncertainties)]
    dates, others = (each.dates for each in pair)
    if len(dates) != len(others) or (dates != others).any():
        raise InputError(
            f"{pair[0].source} and {pair[1].source} have different dates; every row needs its "
            "partner."
        )
    return pair


def _places(table: _Columns, wanted: Sequence[str]) -> list[int]:
    """Return the places of columns by their names."""
    if unknown := [name for name in wanted if name not in table.names]:
        raise InputError(f"{table.source} has no column {unknown[0]!r}.")
    return [table.names.index(name) for name in wanted]
