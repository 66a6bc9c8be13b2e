"""Lists of edges as lines of text: delimiters, first lines with names, formats of networkx."""

from __future__ import annotations

import ast
import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from atomstream.io.edge_columns import (
    WEIGHT,
    Edge,
    EdgeOptions,
    ends_of,
    is_number,
    no_weight,
    table_edges,
    weight_attribute,
    weight_of,
)
from atomstream.io.heads import NOTHING, SAY_COMMA

__all__ = ["read_edge_list"]

DELIMITERS = {"\t": "tabs", "|": "bars", ";": "semicolons", ",": "commas"}  # rare signs first
LAST_DECIMAL = re.compile(r"\S+\s+\S+\s+[+-]?\d*,\d+")


class _Line(NamedTuple):
    """A line of text that is neither empty nor a comment."""

    number: int
    text: str  # without the attributes
    data: dict[str, Any] | None  # the attributes of the edge in braces, as networkx writes them


def read_edge_list(path: Path, options: EdgeOptions) -> list[Edge]:
    """Return the edges in lines of text, plain or compressed (.gz).

    A line holds two nodes and optionally a weight, or attributes in braces (the formats of
    ``networkx.write_weighted_edgelist`` and ``write_edgelist``). After a first line with names of
    columns there may be more of them.

    Raises
    ------
    ValueError
        For lines that are not an edge, with their number and what would help.
    """
    lines = list(_lines(path))
    sign = _delimiter(lines, options, path) if options.delimiter is None else options.delimiter
    rows = [_fields(line.text, sign) for line in lines]
    if any(line.data is not None for line in lines):
        return _with_attributes(path, lines, rows, options)
    names = rows[0] if _has_names(rows, options) else None
    body = [*zip(lines, rows, strict=True)][names is not None :]
    for line, fields in body:
        fits = len(fields) in (2, 3) if names is None else len(fields) == len(names)
        if not fits or (names is None and not all(fields[:2])):
            raise ValueError(_malformed(path, line, names, sign))
    if names is None:
        if options.weight not in (None, WEIGHT):
            raise ValueError(
                f"{path} has no first line with names of columns, and so no {options.weight!r}."
            )
        names = ["", "", ""]  # by place
        for _, fields in body:
            fields.extend(["1"] * (3 - len(fields)))
    return table_edges(
        names,
        [fields for _, fields in body],
        options,
        str(path),
        lambda place: f"{path}, line {body[place][0].number}",
    )


def _lines(path: Path) -> Iterator[_Line]:
    packed = path.suffix.lower() == ".gz"
    with (
        gzip.open(path, "rt", encoding="utf-8-sig")
        if packed
        else path.open(encoding="utf-8-sig") as lines
    ):
        for number, line in enumerate(lines, start=1):
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
        raise ValueError(
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
            raise ValueError(
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
    if not below or any(len(row) != len(first) for row in below):
        return False
    texts = [not is_number(field, options.decimal) for field in first]

    def numbers(column: int) -> bool:
        return all(is_number(row[column], options.decimal) for row in below)

    if len(first) == 3 and texts[2]:
        word = first[2] not in NOTHING and re.fullmatch(r"[^\W\d]\w*", first[2])
        return all(texts) and bool(word) and numbers(2)
    return len(first) == 2 and all(texts) and numbers(0) and numbers(1)


def _with_attributes(
    path: Path, lines: Sequence[_Line], rows: list[list[str]], options: EdgeOptions
) -> list[Edge]:
    """Return edges whose lines end with their attributes."""
    known = [line.data or {} for line in lines]
    name = weight_attribute(known, options, str(path))
    edges: list[Edge] = []
    for line, fields, data in zip(lines, rows, known, strict=True):
        ends = fields[:-1] if len(fields) == 3 and not fields[-1] else fields  # "a,b,{}"
        if len(ends) != 2 or not all(ends):
            raise ValueError(
                f"{path}, line {line.number}: {line.text!r:.60} is not two nodes before the "
                "attributes; nodes with blanks need another delimiter."
            )
        value = 1.0 if name is None else data.get(name, 1.0)
        weight = weight_of(value, options.decimal)
        if weight is None:
            where = f"{path}, line {line.number}"
            raise ValueError(no_weight(value, where, options.decimal))
        edges.append((ends[0], ends[1], weight))
    return edges


def _malformed(path: Path, line: _Line, names: Sequence[str] | None, sign: str) -> str:
    """Return what is wrong with a line, and what would help."""
    by = DELIMITERS.get(sign, "blanks" if sign == " " else f"{sign!r}")
    needed, more = f"two nodes and optionally a weight, with {by} between them", ""
    if names is not None:
        needed = f"{len(names)} fields, as many as the first line has, with {by} between them"
    elif sign == "," and re.fullmatch(".*,\\d+,\\d+", line.text):
        more = "; decimal commas need another delimiter"
    else:
        more = "; further columns need a first line that names source and target"
    return (
        f"{path}, line {line.number}: {line.text!r:.60} is not an edge; needed are {needed}. "
        "If the fields have another delimiter, give it as delimiter= (on the command line "
        f"--delimiter){more}."
    )
