"""Dates in texts, and in the indexes of frames: one reading for files and frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.io.input_options import AUTO, DAY_FIRST

EXAMPLES = "2020-04, 2020-04-12 or 2020-04-12 18:00"
MAX_WHOLE = 2.0**53  # whole numbers of floats are exact below

# A date, perhaps with a time of day, and with how far its clock is from that of Greenwich.
CLOCK = re.compile(
    r"\s*(?P<date>.+?)(?:(?:(?<=\d)T|,?\s+)(?P<hour>\d{1,2})(?=:|\s*[AaPp]\.?[Mm])"
    r"(?::(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?\s*"
)
# Texts that NumPy reads by itself, a line each.
PLAIN = re.compile(r"(?:\d{4}-\d{2}(?:-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?)?\n)+")
ISO = re.compile(r"\d{4}([-/.])\d{1,2}(\1\d{1,2})?")
_NAMED = (
    *("%d-%b-%Y", "%d-%B-%Y", "%d %b %Y", "%d %B %Y", "%d%b%Y", "%d-%b-%y", "%d %b %y", "%d/%b/%Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%Y-%b-%d", "%Y %b %d", "%Y %B %d"),
    *("%a %d %b %Y", "%a, %d %b %Y", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b-%y"),
)
# Forms of dates: a pattern of all of a text, and formats; where several fit, order decides.
FORMS: tuple[tuple[str, Sequence[str]], ...] = (
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}-\d{1,2}", ("%Y-%m",)),
    (r"\d{4}", ("%Y",)),
    (r"\d{8}", ("%Y%m%d",)),
    (r"\d{6}", ("%Y%m",)),
    (r"\d{4}M\d{2}", ("%YM%m",)),
    (r"\d{4}-W\d{2}-\d", ("%G-W%V-%u",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%m/%d/%Y", "%d/%m/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%m/%d/%y", "%d/%m/%y")),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%m-%d-%Y", "%d-%m-%Y")),
    (r"\d{1,2}-\d{1,2}-\d{2}", ("%m-%d-%y", "%d-%m-%y")),
    (r"(?=.*[A-Za-z]{3}).*\d.*", _NAMED),
)
YEARS, MONTHS = ("%Y",), ("%Y-%m", "%Y%m", "%YM%m", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b-%y")


class Dates(NamedTuple):
    """Dates that were read.

    Attributes
    ----------
    labels : ndarray of datetime64 of shape (n,)
        Without a zone, in the coarsest unit that holds them; NaT for an empty text.
    zone : {"", "UTC", "local"}
        Whether the texts name zones, and then whether labels are those of Greenwich, or local times
        because these come at the same time of each day.
    guess : str
        What had to be guessed; empty where nothing.
    """

    labels: NDArray
    zone: str = ""
    guess: str = ""


class DateError(ValueError):
    """A text that is not a date, or dates that can be read in two ways.

    Parameters
    ----------
    text : str
    ambiguous : bool, default=False
    """

    def __init__(self, text: str, *, ambiguous: bool = False) -> None:
        super().__init__(text)
        self.text, self.ambiguous = text, ambiguous

    def explained(self, column: str, source: object, *, numbers: bool = True) -> InputError:
        """Return the complaint about a column of a table."""
        said = f"Column {column!r:.80} of {source} holds {self.text!r:.60}, "
        if self.ambiguous:
            return InputError(
                f"{said}and which number is the month is not clear; say --dates day-first or "
                "month-first, or write dates such as 2020-04-12."
            )
        more = ", or whole numbers" if numbers else ""
        return InputError(f"{said}needed are dates such as {EXAMPLES}{more}.")


def dates_of_texts(texts: Sequence[str], order: str = AUTO, *, local: bool = False) -> Dates:
    """Return texts as dates.

    Parameters
    ----------
    texts : sequence of str
        Such as 2020-04-12, 2020/04/12 18:00Z, 20200412, 12-Apr-2020, 4/12/20 6:00 PM or 2020Q2. An
        empty text is a missing date.
    order : {"auto", "day-first", "month-first"}, default="auto"
        What comes first in dates such as 4/12/2020. By default what all texts allow; where they
        allow both, the one by which they rise.
    local : bool, default=False
        Whether dates with zones are taken as local times.

    Raises
    ------
    DateError
        For what is no date, and where day and month could be either way round.
    """
    import pandas as pd  # loaded where a date is read

    if PLAIN.fullmatch("".join(f"{text}\n" for text in texts)):
        try:
            return Dates(np.array([*texts], "datetime64"))
        except ValueError:  # of a day that no month has
            pass
    given = pd.Series([*texts], dtype=object).astype(str)
    filled = (given.str.strip() != "").to_numpy()
    parts = given[filled].str.extract(f"^{CLOCK.pattern}$")
    days, unit, guess = _days(pd, parts["date"], order)
    clock, fine = _clock(pd, parts)
    unit = fine or unit
    found = np.full(len(given), np.datetime64("NaT"), f"M8[{unit}]")
    moments = (
        (days.astype("M8[ns]") + clock).astype(found.dtype) if fine else days.astype(found.dtype)
    )
    zones = parts["zone"].where(parts["zone"].notna(), "")
    if not zones.any():
        found[filled] = moments
        return Dates(found, "", guess)
    if not zones.all():
        raise DateError(given[filled][zones == ""].iloc[0])
    of_day = moments - moments.astype("M8[D]")
    # Days by local time are 23 or 25 hours long where clocks change, and steps of hours are not.
    if local or (of_day == of_day[0]).all():
        found[filled] = moments
        whole = not of_day.astype(np.int64).any()
        return Dates(found.astype("M8[D]") if whole else found, "local", guess)
    found[filled] = moments - _offsets(zones).astype("m8[m]")
    return Dates(found, "UTC", guess)


def look_like_dates(texts: Sequence[str], *, numbers: bool = False) -> bool:
    """Return whether texts are dates; ``numbers`` says whether years and months may be plain."""
    filled = [text.strip() for text in texts if text.strip()]
    plain = [text for text in filled if re.fullmatch(r"[+-]?\d+(\.\d*)?", text)]
    if not filled or (plain and not numbers and any(len(text) != 8 for text in plain)):
        return False
    try:
        dates = dates_of_texts(filled)
    except DateError as error:
        return error.ambiguous
    if plain:  # numbers of eight digits are rarely dates of another time
        years = dates.labels.astype("M8[Y]").astype(int) + 1970
        return bool(((years > 1800) & (years < 2200)).all() and len(set(filled)) == len(filled))
    return True


def _days(pd: Any, texts: Any, order: str) -> tuple[NDArray, str, str]:
    """Return the days of texts, the coarsest unit that holds them, and what was guessed."""
    texts = texts.str.strip()
    quarters = texts.str.fullmatch(r"(?:\d{4}[- ]?Q[1-4]|Q[1-4][- ]?\d{4})").to_numpy(bool)
    iso = texts.str.fullmatch(ISO.pattern.replace(r"\1", "[-/.]")).to_numpy(bool)
    texts = texts.mask(iso, texts.str.replace(r"[/.]", "-", regex=True))
    texts = texts.str.replace(r"^(\d{4})-?W(\d{2})$", r"\1-W\2-1", regex=True)
    days = np.full(len(texts), np.datetime64("NaT"), "M8[D]")
    units, guess, left = {"M"} if quarters.any() else set(), "", ~quarters
    if quarters.any():
        named = texts[quarters].str.replace(r"^Q(\d)[- ]?(\d{4})$", r"\2Q\1", regex=True)
        named = named.str.replace(r"[- ]", "", regex=True)
        days[quarters] = _as_days(pd.PeriodIndex(named, freq="Q").to_timestamp())
    for pattern, formats in FORMS:
        here = left & texts.str.fullmatch(pattern).to_numpy(bool)
        if not here.any():
            continue
        found, format_, said = _by_format(pd, texts[here], formats, order)
        days[here], left, guess = found, left & ~here, guess or said
        units.add("Y" if format_ in YEARS else "M" if format_ in MONTHS else "D")
    if left.any():
        raise DateError(texts[left].iloc[0])
    return days, next((unit for unit in "DMY" if unit in units), "D"), guess


def _by_format(pd: Any, texts: Any, formats: Sequence[str], order: str) -> tuple[NDArray, str, str]:
    """Return dates of one form, their format, and what was guessed."""
    if len(formats) == 2 and order != AUTO:
        first = "%d" if order == DAY_FIRST else "%m"
        formats = [format_ for format_ in formats if format_.startswith(first)]
    read: dict[str, NDArray] = {}
    for format_ in formats:
        try:
            read[format_] = _as_days(pd.to_datetime(texts, format=format_))
        except ValueError:
            if len(formats) == 1 or not read:
                odd = texts.iloc[0]
    if not read:
        raise DateError(_first_odd(pd, texts, formats) or odd)
    ways = [*read]
    if len(formats) == 2 and len(ways) == 2 and (read[ways[0]] != read[ways[1]]).any():
        steps = {way: np.diff(read[way]).astype(int) for way in ways}
        ways = [way for way in ways if (steps[way] >= 0).all() and steps[way].any()]
        if len(ways) != 1:
            raise DateError(texts.iloc[0], ambiguous=True)
    said = ""
    if len(formats) == 2:
        said = "the day" if ways[0].startswith("%d") else "the month"
        said = f"{said} taken for the first number of dates such as {texts.iloc[0]}"
    if ways[0] == "%Y%m%d":
        said = f"numbers such as {texts.iloc[0]} taken as dates"
    return read[ways[0]], ways[0], said


def _first_odd(pd: Any, texts: Any, formats: Sequence[str]) -> str | None:
    """Return the first text that no format fits."""
    known = np.zeros(len(texts), bool)
    for format_ in formats:
        known |= ~pd.to_datetime(texts, format=format_, errors="coerce").isna().to_numpy()
    return None if known.all() else texts[~known].iloc[0]


def _as_days(found: Any) -> NDArray:
    return np.asarray(found.to_numpy()).astype("M8[D]")


def _clock(pd: Any, parts: Any) -> tuple[NDArray, str]:
    """Return times of day, and the coarsest unit that holds them; empty where there are none."""
    if parts["hour"].isna().all():
        return np.zeros(len(parts), "m8[ns]"), ""
    half = parts["half"].where(parts["half"].notna(), "").str.lower()
    hours = pd.to_numeric(parts["hour"]).fillna(0).to_numpy()
    minutes = pd.to_numeric(parts["minute"]).fillna(0).to_numpy()
    seconds = pd.to_numeric(parts["second"].str.replace(",", ".")).fillna(0).to_numpy()
    after = half.str.startswith("p").to_numpy()
    twelve = half.ne("").to_numpy() & (hours == 12)  # 12 AM is the beginning of a day
    wrong = (hours > np.where(half.ne(""), 12, 24)) | (minutes > 59) | (seconds >= 60)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        row = parts.iloc[place]
        raise DateError(f"{row['date']} {row['hour']}:{row['minute']}")
    hours = np.where(twelve, 0, hours) + 12 * after
    nanoseconds = np.rint(seconds * 1e9).astype(np.int64)
    total = ((hours.astype(np.int64) * 60 + minutes.astype(np.int64)) * 60) * 10**9 + nanoseconds
    steps = (("m", 60 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 10**3))
    unit = next((unit for unit, step in steps if not (total % step).any()), "ns")
    return total.astype("m8[ns]"), unit


def _offsets(zones: Any) -> NDArray:
    """Return how many minutes clocks are ahead of that of Greenwich."""
    signs = np.where(zones.str.startswith("-"), -1, 1)
    digits = zones.str.replace(r"\D", "", regex=True).str.ljust(4, "0")
    return np.asarray(
        signs * (60 * digits.str[:2].astype(int) + digits.str[2:].astype(int)), np.int64
    )


def labels_of_index(index: Any, name: str) -> tuple[NDArray, str, bool]:
    """Return the index of a frame as numbers or dates, its calendar, and whether it is local time.

    Parameters
    ----------
    index : Index
        Of dates, periods, whole numbers, or texts that are dates.
    name : str
        Of the frame, for messages.

    Raises
    ------
    ValueError
        For another index.
    """
    if hasattr(index, "freqstr") and hasattr(index, "asi8") and hasattr(index, "start_time"):
        return np.asarray(index.asi8), str(index.freqstr), False
    if getattr(index, "tz", None) is not None:
        shown = index.tz_localize(None).to_numpy()
        of_day = shown - shown.astype("M8[D]")
        # Days by local time are 23 or 25 hours long where clocks change; steps of hours are not.
        local = bool((of_day == of_day[0]).all())  # days and longer steps keep the local time
        labels = shown if local else index.tz_convert("UTC").tz_localize(None).to_numpy()
        return labels, str(index.tz), local
    labels = index.to_numpy()
    if labels.dtype.kind == "M":
        return labels, "", False
    whole = labels.dtype.kind == "f" and (np.abs(labels) < MAX_WHOLE).all()
    if labels.dtype.kind in "iu" or (whole and (labels == np.rint(labels)).all()):
        return labels.astype(np.int64), "", False  # years are often read as 1700.0
    texts = [label if isinstance(label, str) else "" for label in labels.tolist()]
    odd: Any = labels[0] if len(labels) else ""
    if all(texts):
        try:
            dates = dates_of_texts(texts)
            return dates.labels, "UTC" if dates.zone == "UTC" else "", False
        except DateError as error:
            odd = error.text
    advice = "" if labels.dtype.kind == "f" else "; for dates use pandas.to_datetime"
    raise ValueError(
        f"The index of {name} must be dates, periods or whole numbers, got {type(odd).__name__} "
        f"({odd!r:.40}){advice}."
    )
