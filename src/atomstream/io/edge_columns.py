"""Columns of tables of edges, and attributes of edges: which are nodes, and which is the weight."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atomstream.exceptions import NetworkWarning
from atomstream.io.heads import DECIMAL_COMMA, SAY_COMMA, number_of

__all__ = [
    "Edge",
    "EdgeOptions",
    "check_no_weight",
    "ends_of",
    "is_number",
    "no_weight",
    "table_edges",
    "weight_attribute",
    "weight_of",
]

Edge = tuple[Any, Any, float]

# Names of the columns of nodes, in small or large letters.
ENDS = (("source", "target"), ("tail", "head"), ("from", "to"), ("node1", "node2"))
WEIGHT = "weight"
NO_NODE = (None, "")


@dataclass(frozen=True)
class EdgeOptions:
    """Options for reading edges; each one concerns only some kinds of data.

    Parameters
    ----------
    weight : str or None, default="weight"
        Column or attribute of edges that holds their weights; None counts every edge as 1.
    delimiter : str, optional
        One sign between the fields of a line; a blank stands for any number of blanks and tabs, and
        a backslash with a t for a tab. By default the sign that most lines have: a tab, a bar, a
        semicolon or a comma, else blanks.
    decimal : {".", ","}, default="."
        Decimal sign of weights in text.

    Raises
    ------
    ValueError
        For a delimiter or a decimal sign out of range.
    """

    weight: str | None = WEIGHT
    delimiter: str | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.weight is not None and not isinstance(self.weight, str):
            raise ValueError(f"weight must be the name of a column or None, got {self.weight!r}.")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r:.40}.")
        sign = self.delimiter
        if sign is None:
            return
        if sign == r"\t":  # as it is typed on a command line
            object.__setattr__(self, "delimiter", "\t")
            return
        if not isinstance(sign, str) or len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
            raise ValueError(
                "delimiter must be one sign that is no letter, digit or quotation mark, got "
                f"{sign!r:.40}."
            )
        if sign == self.decimal:
            raise ValueError(f"delimiter and decimal are both {sign!r}; they must differ.")


def table_edges(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    options: EdgeOptions,
    what: str,
    where: Callable[[int], str],
) -> list[Edge]:
    """Return the edges in the rows of a table.

    Parameters
    ----------
    names : sequence of str
        Names of the columns: known names of both ends, or two or three columns by their places.
    rows : sequence of sequences
    options : EdgeOptions
    what : str
        Name of the table in messages.
    where : callable
        Returns what messages call a row.

    Raises
    ------
    ValueError
        For tables without the columns that are needed, and for rows that are not an edge.
    """
    tail, head, weight = _columns(names, rows, options, what)
    edges = []
    for place, row in enumerate(rows):
        start, end = row[tail], row[head]
        if start in NO_NODE or end in NO_NODE or start != start or end != end:
            raise ValueError(f"{where(place)} lacks a node: {start!r}, {end!r}.")
        found = 1.0 if weight is None else row[weight]
        value = weight_of(found, options.decimal)
        if value is None:
            raise ValueError(no_weight(found, where(place), options.decimal))
        edges.append((start, end, value))
    return edges


def weight_attribute(
    attributes: Iterable[Mapping[str, Any]], options: EdgeOptions, what: str
) -> str | None:
    """Return the attribute of edges that is their weight; None counts every edge as 1.

    Parameters
    ----------
    attributes : iterable of mappings
        Of all edges; an edge without the attribute counts as 1.
    options : EdgeOptions
    what : str
        Name of the network in messages.

    Raises
    ------
    ValueError
        Where no edge has the attribute that was asked for.

    Warns
    -----
    NetworkWarning
        Where no edge has a weight, and there is exactly one other number to take.
    """
    numeric: dict[str, bool] = {}
    for data in attributes:
        for name, value in data.items():
            number = not isinstance(value, str) and is_number(value)
            numeric[name] = numeric.get(name, True) and number
    if options.weight is None or options.weight in numeric:
        return options.weight
    _other_weight(options, [*map(str, numeric)], [n for n in numeric if numeric[n]], what)
    return None


def check_no_weight(options: EdgeOptions, what: str) -> None:
    """Refuse a weight that was asked for of a network whose edges have no attributes."""
    if options.weight is not None:
        _other_weight(options, [], [], what)


def _other_weight(
    options: EdgeOptions, known: list[str], numbers: Sequence[str], what: str
) -> None:
    """Refuse a weight that was asked for and is nowhere; warn of another one that was not."""
    if options.weight != WEIGHT:
        there = f"they have {', '.join(map(repr, known[:5]))}" if known else "they have none"
        raise ValueError(f"The edges of {what} have no {options.weight!r}; {there}.")
    if len(numbers) == 1:
        warnings.warn(
            f"The edges of {what} have no 'weight', so each counts as 1; to weigh them by "
            f"{numbers[0]!r}, give weight={numbers[0]!r} (on the command line --weight).",
            NetworkWarning,
            stacklevel=2,
        )


def ends_of(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of the columns of nodes by their names; None where they have others."""
    plain = [name.lower() for name in names]
    known = next((ends for ends in ENDS if set(ends) <= set(plain)), None)
    return None if known is None else (plain.index(known[0]), plain.index(known[1]))


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[Any]], options: EdgeOptions, what: str
) -> tuple[int, int, int | None]:
    """Return the places of tail, head and weight; None where every edge counts as 1."""
    ends = ends_of(names)
    if ends is None and len(names) not in (2, 3):
        raise ValueError(
            f"{what[0].upper()}{what[1:]} needs two columns, three with weights, or columns called "
            f"source and target; got {len(names)} columns."
        )
    tail, head = ends or (0, 1)
    others = [place for place in range(len(names)) if place not in (tail, head)]
    named = [place for place in others if names[place] == options.weight]
    if options.weight == WEIGHT:
        named += [place for place in others if names[place].lower() == WEIGHT]
        named += others if ends is None else []  # the third column by its place
    if named or options.weight is None:
        return tail, head, next(iter(named), None)
    numbers = [
        names[place]
        for place in others
        if rows and all(is_number(row[place], options.decimal) for row in rows)
    ]
    _other_weight(options, [names[place] for place in others], numbers, what)
    return tail, head, None


def is_number(value: Any, decimal: str = ".") -> bool:
    """Return whether a field of a table is a number, and not True or False."""
    return not isinstance(value, bool) and _number(value, decimal) is not None


def _number(value: Any, decimal: str) -> float | None:
    """Return a field of a table as a number; None where it is none."""
    try:
        return number_of(value, decimal) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return None


def weight_of(value: Any, decimal: str) -> float | None:
    """Return a weight; None where it is no finite number of at least 0."""
    weight = _number(value, decimal)
    return weight if weight is not None and 0 <= weight < math.inf else None


def no_weight(value: Any, where: str, decimal: str) -> str:
    """Return what is wrong with a weight, and what would help."""
    comma = isinstance(value, str) and decimal == "." and DECIMAL_COMMA.fullmatch(value)
    more = f"; for decimal commas {SAY_COMMA}" if comma else ""
    return f"{where}: the weight {value!r:.40} is not a finite number of at least 0{more}."
