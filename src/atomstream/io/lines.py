"""Lines of text: read whole and bounded; what the first ones tell of a table; their numbers."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from atomstream.exceptions import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_BYTES = 1 << 22
MAX_LINE_BYTES = 1 << 27
MAX_CHARACTERS = 1 << 27  # of a line of text: a packed file may stand for any number
BLANKS = b" \r\n"  # what a line without fields holds


@contextmanager
def opened(path: Any) -> Iterator[Any]:
    """Open a file to read its bytes; of one that ends in .gz, what was compressed."""
    with path.open("rb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.open(file) as unpacked:
            yield unpacked


def chunks_of(fill: Callable[[memoryview], int], name: str) -> Iterator[memoryview]:
    """Yield chunks of whole lines, without a byte order mark; the last line gets its end.

    Each chunk is valid until the next one is requested.

    Parameters
    ----------
    fill : callable
        Writes into a buffer and returns the number of bytes, 0 at the end.
    name : str
        Of the file, for messages.

    Raises
    ------
    InputError
        For lines without end, and for lines that end with carriage returns alone, which would not
        be counted.
    """
    buffer, filled = bytearray(CHUNK_BYTES), 0  # one for all chunks: new memory takes time
    mark = BYTE_ORDER_MARK
    while came := fill(memoryview(buffer)[filled:]):
        filled += came
        if mark and buffer.startswith(mark):
            buffer[: filled - len(mark)] = buffer[len(mark) : filled]
            filled -= len(mark)
        mark = b""
        end = buffer.rfind(b"\n", 0, filled) + 1
        if end:
            _check_line_ends(buffer, end, name)
            yield memoryview(buffer)[:end]
            # The beginning of the next line moves to the front.
            buffer[: filled - end] = buffer[end:filled]
            filled -= end
        elif filled > MAX_LINE_BYTES:
            raise InputError(
                f"{name} has a line of more than {MAX_LINE_BYTES} bytes; it is not a table."
            )
        # One line fills all of it, so it is doubled.
        elif filled == len(buffer):
            buffer = buffer + bytes(filled)
    if filled:
        _check_line_ends(buffer, filled, name)
        yield memoryview(buffer[:filled] + b"\n")


def _check_line_ends(buffer: bytearray, end: int, name: str) -> None:
    if buffer.find(b"\r", 0, end) < 0:
        return
    if buffer.count(b"\r", 0, end) != buffer.count(b"\r\n", 0, end) + buffer.endswith(
        b"\r", 0, end
    ):
        raise InputError(
            f"{name} has carriage returns inside lines; save it with one kind of line end."
        )


def standard_input(room: memoryview) -> int:
    """Read the available bytes of standard input, and wait for the first one.

    Python's own buffer is not used, because its lock would delay the end of the program.
    """
    data = os.read(0, len(room))
    # What is there without waiting comes too: fewer and larger blocks.
    while data and len(data) < len(room) and select.select([0], [], [], 0)[0]:
        more = os.read(0, len(room) - len(data))
        if not more:
            break
        data += more
    room[: len(data)] = data
    return len(data)


def text_lines(path: Any, newline: str | None = None) -> Iterator[str]:
    """Yield the lines of a text in UTF-8, with their ends; none of them may be too long.

    Parameters
    ----------
    path : path
    newline : str, optional
        As `open` takes it: "" leaves the ends of lines inside of quoted fields as they are.
    """
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline=newline)
        while line := text.readline(MAX_CHARACTERS + 1):
            yield line if len(line) <= MAX_CHARACTERS else _bounded(line, path)


def whole_text(path: Any) -> str:
    """Return a text in UTF-8, which must not be too long."""
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        return _bounded(text.read(MAX_CHARACTERS + 1), path)


def _bounded(text: str, path: Any) -> str:
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{path} has a text of more than {MAX_CHARACTERS} characters.")
    return text


NOTHING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "#N/A"]
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
SAY_COMMA = "give decimal=',' (on the command line --decimal ,)"
MAX_NAMES = 5  # columns that a message lists


@dataclass(frozen=True)
class Naming:
    """Which columns of a table name its rows: these are never features.

    Parameters
    ----------
    ids : sequence of str, default=()
        Columns that must be there.
    known : sequence of str, default=()
        Columns that count where they are there.
    kept : bool, default=False
        Whether blocks carry them.
    """

    ids: Sequence[str] = ()
    known: Sequence[str] = ()
    kept: bool = False

    def places(
        self, names: list[str], source: str, rows: Sequence[Sequence[str]] = (), some: bool = False
    ) -> list[int]:
        """Return the places of these columns.

        Parameters
        ----------
        names : list of str
            Of all columns.
        source : str
            Name of the table, for messages.
        rows : sequence of sequences of str, default=()
            First rows of a table of text.
        some : bool, default=False
            Whether columns of numbers were chosen by name.
        """
        wanted = [*(name for name in self.known if name in names), *self.ids]
        return list(dict.fromkeys(chosen(names, wanted, source))) if wanted else []


UNNAMED = Naming()


class Head(NamedTuple):
    """The beginning of a table of text."""

    delimiter: str
    header: bool  # whether the first line names the columns
    names: list[str]  # else they have numbers
    rows: list[list[str]]  # the first ones


def head_of(sample: str, name: str, decimal: str = ".") -> Head:
    """Return what the first lines of a table tell.

    Raises
    ------
    InputError
        Where there are no lines of text, or numbers seem to have decimal commas and ``decimal`` is
        a point.
    """
    if decimal not in (".", ","):
        raise InputError(f"decimal is {decimal!r:.40}, needed is '.' or ','.")
    lines = [line for line in sample.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{name} has no lines.")
    if "\0" in sample:
        raise InputError(f"{name} holds zero bytes, needed are lines of text.")
    # The sign that the first line has most often outside of quotes parts the fields.
    unquoted = re.sub(r'"[^"]*"', "", lines[0])
    others = max(";\t|", key=unquoted.count)
    # A comma between quoted fields is a delimiter even where it is the decimal sign.
    commas = decimal == "." or (others not in unquoted and '"' in "".join(lines[:2]))
    delimiter = max(("," if commas else "") + ";\t|", key=unquoted.count)
    rows = list(csv.reader(lines, delimiter=delimiter))
    if delimiter == "," and others in unquoted:
        _check_decimal(list(csv.reader(lines, delimiter=others)), name)
    header = _has_header(rows, decimal)
    names = rows[0] if header else [str(number + 1) for number in range(len(rows[0]))]
    return Head(delimiter, header, names, rows[header:])


def _check_decimal(rows: list[list[str]], name: str) -> None:
    """Raise where other delimiters part lines evenly, with fields such as 1,5 among them."""
    found = next((field for row in rows for field in row if DECIMAL_COMMA.fullmatch(field)), None)
    if found is not None and len(set(map(len, rows))) == 1:
        raise InputError(f"{name} has decimal commas, as in {found!r}; {SAY_COMMA}.")


def number_of(field: Any, decimal: str = ".") -> float:
    """Return the number in a field; beside decimal commas a point may mean thousands: refused.

    Raises
    ------
    TypeError, ValueError
        For what is no number.
    """
    if isinstance(field, str):
        if decimal == ",":
            field = field.replace(".", "x").replace(",", ".")
        field = field.replace("_", "x")  # Python takes 1_000 for a number, tables do not
    return float(field)


def entry_of(field: Any, decimal: str = ".") -> float:
    """Return the number in a field of a table; NaN for one of the signs of a missing entry."""
    if field is None or (isinstance(field, str) and field.strip() in NOTHING):
        return math.nan
    return number_of(field, decimal)


def _is_entry(field: str, decimal: str) -> bool:
    """Return whether a field is a number, or one of the signs of a missing entry."""
    try:
        entry_of(field, decimal)
    except (TypeError, ValueError):
        return False
    return True


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Return whether the first line is a header: only texts, or a text above a number."""
    texts = [not _is_entry(field, decimal) for field in rows[0]]
    empty = [field.strip() in NOTHING for field in rows[0]]
    if any(texts) and all(text or nothing for text, nothing in zip(texts, empty, strict=True)):
        return True
    below = rows[1] if rows[1:] else []
    pairs = zip(texts, below, strict=False)
    return any(text and _is_entry(field, decimal) for text, field in pairs)


