"""Time index of a table: evenly spaced times, and the times that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

DAY = np.timedelta64(1, "D")
NOTHING = np.zeros(0, np.int64)  # of labels that a rule does not count


@dataclass(frozen=True)
class Times:
    """The last of evenly spaced times, and the rule for the next ones.

    Parameters
    ----------
    last : int or str
        A number, or a date as NumPy writes it.
    unit : str
        Unit of dates, as in NumPy's ``datetime64[unit]``; empty for numbers.
    rule : {"even", "months", "month ends", "business days"}
        "even": always ``step`` units apart. "months": the same moment of every ``step``-th month.
        "month ends": the last days of these months. "business days": Monday to Friday.
    step : int
        At least 1.
    """

    last: int | str
    unit: str
    rule: str
    step: int

    def __post_init__(self) -> None:
        if (
            self.rule not in RULES
            or self.step < 1
            or (self.unit == "") != isinstance(self.last, int)
        ):
            raise ValueError(f"{self!r} is not a valid rule of times.")

    @classmethod
    def of(cls, labels: NDArray) -> Times:
        """Return the rule that labels follow.

        Parameters
        ----------
        labels : ndarray of int64 or datetime64 of shape (n,)

        Raises
        ------
        ValueError
            For fewer than two labels, and labels that are missing, repeat, go backwards, or leave a
            gap.
        """
        dates = labels.dtype.kind == "M"
        if dates and np.isnat(labels).any():
            raise ValueError("Every row needs a time, and one is missing.")
        if len(labels) < 2:
            raise ValueError(
                "The step between times does not follow from one row; give at least two."
            )
        ahead = np.diff(labels)
        none = np.zeros((), ahead.dtype)
        for bad, advice in (
            (ahead == none, "comes twice; keep one row of each time"),
            (ahead < none, ""),
        ):
            if bad.any():
                place = int(np.flatnonzero(bad)[0])
                advice = advice or f"comes after {_text(labels[place])}; sort the rows"
                raise ValueError(
                    f"Times must go forward: {_text(labels[place + 1])} (row {place + 1}, counted "
                    f"from 0) {advice}."
                )
        unit = np.datetime_data(labels.dtype)[0] if dates else ""
        last: int | str = str(labels[-1]) if dates else int(labels[-1])
        for rule, steps in _steps(labels):
            if (steps == steps[0]).all():
                return cls(last, unit, rule, int(steps[0]))
        gaps, counts = np.unique(ahead, return_counts=True)
        place = int(np.flatnonzero(ahead != gaps[counts.argmax()])[0])
        raise ValueError(
            f"Times must be evenly spaced: {_text(labels[place + 1])} comes after "
            f"{_text(labels[place])} (row {place + 1}, counted from 0); fill the rows that are "
            "missing in with --regular, or insert rows of NaN."
        )

    def at(self, first: int, n: int) -> NDArray:
        """Return ``n`` labels from number ``first`` on; number 0 is the last label so far."""
        last: Any = (
            np.datetime64(str(self.last), cast(Any, self.unit))
            if self.unit
            else np.int64(self.last)
        )
        return RULES[self.rule][1](last, self.step * np.arange(first, first + n))

    def moved(self, n: int) -> Times:
        """Return the same rule with the last time ``n`` steps later."""
        last = self.at(n, 1)[0]
        return Times(str(last) if self.unit else int(last), self.unit, self.rule, self.step)

    def check_following(self, labels: NDArray) -> None:
        """Check that labels continue these times.

        Raises
        ------
        ValueError
        """
        due = self.at(1, len(labels))
        same_kind = due.dtype.kind == labels.dtype.kind
        wrong = np.flatnonzero(due != labels) if same_kind else [0]
        if len(wrong):
            place = wrong[0]
            raise ValueError(
                f"Times must continue with {_text(due[place])}, got {_text(labels[place])} "
                f"(row {place}, counted from 0)."
            )


def _text(label: object) -> str:
    """Return a label as text for messages."""
    if (
        isinstance(label, np.datetime64)
        and label == label.astype("M8[D]")
        and np.datetime_data(label)[0] != "D"
    ):
        months = np.datetime_data(label)[0] in "YM"
        return str(label) if months else str(label.astype("M8[D]"))
    return str(label)


def regular_grid(labels: NDArray) -> NDArray:
    """Return the evenly spaced times from the first to the last of some that leave gaps.

    Of the rules that all labels follow, the one that adds the fewest.

    Parameters
    ----------
    labels : ndarray of int64 or datetime64 of shape (n,)
        Rising.

    Raises
    ------
    ValueError
        Where they follow no rule.
    """
    grids = []
    for rule, steps in _steps(labels):
        gaps, counts = np.unique(steps, return_counts=True)
        step = gaps[counts.argmax()]
        if not (steps % step).any():
            grids.append(RULES[rule][1](labels[0], step * np.arange(steps.sum() // step + 1)))
    if not grids:
        raise ValueError(
            f"The times from {_text(labels[0])} to {_text(labels[-1])} follow no rule by which "
            "absent rows could be filled in."
        )
    return np.asarray(min(grids, key=len))


def _steps(labels: NDArray) -> Iterator[tuple[str, NDArray]]:
    """Yield the rules that labels are counted by, with how many units each is from the last."""
    for rule, (count, _) in RULES.items():
        if rule == "even" or labels.dtype.kind == "M":
            steps = np.diff(count(labels))
            if len(steps) and (steps > 0).all():
                yield rule, steps


def _moments(labels: NDArray) -> NDArray:
    return labels.astype(np.int64)


def _months(labels: NDArray) -> NDArray:
    months = labels.astype("M8[M]")
    since = labels - months
    return months.astype(np.int64) if (since == since[0]).all() else NOTHING


def _month_ends(labels: NDArray) -> NDArray:
    # The day after a month's end is the first of the next, whatever the length of the month.
    return _months(labels + DAY) if (labels == labels.astype("M8[D]")).all() else NOTHING


def _business_days(labels: NDArray) -> NDArray:
    days = labels.astype("M8[D]")
    whole = (labels == days).all() and np.is_busday(days).all()
    return np.busday_count(days[0], days) if whole else NOTHING


def _in_months(last: np.datetime64, steps: NDArray) -> NDArray:
    month = last.astype("M8[M]")
    return (month + steps).astype(last.dtype) + (last - month)


def _in_business_days(last: np.datetime64, steps: NDArray) -> NDArray:
    return np.busday_offset(last.astype("M8[D]"), steps).astype(last.dtype)


# name: (numbers of labels counted by the rule, or nothing; the labels a number of units later)
RULES: dict[str, tuple[Callable[[NDArray], NDArray], Callable[[Any, NDArray], NDArray]]] = {
    "even": (_moments, lambda last, steps: last + steps),
    "months": (_months, _in_months),
    "month ends": (_month_ends, lambda last, steps: _in_months(last + DAY, steps) - DAY),
    "business days": (_business_days, _in_business_days),
}
