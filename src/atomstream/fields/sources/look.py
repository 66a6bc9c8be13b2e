"""Sources of air and water: profiles with per cent, series, days and hours, the report of a run."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import checked_array, complete_array
from atomstream.exceptions import InputError
from atomstream.fields import sources
from atomstream.fields.sources.factors import MAPPED_SHARE
from atomstream.looks import Encoded, FileCoder, Look, Record, Table, canvas, report
from atomstream.looks.canvas import BLUE, ORANGE, TEXT, TICK, colour, empty, labelled, plain

WIDTH = 9.0  # inches
LEAST_BAR = 1e-4  # of the largest concentration: what is drawn of bars on a logarithmic scale
GAP = 5  # median steps between times from which a line is broken, and the gap shortened to it
N_DATES = 8
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NUMBERS = (
    "Above, Q over the expected Q; below, of the factor that returns least, the share of starts "
    "and of block bootstraps that have it (correlation of contributions .9, .6)."
)
BARS = "Bars are concentrations, 5 to 95 % of the block bootstraps; dots are per cent of a species."
SERIES = "Contributions over time, each of mean one; long gaps are drawn white and short."
CYCLES = "Mean contributions by day of the week and hour, with twice their standard error."


class SourcesCoder(FileCoder):
    """Finds the contributions of the factors of a run at further times."""

    def encode(self, record: Record, inputs: Sequence[str], ids: Sequence[str]) -> Encoded:
        """Return contributions with their dates, in units of the means over the run's table."""
        notes = record.notes
        if "species_rules" not in notes or record.names is None:
            raise InputError(f"{record.path} has no factors yet; finish it with atomstream resume.")
        if len(inputs) != 1 or record.uncertainty is None:
            raise InputError(
                "Concentrations need their uncertainties: give one table, and another one of the "
                "same form with --uncertainty."
            )
        known, reading = (record.names, notes["species_rules"]), record.settings.reading()
        how = {name: value for name, value in reading.items() if name not in ("columns", "drop")}
        how |= {"where_used": how.keys() - record.reading.keys()} | record.reading
        values, errors, dates = sources.read_more(inputs[0], record.uncertainty, *known, **how)
        profiles = np.split(notes["profiles"], 3)[0]
        codes = record.model.from_components(profiles).transform(values, entry_weight=errors**-2.0)
        labels = (dates.astype(str).astype(object),)
        return Encoded(len(profiles), iter([(labels, codes)]), ("date",), "factor")


class SourcesLook(Look):
    """The look of factors that a run has found in concentrations."""

    files: ClassVar[FileCoder] = SourcesCoder("concentrations", weighs=True, reads_tables=True)
    title = "Sources"
    quality_on = "the table"

    def table(self, record: Record, most: int = 20) -> Table:
        """Return the share of each factor, how often it is mapped, and its species."""
        if "profiles" not in record.notes or record.names is None:
            return super().table(record, most)
        shares, mapped = record.notes["factor_facts"].T
        cents = sources.per_cent(record.notes["profiles"][: len(shares)])
        rows = []
        for factor in np.argsort(-shares, kind="stable")[:most].tolist():
            largest = np.argsort(-cents[factor], kind="stable")[:4]
            said = ", ".join(f"{cents[factor, i]:.0f} % of {record.names[i]}" for i in largest)
            rows.append((factor, float(shares[factor]), float(mapped[factor]), said))
        heads = {"code_share": "share", "mapped": "mapped in bootstraps", "features": "species"}
        return Table("factor", heads, rows)

    def learned(self, record: Record) -> list[report.Section]:
        """Return the numbers of factors, profiles, contributions, and their days and hours."""
        notes = record.notes
        profiles, *ranges = np.split(notes["profiles"], 3)
        names, units = record.names or [], record.settings.units
        bars = factor_profiles(profiles, names, ranges=ranges, units=units)
        dates, given = np.array(notes["labels"].tolist()), notes["activities"]
        dates = dates.astype("datetime64" if "-" in dates[0] else float)
        drawn = [
            ("numbers", "Numbers of factors", NUMBERS, factor_numbers(notes["numbers"])),
            ("profiles", "Profiles", BARS, bars),
            ("series", "Contributions", SERIES, factor_series(given, dates)),
        ]
        if dates.dtype.kind == "M":
            drawn.append(("cycles", "Days and hours", CYCLES, factor_cycles(given, dates)))
        table = report.table_section("factors", "The factors", self.table(record))
        return [table, *(report.Section(*each) for each in drawn)]


def factor_profiles(
    profiles: NDArray,
    species: Sequence[str],
    *,
    ranges: Sequence[NDArray] | None = None,
    units: str | None = None,
) -> canvas.Figure:
    """Draw profiles: bars are concentrations, on a logarithmic scale, dots per cent of a species.

    Parameters
    ----------
    profiles : ndarray of shape (n_factors, n_species)
    species : sequence of str
    ranges : pair of ndarrays of shape (n_factors, n_species), optional
        Lower and upper ends, such as ``low`` and ``high`` of `atomstream.sources.Ranges`.
    units : str, optional
        Of the concentrations.
    """
    profiles = checked_array(profiles, "profiles")
    cents, places = sources.per_cent(profiles), np.arange(len(species))
    floor = LEAST_BAR * profiles.max()
    figure = empty(WIDTH, 1.5 * len(profiles) + 0.6)
    grid = figure.subplots(len(profiles), 1, sharex=True, squeeze=False)[:, 0]
    for factor, (axes, row) in enumerate(zip(grid, profiles, strict=True)):
        axes.bar(places, np.maximum(row, floor), color=BLUE, alpha=0.6, width=0.7)
        if ranges is not None:
            low, high = (np.maximum(end[factor], floor) for end in ranges)
            axes.vlines(places, low, high, color="0.3", linewidth=1)
        axes.set_yscale("log")
        axes.set_ylim(floor, 2 * profiles.max())
        right = axes.twinx()
        right.plot(places, cents[factor], "o", color=ORANGE, markersize=4)
        right.set_ylim(0, 105)
        labelled(right, ylabel="% of species")
        labelled(axes, title=f"factor {factor}")
    grid[-1].set_xticks(places, [plain(name) for name in species], rotation=90, fontsize=TICK)
    figure.supylabel(f"concentration{f', {plain(units)}' if units else ''}", fontsize=TEXT)
    return figure