def chosen(names: list[str], columns: Sequence[str], source: str) -> list[int]:
    """Return the places of columns given by name, number or range; by default all."""
    if not columns:
        return list(range(len(names)))
    places: list[int] = []
    for column in columns:
        span = re.fullmatch(r"(\d+)-(\d+)", column)
        if column in names:
            places.append(names.index(column))
        elif column.isdecimal() and 1 <= int(column) <= len(names):
            places.append(int(column) - 1)
        elif span and 1 <= int(span[1]) <= int(span[2]) <= len(names):
            places.extend(range(int(span[1]) - 1, int(span[2])))
        else:
            raise InputError(
                f"{source} has no column {column!r}; it has {len(names)}: {_listed(names)}."
            )
    return places


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name)[:40] for name in names[:MAX_NAMES])
    return shown + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")


def refuse_texts(texts: dict[str, str], name: str) -> None:
    """Raise for columns of text; ``texts`` maps each name to an example."""
    if texts:
        first = next(iter(texts.items()))
        comma = DECIMAL_COMMA.fullmatch(first[1])
        raise InputError(
            f"{name}: {'columns' if len(texts) > 1 else 'column'} {_listed(list(texts))} "
            f"{'are' if len(texts) > 1 else 'is'} not numeric ({first[0]!r:.40} holds "
            f"{first[1]!r:.40}); {f'for decimal commas {SAY_COMMA}, or ' if comma else ''}"
            "choose others with --columns."
        )


def texts_in(
    rows: list[list[str]], names: list[str], kept: list[int], lenient: bool, decimal: str
) -> dict[str, str]:
    """Return the columns of texts, each with one; where lines may be bad, those of nothing else."""
    texts: dict[str, str] = {}
    for i in kept:
        fields = [row[i] for row in rows if i < len(row)]
        wrong = [field for field in fields if not _is_entry(field, decimal)]
        if wrong and (len(wrong) == len(fields) or not lenient):
            texts[names[i]] = wrong[0]
    return texts
