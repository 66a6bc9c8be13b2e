"""Lines of text: read whole and bounded; what the first ones tell of a table; their numbers."""

import csv
import gzip
import io
import math
import os
import re
import select
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from atomstream.base import listed
from atomstream.exceptions import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_BYTES = 1 << 22
MAX_LINE_BYTES = 1 << 27
MAX_CHARACTERS = 1 << 27  # of a line of text: a packed file may stand for any number
STRAY_RETURN = re.compile(rb"\r(?!\n|\Z)")  # inside a line
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


def about(path: Any) -> int:
    """Return the number of lines of a file, counted in its beginning where it is long."""
    with path.open("rb") as file:
        packed = path.suffix.lower() == ".gz"
        came = gzip.GzipFile(fileobj=file).read(CHUNK_BYTES) if packed else file.read(CHUNK_BYTES)
        n_read, n_bytes = file.tell(), file.seek(0, os.SEEK_END)
    return round((came.count(b"\n") + (not came.endswith(b"\n"))) * n_bytes / n_read)


def chunks_of(read: Callable[[int], bytes], name: str) -> Iterator[memoryview]:
    """Yield chunks of whole lines, without a byte order mark; the last line gets its end.

    Parameters
    ----------
    read : callable
        Returns at most so many of the next bytes, none at the end, as a file's ``read`` does.
    name : str
        Of the input, for messages.
    """
    held, mark = b"", BYTE_ORDER_MARK
    while came := read(CHUNK_BYTES):
        text, mark = (held + came).removeprefix(mark), b""
        end = text.rfind(b"\n") + 1
        if end:
            _check_line_ends(text, end, name)
            yield memoryview(text)[:end]
        elif len(text) > MAX_LINE_BYTES:
            raise InputError(
                f"{name} has a line of more than {MAX_LINE_BYTES} bytes; it is not a table."
            )
        held = text[end:]
    if held:
        _check_line_ends(held, len(held), name)
        yield memoryview(held + b"\n")


def _check_line_ends(text: bytes, end: int, name: str) -> None:
    # Looked for alone first: most files have none, and the pattern is slower.
    if text.find(b"\r", 0, end) >= 0 and STRAY_RETURN.search(text, 0, end):
        raise InputError(
            f"{name} has carriage returns inside lines; save it with one kind of line end."
        )


def standard_input(size: int) -> bytes:
    """Return the available bytes of standard input, at most so many, and wait for the first one.

    Python's own buffer is not used, because its lock would delay the end of the program.
    """
    data = os.read(0, size)
    # What is there without waiting comes too: fewer and larger blocks.
    while data and len(data) < size and select.select([0], [], [], 0)[0]:
        more = os.read(0, size - len(data))
        if not more:
            break
        data += more
    return data


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
            yield line if len(line) <= MAX_CHARACTERS else bounded(line, path)


def whole_text(path: Any) -> str:
    """Return a text in UTF-8, which must not be too long."""
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig")
        return bounded(text.read(MAX_CHARACTERS + 1), path)


