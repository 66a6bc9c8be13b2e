"""Columns of tables of edges, and attributes of edges: which are nodes, and which is the weight."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from atomstream.exceptions import InputError, NetworkWarning
from atomstream.io.heads import DECIMAL_COMMA, SAY_COMMA, number_of

Edges = tuple[Sequence[Any], Sequence[Any], Sequence[float | None]]  # tails, heads, weights

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


class EdgeTable(NamedTuple):
    """A table with an edge in each row.

    Attributes
    ----------
    name : str
        For messages.
    names : sequence of str
        Known names of both ends, or two or three columns by their places.
    columns : sequence of sequences
    place : callable
        Returns what messages call a row.
    """

    name: str
    names: Sequence[str]
    columns: Sequence[Sequence[Any]]
    place: Callable[[int], str]

    def edges(self, options: EdgeOptions) -> Edges:
        """Return tails, heads and weights.

        Raises
        ------
        InputError
            For tables without the columns that are needed, and for rows that are not an edge.
        """
        tail, head, weight = self._chosen(options)
        tails, heads = self.columns[tail], self.columns[head]
        for row, (start, end) in enumerate(zip(tails, heads, strict=True)):
            if start in NO_NODE or end in NO_NODE or start != start or end != end:
                raise InputError(f"{self.place(row)} lacks a node: {start!r}, {end!r}.")
        if weight is None:
            return tails, heads, [1.0] * len(tails)
        weights = [_number(field, options.decimal) for field in self.columns[weight]]
        for row, value in enumerate(weights):
            if value is None or not 0 <= value < math.inf:
                field = self.columns[weight][row]
                comma = DECIMAL_COMMA.fullmatch(str(field)) and options.decimal == "."
                raise InputError(
                    f"{self.place(row)}: the weight {field!r:.40} is not a finite number of at "
                    f"least 0{f'; for decimal commas {SAY_COMMA}' if comma else ''}."
                )
        return tails, heads, weights

    def _chosen(self, options: EdgeOptions) -> tuple[int, int, int | None]:
        """Return the places of tail, head and weight; None where every edge counts as 1."""
        names, ends = self.names, ends_of(self.names)
        if ends is None and len(names) not in (2, 3):
            raise InputError(
                f"{self.name[0].upper()}{self.name[1:]} needs two columns, three with weights, or "
                f"columns called source and target; got {len(names)} columns."
            )
        tail, head = ends or (0, 1)
        others = [place for place in range(len(names)) if place not in (tail, head)]
        named = [place for place in others if names[place] == options.weight]
        if options.weight == WEIGHT:
            named += [place for place in others if names[place].lower() == WEIGHT]
            named += others if ends is None else []  # the third column by its place
        if named or options.weight is None:
            return tail, head, next(iter(named), None)
        numbers = {i: all_numbers(self.columns[i], options.decimal) for i in others}
        known = {names[i]: bool(self.columns[i]) and found for i, found in numbers.items()}
        _other_weight(options, known, self.name)
        return tail, head, None


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
    InputError
        Where no edge has the attribute that was asked for.

    Warns
    -----
    NetworkWarning
        Where no edge has a weight, and there is exactly one other number to take.
    """
    values: dict[str, list[Any]] = {}
    for data in attributes:
        for name, value in data.items():
            values.setdefault(name, []).append(value)
    if options.weight is None or options.weight in values:
        return options.weight
    texts = {name: any(isinstance(value, str) for value in values[name]) for name in values}
    _other_weight(options, {n: not texts[n] and all_numbers(values[n]) for n in values}, what)
    return None


def check_no_weight(options: EdgeOptions, what: str) -> None:
    """Refuse a weight that was asked for of a network whose edges have no attributes."""
    if options.weight is not None:
        _other_weight(options, {}, what)


def _other_weight(options: EdgeOptions, known: Mapping[str, bool], what: str) -> None:
    """Refuse a weight that was asked for and is nowhere; warn of another one that was not.

    ``known`` are the other attributes, and whether they are numbers.
    """
    if options.weight != WEIGHT:
        there = f"they have {', '.join(map(repr, [*known][:5]))}" if known else "they have none"
        raise InputError(f"The edges of {what} have no {options.weight!r}; {there}.")
    numbers = [name for name, numeric in known.items() if numeric]
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


def all_numbers(values: Iterable[Any], decimal: str = ".") -> bool:
    """Return whether fields of a table are numbers, and none of them is True or False."""
    return all(not isinstance(v, bool) and _number(v, decimal) is not None for v in values)


def _number(value: Any, decimal: str) -> float | None:
    """Return a field of a table as a number; None where it is none."""
    try:
        return number_of(value, decimal)
    except (TypeError, ValueError):
        return None
