"""Tables of edges: lines of text, their delimiter and first line, columns of nodes and weights."""

import ast
import csv
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atomstream.exceptions import InputError, NetworkWarning
from atomstream.io.input_options import AUTO, OF_TEXT, YES, TableOptions, is_among, lines_left_out
from atomstream.io.number_format import DECIMAL_COMMA, NOTHING, PLAIN, SAY_COMMA, NumberFormat
from atomstream.io.texts import text_lines

Edges = tuple[Sequence[Any], Sequence[Any], Sequence[float | None]]  # tails, heads, weights

# Names of the columns of nodes, in small or large letters.
ENDS = (("source", "target"), ("tail", "head"), ("from", "to"), ("node1", "node2"))
EDGE_READING = (*OF_TEXT, "decimal", "thousands", "where_used")
WEIGHT = "weight"
UNIX_SECONDS = (631_152_000, 4_102_444_800)  # of 1990 and 2100
NO_NODE = (None, "")
AS_USUAL = TableOptions()
OF_NEIGHBOURS = (
    "# GMT "  # how the second line begins that networkx writes above lists of neighbours
)


@dataclass(frozen=True)
class EdgeOptions:
    """Options for reading edges; each one concerns only some kinds of data.

    Parameters
    ----------
    weight : str or None, default="weight"
        Column or attribute of edges that holds their weights; None counts every edge as 1.
    table : TableOptions, default=TableOptions()
        How lines of text are written. By default the delimiter is the sign that most lines have: a
        tab, a bar, a semicolon or a comma, else blanks.

    Raises
    ------
    ValueError
        If ``weight`` is neither a text nor None.
    """

    weight: str | None = WEIGHT
    table: TableOptions = AS_USUAL

    def __post_init__(self) -> None:
        if self.weight is not None and not isinstance(self.weight, str):
            raise ValueError(f"weight must be the name of a column or None, got {self.weight!r}.")

    @property
    def form(self) -> NumberFormat:
        """How weights are written."""
        return self.table.numbers


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
        weights = [_number(field, options.form) for field in self.columns[weight]]
        for row, value in enumerate(weights):
            if value is None or not 0 <= value < math.inf:
                field = self.columns[weight][row]
                comma = DECIMAL_COMMA.fullmatch(str(field)) and options.table.decimal == "."
                raise InputError(
                    f"{self.place(row)}: the weight {field!r:.40} is not a finite number of at "
                    f"least 0{f'; for decimal commas {SAY_COMMA}' if comma else ''}."
                )
        name = self.names[weight]
        if options.weight == WEIGHT != name.lower() and _are_times(weights):
            warnings.warn(
                f"The third column of {self.name} holds times in Unix seconds, such as "
                f"{self.columns[weight][0]}, so each edge counts as 1; if these are weights, call "
                "the column weight.",
                NetworkWarning,
                stacklevel=2,
            )
            weights = [1.0] * len(tails)
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
        # The column that is asked for, else the usual name in any letters, else the third by its
        # place.
        others = [place for place in range(len(names)) if place not in (tail, head)]
        named = [place for place in others if names[place] == options.weight]
        if options.weight == WEIGHT:
            named += [place for place in others if names[place].lower() == WEIGHT]
            named += others if ends is None else []  # the third column by its place
        if named or options.weight is None:
            return tail, head, next(iter(named), None)
        numbers = {i: all_numbers(self.columns[i], options.form) for i in others}
        known = {names[i]: bool(self.columns[i]) and found for i, found in numbers.items()}
        _other_weight(options, known, self.name)
        return tail, head, None


def _are_times(weights: Sequence[float | None]) -> bool:
    """Return whether all numbers are times of our days in seconds or milliseconds since 1970."""
    seconds = np.array(weights, dtype=np.float64)
    low, high = UNIX_SECONDS
    ranges = (((seconds >= unit * low) & (seconds <= unit * high)).all() for unit in (1, 1000))
    return len(seconds) > 0 and any(ranges)


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


def all_numbers(values: Iterable[Any], form: NumberFormat = PLAIN) -> bool:
    """Return whether fields of a table are numbers, and none of them is True or False."""
    return all(not isinstance(v, bool) and _number(v, form) is not None for v in values)


def _number(value: Any, form: NumberFormat) -> float | None:
    """Return a field of a table as a number; None where it is none."""
    try:
        return form.number(value)
    except (TypeError, ValueError):
        return None


DELIMITERS = {"\t": "tabs", "|": "bars", ";": "semicolons", ",": "commas"}  # rare ones first
LAST_DECIMAL = re.compile(r"\S+\s+\S+\s+[+-]?\d*,\d+")


class _Line(NamedTuple):
    """A line of text that is neither empty nor a comment."""

    number: int
    text: str  # without the attributes
    data: dict[str, Any] | None  # the attributes of the edge in braces, as networkx writes them


