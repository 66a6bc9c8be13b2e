"""The settings that say how tables are read: one group of fields for all kinds of runs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from atomstream.base import DUPLICATES
from atomstream.base.parameters import one_of
from atomstream.io.input_options import (
    AUTO,
    BELOW_LIMIT,
    NO,
    ORDERS,
    RAISE,
    REFUSE,
    SKIP,
    YES,
    InputOptions,
    TableOptions,
)
from atomstream.io.inputs import CALLED
from atomstream.runs.settings import SENTINELS, option


def reading_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of tables among options of a command, as `TableOptions` calls them."""
    named = {CALLED.get(each.name, each.name): each.name for each in fields(InputOptions)}
    return {named[name]: value for name, value in options.items() if value not in (None, ())}


@dataclass(frozen=True)
class text_reading:  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how lines of text hold fields."""

    header: str = option(
        AUTO, "Whether the first line of a table names its columns.", one_of(AUTO, YES, NO)
    )
    delimiter: str | None = option(
        None,
        r"Sign between the fields of a line; \t is a tab, a blank any number of blanks.",
        shown="the sign that the first lines have",
    )
    comment: str | None = option(
        None, "Sign that begins a comment, up to the end of the line.", shown="none"
    )
    skip_lines: str | None = option(
        None,
        "Lines to leave out: 3 for the first three, or by their numbers, 2-2 or 1-3,61.",
        shown="none",
    )
    encoding: str | None = option(
        None,
        "How bytes stand for letters, such as cp1252.",
        shown="utf-8, or what a byte order mark says, or else cp1252",
    )

    def reading(self) -> dict[str, Any]:
        """Return the options of these fields."""
        found = {each.name: CALLED.get(each.name, each.name) for each in fields(TableOptions)}
        values = {name: getattr(self, place, None) for name, place in found.items()}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class number_reading(text_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how lines of text hold numbers."""

    decimal: str = option(".", "Decimal sign of numbers in text.", one_of(".", ","))
    thousands: str | None = option(None, "Sign between groups of three digits.", shown="none")


@dataclass(frozen=True)
class entry_reading(number_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how chosen columns of a table are read."""

    na: tuple[str, ...] = option((), SENTINELS, whole=True)
    below_limit: str | None = option(
        None,
        "What a field such as <0.01 stands for: half of the limit, zero, the limit, or missing.",
        one_of(*BELOW_LIMIT),
        shown="it is refused",
    )
    on_bad_line: str = option(
        RAISE,
        "raise: a line that cannot be read or learned from ends the run; skip: it is left out and "
        "counted, and of series it is a row of missing entries.",
        one_of(RAISE, SKIP),
    )


@dataclass(frozen=True)
class table_reading(entry_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how a table of numbers is read."""

    columns: tuple[str, ...] = option(
        (),
        "Columns to read: names, numbers from 1, ranges such as 3-7 or area-groove, or numeric for "
        "all that hold numbers.",
        shown="all",
    )
    drop: tuple[str, ...] = option((), "Columns to leave out, named as for --columns.")
    index: str = option(
        AUTO, "Column that names the rows and is not learned; no for none, auto for unnamed ones."
    )


@dataclass(frozen=True)
class triple_reading(table_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how a table is read of which each line may hold one entry."""

    triples: bool = option(
        False,
        "Lines hold the row, the column and the value of one entry (--columns names the three); "
        "entries that are not listed are missing, and all inputs are one table.",
    )
    duplicates: str = option(
        REFUSE,
        "What becomes of several values of one row and column (with --triples).",
        one_of(*DUPLICATES),
    )

    def reading(self) -> dict[str, Any]:
        """Return the options of these fields."""
        return super().reading() | {"triples": self.triples, "duplicates": self.duplicates}


@dataclass(frozen=True)
class series_reading(table_reading):  # noqa: N801 - a group of fields, mixed into settings
    """The fields that say how a table over time is read."""

    time: str | None = option(
        None,
        "Column of the times, dates or whole numbers.",
        shown="the first column, or one called date or time, if it holds dates",
    )
    dates: str = option(
        AUTO,
        "What comes first in dates such as 4/12/2020: day-first or month-first.",
        one_of(*ORDERS),
    )
    regular: bool = option(
        False, "Fill rows that are absent between evenly spaced times in as missing."
    )
    duplicates: str = option(
        REFUSE, "What becomes of several rows of one time.", one_of(*DUPLICATES)
    )

    def reading(self) -> dict[str, Any]:
        """Return the options of these fields."""
        more = ("time", "dates", "regular", "duplicates")
        return super().reading() | {name: getattr(self, name) for name in more}