def bounded(text: str, path: Any) -> str:
    """Return a text that is not too long.

    Raises
    ------
    InputError
        For others.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{path} has a text of more than {MAX_CHARACTERS} characters.")
    return text


NOTHING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "#N/A"]
NUMERIC = "numeric"  # in place of the names of columns: those that hold numbers
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
SAY_COMMA = "give decimal=',' (on the command line --decimal ,)"


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


@dataclass(frozen=True)
class NumberFormat:
    """How tables of text write numbers and missing entries.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        The decimal sign. Beside decimal commas a point may mean thousands: it is refused.
    missing : sequence of str, default=()
        What stands for a missing entry besides an empty field, ``NA`` and their like.

    Raises
    ------
    InputError
        For another decimal sign.
    """

    decimal: str = "."
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"decimal is {self.decimal!r:.40}, needed is '.' or ','.")

    def entry(self, field: Any) -> float:
        """Return the number in a field of a table; NaN for a missing entry.

        Raises
        ------
        TypeError, ValueError
            For what is neither.
        """
        if field is None or (isinstance(field, str) and self.is_missing(field)):
            return math.nan
        return number_of(field, self.decimal)

    def is_missing(self, field: str) -> bool:
        """Return whether a field stands for a missing entry."""
        field = field.strip()
        return field in NOTHING or field in self.missing

    def is_entry(self, field: str) -> bool:
        """Return whether a field is a number, or stands for a missing entry."""
        try:
            self.entry(field)
        except (TypeError, ValueError):
            return False
        return True

    def sentinels(self) -> list[float]:
        """Return the numbers that stand for a missing entry, however they are written."""
        usual = NumberFormat(self.decimal)
        return [usual.entry(field) for field in self.missing if usual.is_entry(field)]


PLAIN = NumberFormat()


def head_of(sample: str, name: str, form: NumberFormat = PLAIN) -> Head:
    """Return what the first lines of a table tell.

    Raises
    ------
    InputError
        Where there are no lines of text, or numbers seem to have decimal commas and the decimal
        sign is a point.
    """
    lines = [line for line in sample.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{name} has no lines.")
    if "\0" in sample:
        raise InputError(f"{name} holds zero bytes, needed are lines of text.")
    # The sign that the first line has most often outside of quotes parts the fields.
    unquoted = re.sub(r'"[^"]*"', "", lines[0])
    others = max(";\t|", key=unquoted.count)
    # A comma between quoted fields is a delimiter even where it is the decimal sign.
    commas = form.decimal == "." or (others not in unquoted and '"' in "".join(lines[:2]))
    delimiter = max(("," if commas else "") + ";\t|", key=unquoted.count)
    rows = list(csv.reader(lines, delimiter=delimiter))
    if delimiter == "," and others in unquoted:
        _check_decimal(list(csv.reader(lines, delimiter=others)), name)
    header = _has_header(rows, form)
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


def _has_header(rows: list[list[str]], form: NumberFormat) -> bool:
    """Return whether the first line is a header: only texts, or a text above a number."""
    texts = [not form.is_entry(field) for field in rows[0]]
    empty = [form.is_missing(field) for field in rows[0]]
    if any(texts) and all(text or nothing for text, nothing in zip(texts, empty, strict=True)):
        return True
    below = rows[1] if rows[1:] else []
    pairs = zip(texts, below, strict=False)
    return any(text and form.is_entry(field) for text, field in pairs)


def chosen(
    names: list[str], columns: Sequence[str], source: str, texts: Collection[int] = ()
) -> list[int]:
    """Return the places of columns given by name, number, range or "numeric"; by default all.

    ``texts`` are the places of columns that do not hold numbers.
    """
    if not columns:
        return list(range(len(names)))
    return [place for column in columns for place in _places(names, column, source, texts)]


def dropped(names: list[str], columns: Sequence[str], source: str) -> list[int]:
    """Return the places of columns to leave out; by default none."""
    return chosen(names, columns, source) if columns else []


def _places(names: list[str], column: str, source: str, texts: Collection[int]) -> Iterable[int]:
    """Return the places that a name, a number from 1, a range or "numeric" stands for."""
    if column == NUMERIC and column not in names:
        return (place for place in range(len(names)) if place not in texts)
    if (place := _place(names, column)) is not None:
        return [place]
    for dash in re.finditer("-", column):  # names may hold dashes, too
        ends = _place(names, column[: dash.start()]), _place(names, column[dash.end() :])
        if ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]:
            return range(ends[0], ends[1] + 1)
    raise InputError(
        f"{source} has no column {column!r}; it has {len(names)}: {listed(names)}."
        f"{_did_you_mean(column, names)}"
    )


def _place(names: list[str], column: str) -> int | None:
    if column in names:
        return names.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return int(column) - 1
    return None


def _did_you_mean(column: str, names: list[str]) -> str:
    """Return a question that names the column most like an unknown one, or nothing."""
    lowered = {name.lower(): name for name in names}
    like = get_close_matches(column.lower(), lowered, n=1)
    return f" Did you mean {lowered[like[0]]!r}?" if like else ""


def refuse_texts(texts: dict[str, str], name: str) -> None:
    """Raise for chosen columns of text; ``texts`` maps each name to an example."""
    if texts:
        first = next(iter(texts.items()))
        comma = DECIMAL_COMMA.fullmatch(first[1])
        raise InputError(
            f"{name}: {'columns' if len(texts) > 1 else 'column'} {listed(list(texts))} "
            f"{'are' if len(texts) > 1 else 'is'} not numeric ({first[0]!r:.40} holds "
            f"{first[1]!r:.40}); {f'for decimal commas {SAY_COMMA}, or ' if comma else ''}"
            "choose others with --columns, leave them out with --drop, or take --columns numeric."
        )


def texts_in(
    rows: list[list[str]], n_columns: int, lenient: bool, form: NumberFormat
) -> dict[int, str]:
    """Return the columns of texts, each with one; where lines may be bad, those of nothing else."""
    texts: dict[int, str] = {}
    for i in range(n_columns):
        fields = [row[i] for row in rows if i < len(row)]
        wrong = [field for field in fields if not form.is_entry(field)]
        if wrong and (len(wrong) == len(fields) or not lenient):
            texts[i] = wrong[0]
    return texts