def factor_series(contributions: NDArray, dates: NDArray) -> canvas.Figure:
    """Draw contributions over time, a row for each factor; long gaps are white and short.

    Parameters
    ----------
    contributions : ndarray of shape (n_times, n_factors)
    dates : ndarray of datetime64 or numbers of shape (n_times,)
    """
    contributions = checked_array(contributions, "contributions")
    dates = complete_array(dates, "dates")
    steps = np.diff(dates) / np.median(np.diff(dates))
    places = np.append(0.0, np.minimum(steps, GAP).cumsum())
    broken = np.flatnonzero(steps > GAP) + 1
    figure = empty(WIDTH, 1.1 * contributions.shape[1] + 0.5)
    grid = figure.subplots(contributions.shape[1], 1, sharex=True, squeeze=False)[:, 0]
    for factor, (axes, given) in enumerate(zip(grid, contributions.T, strict=True)):
        for rows in np.split(np.arange(len(dates)), broken):
            axes.plot(places[rows], given[rows], color=colour(factor), linewidth=0.8)
        axes.set_ylim(0, None)
        labelled(axes, ylabel=f"factor {factor}")
    shown = np.unique(np.linspace(0, len(dates) - 1, N_DATES).astype(int))
    names = [str(date)[:10] for date in dates[shown]]  # without the hour
    grid[-1].set_xticks(places[shown], names, fontsize=TICK)
    return figure


def factor_cycles_data(
    contributions: NDArray, dates: NDArray
) -> list[tuple[NDArray, NDArray, NDArray]]:
    """Return what `factor_cycles` draws, for the days of the week and for the hours of the day.

    Returns
    -------
    list of (numbers, means, errors)
        Days from 0 (Monday) or hours that have times; the mean contributions (n, n_factors) and
        their standard errors, 0 where there is one time alone.
    """
    contributions = checked_array(contributions, "contributions")
    dates = complete_array(dates, "dates")
    days = (dates.astype("datetime64[D]").astype(int) + 3) % 7  # day 0 was a Thursday
    hours = dates.astype("datetime64[h]").astype(int) % 24
    drawn = []
    for numbers in (days, hours):
        there = np.unique(numbers)
        rows = [contributions[numbers == number] for number in there]
        errors = np.array([each.std(axis=0) / np.sqrt(len(each)) for each in rows])
        drawn.append((there, np.array([each.mean(axis=0) for each in rows]), errors))
    return drawn


def factor_cycles(contributions: NDArray, dates: NDArray) -> canvas.Figure:
    """Draw mean contributions by day of the week and by hour, with twice their standard error.

    Parameters
    ----------
    contributions : ndarray of shape (n_times, n_factors)
    dates : ndarray of datetime64 of shape (n_times,)
    """
    n_factors = contributions.shape[1]
    figure = empty(WIDTH, 1.3 * n_factors + 0.4)
    grid = figure.subplots(n_factors, 2, sharex="col", sharey="row", squeeze=False)
    for column, (numbers, means, errors) in enumerate(factor_cycles_data(contributions, dates)):
        for factor, axes in enumerate(grid[:, column]):
            size, ends = means[:, factor], 2 * errors[:, factor]
            axes.errorbar(numbers, size, ends, color=colour(factor), marker="o", markersize=3)
            axes.axhline(1, color="0.6", linewidth=0.7)
            labelled(axes, ylabel="" if column else f"factor {factor}")
    grid[-1, 0].set_xticks(range(7), DAYS, fontsize=TICK)
    labelled(grid[-1, 1], xlabel="hour")
    return figure


def factor_numbers(numbers: NDArray) -> canvas.Figure:
    """Draw Q over the expected Q, and how often factors return, against the number of factors.

    Parameters
    ----------
    numbers : ndarray of shape (n_numbers, 8)
        A row for each number, in the columns of ``numbers.csv``.
    """
    sizes, ratio, starts, bootstraps = numbers[:, [0, 4, 6, 7]].T
    figure = empty(6.5, 4.2)
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.plot(sizes, ratio, "o-", color=BLUE, markersize=4)
    bottom.plot(sizes, starts, "o-", color=BLUE, markersize=4, label="starts")
    bottom.plot(sizes, bootstraps, "s-", color=ORANGE, markersize=4, label="bootstraps")
    bottom.axhline(MAPPED_SHARE, color="0.6", linewidth=0.8, linestyle=":")
    labelled(top, ylabel="Q / expected Q")
    labelled(bottom, xlabel="number of factors", ylabel="share that have\nthe least steady factor")
    top.set_ylim(0, None)
    bottom.set_ylim(0, 1.03)
    bottom.legend(frameon=False, fontsize=TEXT)
    bottom.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    return figure
