"""What the beginning of a table of text tells: delimiter, names, index, kinds of columns."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from atomstream.base import counted
from atomstream.exceptions import InputError
from atomstream.io.column_names import chosen
from atomstream.io.input_options import AUTO, NO, YES, TableOptions, is_among, lines_left_out
from atomstream.io.number_format import DECIMAL_COMMA, SAY_COMMA, NumberFormat
from atomstream.io.records import BLANKS, Dialect, LineChunk
from atomstream.io.table_sample import Record, Sample, are_names

Guesses = dict[str, tuple[Any, str]]  # option: its value, and why

UNNAMED_COLUMNS = ""  # in place of the name of an index: columns at the beginning without one
SIGNS = ",;\t|"
SIGN_LINE = re.compile(r'"?sep=(.)"?\s*')  # in the first line, as spreadsheets write it
HASH = b"#"  # begins lines of comments at the top of a file
MAX_LINES_OF_RECORD = 100
ROWS_JUDGED = 20  # first ones, by which blanks are taken for delimiters


@dataclass(frozen=True)
class Head:
    """What the beginning of a table of text has told.

    Attributes
    ----------
    encoding : str
    dialect : Dialect
    n_lines : int
        Number of lines before the first row.
    names : list of str
        Of all columns; where the table has none, their numbers from 1.
    header : bool
        Whether the table has names.
    index : tuple of int
        Places of the columns that name rows.
    empty : int or None
        Place of a column that is empty because every line ends with a delimiter.
    """

    encoding: str
    dialect: Dialect
    n_lines: int
    names: list[str]
    header: bool
    index: tuple[int, ...] = ()
    empty: int | None = None


def head_of(
    sample: bytes, name: str, options: TableOptions, encoding: str, expected: str
) -> tuple[Head, Sample, Guesses]:
    """Return what the first lines of a table tell, its first rows, and what was guessed.

    Parameters
    ----------
    sample : bytes
        Whole lines of UTF-8.
    name : str
        Of the table, for messages.
    options : TableOptions
    encoding : str
    expected : str
        The delimiter that needs no word.

    Raises
    ------
    InputError
        Where there are no lines of text, lines above the table, or decimal commas that nobody told
        of.
    """
    guesses: Guesses = {}
    form = options.numbers
    top, sign = _top(sample, options, guesses, name)
    lines = sample.split(b"\n")[:-1]
    left_out = [(a, b) for a, b in lines_left_out(options.skip_lines) if b >= top.line]
    delimiter = options.delimiter or sign or _delimiter(top, form, expected, name, guesses)
    dialect = Dialect(delimiter, 0, options.comment, left_out)
    body = b"".join([line + b"\n" for line in lines[top.line - 1 :]])
    records = [Record(*each) for each in LineChunk(body, top.line, dialect).parsed()]
    first, rows = records[0], records[1:]
    if top.hashed:  # the names stand behind the sign of a comment
        first.fields[0] = first.fields[0].removeprefix(HASH.decode()).strip()
        if not first.fields[0] and dialect.sign == "\t":
            del first.fields[0]
    width = _width(first, rows)
    header = _has_header(first, Sample(rows, width, form), options, guesses, form, name, top)
    names, index, empty = _columns(first.fields, rows, width, header, options, guesses, name)
    dialect = replace(dialect, width=width)
    kept = rows if header else records
    n_lines = (kept[0].line if kept else len(lines) + 1) - 1
    # Blank lines below a header of one column are its first rows.
    if width == 1:
        n_lines = first.line - 1 + header * (1 + sum(f.count("\n") for f in first.fields))
        if b"" in map(bytes.strip, lines[n_lines : kept[-1].line if kept else 0]):
            guesses["blank lines"] = ("missing", "blank lines taken as missing entries")
    if options.index not in (AUTO, NO, UNNAMED_COLUMNS):
        index = tuple(chosen(names, (options.index,), name))
    head = Head(encoding, dialect, n_lines, names, header, index, empty)
    return head, Sample(kept, width, form), guesses


class _Top(NamedTuple):
    """The first line of the table itself."""

    line: int
    texts: list[str]  # that line and those that follow, without quoted fields
    hashed: bool  # whether it is a header behind the sign of a comment


def _top(
    sample: bytes, options: TableOptions, guesses: Guesses, name: str
) -> tuple[_Top, str | None]:
    """Return the first line that belongs to the table, and the delimiter that a line names."""
    out, sign, hashes = lines_left_out(options.skip_lines), None, list[int]()
    comment = None if options.comment is None else options.comment.encode()
    kept: list[tuple[int, bytes]] = []
    for line, text in enumerate(sample.split(b"\n")[:-1], 1):
        if (out and is_among(line, out)) or not text.strip(BLANKS):
            continue
        named = None if kept else SIGN_LINE.fullmatch(text.decode("utf-8", "replace"))
        if named and not hashes and sign is None:
            sign = named[1]
            continue
        if comment is not None and text.lstrip().startswith(comment):
            continue
        if comment is None and not kept and text.startswith(HASH):
            hashes.append(line)
            held = (line, text)
            continue
        kept.append((line, text))
    hashed = bool(hashes) and bool(kept) and options.header != NO and _fits(held[1], kept)
    if hashed or not kept:
        kept = [held, *kept] if hashes else kept
        hashes = hashes[:-1]
    if not kept:
        raise InputError(f"{name} has no lines.")
    if hashes:
        guesses["skip_lines"] = (
            str(hashes[-1]),
            f"lines that begin with '#', up to line {hashes[-1]}, left out",
        )
    return _Top(kept[0][0], _unquoted([text for _, text in kept]), hashed), sign


def _fits(text: bytes, kept: Sequence[tuple[int, bytes]]) -> bool:
    """Return whether a line behind the sign of a comment has as many fields as those below."""
    below = kept[0][1].decode("utf-8", "replace")
    plain = text.decode("utf-8", "replace").removeprefix("#").strip()
    for sign in SIGNS:
        if sign in below:
            return plain.count(sign) == below.count(sign)
    return len(plain.split()) == len(below.split()) and not plain.replace(" ", "").isdigit()


def _unquoted(lines: Sequence[bytes]) -> list[str]:
    """Return first records without their quoted fields."""
    texts, held = list[str](), ""
    for line in lines[: MAX_LINES_OF_RECORD + ROWS_JUDGED]:
        held += line.decode("utf-8", "replace")
        if held.count('"') % 2 and held.count("\n") < MAX_LINES_OF_RECORD:
            held += "\n"
            continue
        texts.append(re.sub(r'"[^"]*"', '""', held))
        held = ""
    return [*texts, *([held] if held else [])]


def _delimiter(top: _Top, form: NumberFormat, expected: str, name: str, guesses: Guesses) -> str:
    """Return the sign that the first line has most often outside of quotes."""
    first = next((text for text in top.texts if any(sign in text for sign in SIGNS)), "")
    others = max(SIGNS[1:], key=first.count)
    # A comma between quoted fields is a delimiter even where it is the decimal sign.
    quoted = '""' in "".join(top.texts[:2])
    commas = form.decimal == "." or (others not in first and quoted)
    signs = SIGNS if commas else SIGNS[1:]
    found = max(signs, key=first.count)
    if found == "," and others in first:
        _check_decimal([text.split(others) for text in top.texts], name)
    if found not in first:
        expected = ";" if expected == form.decimal else expected
        found = " " if _by_blanks(top.texts, form) else expected
    if found != expected:
        said = {"\t": "a tab", " ": "blanks"}.get(found, repr(found))
        guesses["delimiter"] = (found, f"fields taken as parted by {said}")
    return found


def _check_decimal(rows: list[list[str]], name: str) -> None:
    """Raise where other delimiters part lines evenly, with fields such as 1,5 among them."""
    fields = (text for row in rows for text in row)
    found = next((text for text in fields if DECIMAL_COMMA.fullmatch(text)), None)
    if found is not None and len(set(map(len, rows))) == 1:
        raise InputError(f"{name} has decimal commas, as in {found.strip()!r}; {SAY_COMMA}.")


def _by_blanks(texts: Sequence[str], form: NumberFormat) -> bool:
    """Return whether blanks part lines into several fields, most of them numbers."""
    rows = [text.split() for text in texts[-ROWS_JUDGED:] if text.strip()]
    below = rows[1:] or rows
    if len({len(row) for row in below}) != 1 or len(below[0]) < 2:
        return False
    numbers, _ = form.kinds([text for row in below for text in row])
    return bool(2 * numbers.sum() > numbers.size)


def _width(first: Record, rows: Sequence[Record]) -> int:
    """Return the number of fields that most records have."""
    n_first = len(first.fields)
    widths = Counter([len(row.fields) for row in rows])
    if not widths:
        return n_first
    most = widths.most_common(1)[0][0]
    # Names of columns stand above one field more where lines begin with the name of the row.
    if most == n_first + 1:
        return most
    widths[n_first] += 1
    return n_first if widths[n_first] == max(widths.values()) else most


def _has_header(
    first: Record,
    below: Sample,
    options: TableOptions,
    guesses: Guesses,
    form: NumberFormat,
    name: str,
    top: _Top,
) -> bool:
    """Return whether the first line names the columns."""
    n_fields = len(first.fields)
    if n_fields != below.width and not (n_fields == below.width - 1 and below.names_rows()):
        raise InputError(
            f"Line {first.line} of {name} has {counted(n_fields, 'field')}, and most of the lines "
            f"below have {below.width}: leave lines above the table out with --skip-lines "
            f"{first.line}, name the sign between fields with --delimiter, or {SAY_COMMA}."
        )
    if options.header != AUTO:
        return options.header == YES
    short = n_fields < below.width
    found = top.hashed or are_names(first.fields, below, form, short=short)
    numeric = found and not top.hashed and form.is_entry(first.fields[-1])
    said = "first line taken as names" + ", though they are numbers" * bool(numeric)
    if found:
        guesses["header"] = (YES, said)
    elif form.kinds(first.fields)[0].any() and below.rows:
        guesses["header"] = (NO, "first line taken as a row: no names")
    return found


def _columns(
    first: list[str],
    rows: Sequence[Record],
    width: int,
    header: bool,
    options: TableOptions,
    guesses: Guesses,
    name: str,
) -> tuple[list[str], tuple[int, ...], int | None]:
    """Return names of columns, those that name rows, and an empty one at the end of lines."""
    names = [text.strip() for text in first]
    if not header:
        names = [str(number + 1) for number in range(width)]
    last = [row.fields[-1] for row in rows if len(row.fields) == width]
    if not header and len(first) == width:
        last.append(first[-1])
    ends_empty = width > 1 and len(last) > 1 and not any(map(str.strip, last))
    empty = None
    if header and len(names) < width:
        names = [*names, ""] if ends_empty else ["", *names]
    if ends_empty and (not header or names[-1] == ""):
        empty = width - 1
        said = "the delimiter at the end of each line taken for no column"
        guesses["end of lines"] = ("no column", said)
    if not header or options.index not in (AUTO, UNNAMED_COLUMNS) or "" in options.columns:
        return names, (), empty
    index = []
    for place, text in enumerate(names):
        if text or place == empty:
            break
        index.append(place)
    if len(index) == len(names):  # a header without any name names nothing
        index = []
    if index and options.index == AUTO:
        many = f"{len(index)} columns" if len(index) > 1 else "column ''"
        guesses["index"] = (UNNAMED_COLUMNS, f"{many} taken as row names")
    return names, tuple(index), empty
