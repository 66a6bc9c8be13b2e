"""Lists of edges as lines of text: delimiters, first lines with names, formats of networkx."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from atomstream.exceptions import InputError
from atomstream.io.edge_columns import (
    ENDS,
    WEIGHT,
    EdgeOptions,
    EdgeTable,
    all_numbers,
    ends_of,
    weight_attribute,
)
from atomstream.io.heads import NOTHING, SAY_COMMA
from atomstream.io.lines import text_lines

DELIMITERS = {"\t": "tabs", "|": "bars", ";": "semicolons", ",": "commas"}  # rare signs first
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
    lines = list(_lines(path))
    sign = _delimiter(lines, options, path) if options.delimiter is None else options.delimiter
    rows = [_fields(line.text, sign) for line in lines]
    if any(line.data is not None for line in lines):
        names = _take_attributes(path, lines, rows, options)
    elif _has_names(rows, options):
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


def _lines(path: Path) -> Iterator[_Line]:
    for number, line in enumerate(text_lines(path), start=1):
        text = line.strip()
        if not text or text[0] in "#%":
            continue
        brace = text.find("{") if text[-1] == "}" else -1
        if brace > 0:
            yield _Line(number, text[:brace].rstrip(), _literal(path, number, text[brace:]))
        else:
            yield _Line(number, text, None)


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


def _delimiter(lines: Sequence[_Line], options: EdgeOptions, path: Path) -> str:
    """Return the sign that more than half of the lines have; a blank where none is."""
    texts = [re.sub('"[^"]*"', "", line.text) if '"' in line.text else line.text for line in lines]
    for sign in DELIMITERS:
        if sign == options.decimal or 2 * sum(sign in text for text in texts) <= len(texts):
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


def _has_names(rows: Sequence[Sequence[str]], options: EdgeOptions) -> bool:
    """Return whether the first line names columns: known names, or texts above nothing but numbers.

    Nodes may be texts or numbers; that is why both of them, or the weight, must be texts here.
    """
    if not rows or ends_of(rows[0]) is not None:
        return bool(rows)
    first, below = rows[0], rows[1:]
    texts = [not all_numbers([field], options.decimal) for field in first]
    alike = below and len(first) in (2, 3) and all(len(row) == len(first) for row in below)
    if not alike or not all(texts):
        return False
    if len(first) == 3 and (first[2] in NOTHING or not re.fullmatch(r"[^\W\d]\w*", first[2])):
        return False
    # Of three columns the last one, the weight, tells; of two both of them do.
    return all(all_numbers(row[2:] or row, options.decimal) for row in below)


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