def read_edge_list(path: Path, options: EdgeOptions) -> EdgeTable:
    """Return the edges in lines of text, plain or compressed (.gz).

    A line holds two nodes and optionally a weight, or attributes in braces (the formats of
    ``networkx.write_weighted_edgelist`` and ``write_edgelist``). After a first line with names of
    columns there may be more of them.

    Raises
    ------
    InputError
        For lines that are not an edge, with their number and what would help.
    """
    lines, told = list(_lines(path, options.table)), options.table.delimiter
    sign = _delimiter(lines, options.table, path) if told is None else told
    rows = [_fields(line.text, sign) for line in lines]
    if any(line.data is not None for line in lines):
        names = _take_attributes(path, lines, rows, options)
    elif _has_names(rows, options.table):
        names, lines = rows.pop(0), lines[1:]
        for line, row in zip(lines, rows, strict=True):
            if len(row) != len(names):
                raise InputError(_malformed(path, line, len(names), sign))
    else:
        names = ["", "", ""]  # by place
        for line, row in zip(lines, rows, strict=True):
            if len(row) not in (2, 3) or not all(row[:2]):
                raise InputError(_malformed(path, line, None, sign))
            row.extend(["1"] * (3 - len(row)))
        if options.weight not in (None, WEIGHT):
            raise InputError(
                f"{path} has no first line with names of columns, and so no {options.weight!r}."
            )
    columns = [*zip(*rows, strict=True)] or [()] * len(names)
    return EdgeTable(str(path), names, columns, lambda row: f"{path}, line {lines[row].number}")


def _lines(path: Path, table: TableOptions) -> Iterator[_Line]:
    out, comments = lines_left_out(table.skip_lines), ("#", "%", table.comment or "#")
    for number, line in enumerate(text_lines(path, table.encoding), start=1):
        text = line.strip()
        if line.startswith(OF_NEIGHBOURS):
            raise InputError(neighbours(path))
        if not text or text.startswith(comments) or is_among(number, out):
            continue
        if table.comment is not None:
            text = text.partition(table.comment)[0].rstrip()
        brace = text.find("{") if text[-1] == "}" else -1
        if brace > 0:
            yield _Line(number, text[:brace].rstrip(), _literal(path, number, text[brace:]))
        else:
            yield _Line(number, text, None)


def neighbours(path: Path) -> str:
    """Return the complaint about lists of neighbours."""
    return (
        f"{path} lists the neighbours of a node in each line, needed is an edge in each: read it "
        "with networkx.read_adjlist, and write it with networkx.write_edgelist."
    )


def _literal(path: Path, number: int, text: str) -> dict[str, Any]:
    """Return a dict written as a literal of Python; nothing is executed."""
    try:
        data = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InputError(
            f"{path}, line {number}: the attributes {text!r:.60} cannot be read; needed is a dict "
            "of literals, such as {'weight': 2}."
        )
    return data


def _delimiter(lines: Sequence[_Line], table: TableOptions, path: Path) -> str:
    """Return the sign that more than half of the lines have; a blank where none is."""
    # Quoted fields may hold any sign.
    texts = [re.sub('"[^"]*"', "", line.text) if '"' in line.text else line.text for line in lines]
    for sign in DELIMITERS:
        if sign == table.decimal or 2 * sum(sign in text for text in texts) <= len(texts):
            continue
        if sign == "," and all(LAST_DECIMAL.fullmatch(text) for text in texts):
            raise InputError(
                f"{path} seems to have decimal commas, as in {lines[0].text!r:.60}; {SAY_COMMA}."
            )
        return sign
    return " "


def _fields(text: str, sign: str) -> list[str]:
    if sign == " ":
        return text.partition("#")[0].split()
    row = next(csv.reader([text], delimiter=sign, skipinitialspace=True))
    return [field.strip() for field in row]


def _has_names(rows: Sequence[Sequence[str]], table: TableOptions) -> bool:
    """Return whether the first line names columns: known names, or texts above nothing but numbers.

    Nodes may be texts or numbers; that is why both of them, or the weight, must be texts here.
    """
    if not rows or table.header != AUTO:
        return bool(rows) and table.header == YES
    if ends_of(rows[0]) is not None:
        return True
    first, below = rows[0], rows[1:]
    form = table.numbers
    texts = [not all_numbers([field], form) for field in first]
    alike = below and len(first) in (2, 3) and all(len(row) == len(first) for row in below)
    if not alike or not all(texts):
        return False
    if len(first) == 3 and (first[2] in NOTHING or not re.fullmatch(r"[^\W\d]\w*", first[2])):
        return False
    # Of three columns the last one, the weight, tells; of two both of them do.
    return all(all_numbers(row[2:] or row, form) for row in below)


def _take_attributes(
    path: Path, lines: Sequence[_Line], rows: list[list[str]], options: EdgeOptions
) -> list[str]:
    """Put weights, which are attributes, behind the ends; return the names of the columns."""
    known = [line.data or {} for line in lines]
    name = weight_attribute(known, options, str(path))
    for line, row, data in zip(lines, rows, known, strict=True):
        if len(row) == 3 and not row[-1]:  # "a,b,{}"
            row.pop()
        if len(row) != 2 or not all(row):
            raise InputError(
                f"{path}, line {line.number}: {line.text!r:.60} is not two nodes before the "
                "attributes; nodes with blanks need another delimiter."
            )
        row += [] if name is None else [data.get(name, 1.0)]
    return [*ENDS[0]] if name is None else [*ENDS[0], name]


def _malformed(path: Path, line: _Line, width: int | None, sign: str) -> str:
    """Return what is wrong with a line, and what would help."""
    by = DELIMITERS.get(sign, "blanks" if sign == " " else f"{sign!r}")
    needed, more = "two nodes and optionally a weight,", ""
    if width is not None:
        needed = f"{width} fields, as many as the first line has,"
    elif sign == "," and re.fullmatch(".*,\\d+,\\d+", line.text):
        more = "; decimal commas need another delimiter"
    else:
        more = "; further columns need a first line that names source and target"
    return (
        f"{path}, line {line.number}: {line.text!r:.60} is not an edge; needed are {needed} with "
        f"{by} between them. If the fields have another delimiter, give it as delimiter= (on the "
        f"command line --delimiter){more}."
    )
