"""Records within chunks of lines: quoted ends of lines, blank lines, comments, lines left out."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atomstream.io.input_options import Range, is_among

MAX_RECORD_BYTES = 1 << 20  # of a quoted field that goes on over the ends of lines
BLANKS = b" \r\n"  # what a line without fields holds
BLANK_LINE = re.compile(rb"\n[ \r]*(?=\n)")
NEWLINE, QUOTE = 10, 34
RUN_OF_BLANKS = re.compile(rb"[ \t]+")
QUOTED_OR_BLANKS = re.compile(rb'("[^"]*")|[ \t]+')
OUTER_TABS = re.compile(rb"(?m)^\t|\t(?=\r?$)")


@dataclass(frozen=True)
class Dialect:
    """How lines of text hold the fields of records.

    Parameters
    ----------
    delimiter : str
        Sign between fields; a blank stands for any number of blanks and tabs.
    width : int
        Number of fields; a blank line is a record where it is 1.
    comment : str, optional
        What follows it on a line is left out.
    left_out : sequence of (int, int), default=()
        First and last numbers of lines that are left out.
    quoted : bool, default=True
        Whether fields may stand in quotation marks.
    """

    delimiter: str
    width: int
    comment: str | None = None
    left_out: Sequence[Range] = ()
    quoted: bool = True

    @property
    def sign(self) -> str:
        """The delimiter within the text of a `LineChunk`."""
        return "\t" if self.delimiter == " " else self.delimiter

    def fields(self, record: bytes) -> list[str]:
        """Return the fields of a record; bytes that are no UTF-8 come as lone surrogates."""
        text = record.decode("utf-8", "surrogateescape")
        reader = csv.reader([text], delimiter=self.sign, skipinitialspace=True)
        return next(reader, []) or [""]

    def is_open(self, record: bytes) -> bool:
        """Return whether a quotation mark of a record is not closed."""
        if b'"' not in record:
            return False
        text = io.StringIO(record.decode("utf-8", "surrogateescape"), newline="")
        try:
            for _ in csv.reader(text, delimiter=self.sign, skipinitialspace=True, strict=True):
                pass
        except csv.Error as error:
            return "unexpected end" in str(error)
        return False

    def is_one(self, record: bytes) -> bool:
        """Return whether lines are one whole record of the right number of fields."""
        text = io.StringIO(record.decode("utf-8", "surrogateescape"), newline="")
        reader = csv.reader(text, delimiter=self.sign, skipinitialspace=True, strict=True)
        try:
            rows = [*reader]
        except csv.Error:
            return False
        return len(rows) == 1 and (not self.width or len(rows[0]) == self.width)


@dataclass
class LineChunk:
    """Lines of a file that hold whole records.

    Parameters
    ----------
    raw : bytes
        The lines.
    line : int
        Number of the first one.
    dialect : Dialect
    """

    raw: bytes
    line: int
    dialect: Dialect

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return self.raw.count(b"\n")

    @cached_property
    def odd(self) -> NDArray:
        """Lines with an odd number of quotation marks: a quoted field may begin or end there."""
        if not self.dialect.quoted or b'"' not in self.raw:
            return np.zeros(0, int)
        codes = np.frombuffer(self.raw, np.uint8)
        ends, quotes = np.flatnonzero(codes == NEWLINE), np.flatnonzero(codes == QUOTE)
        return np.flatnonzero(np.diff(np.searchsorted(quotes, ends), prepend=0) % 2)

    @cached_property
    def is_simple(self) -> bool:
        """Whether each line is a record, or blank."""
        dialect, last = self.dialect, self.line + self.n_lines
        comment = dialect.comment is not None and dialect.comment.encode() in self.raw
        out = any(self.line <= end and begin < last for begin, end in dialect.left_out)
        return not (comment or out or len(self.odd))

    @cached_property
    def text(self) -> bytes:
        """The records as parsers take them, a blank line nowhere but in tables of one column."""
        if self.is_simple:
            return self._parted(self.raw)
        return b"".join(record + b"\n" for _, record in self.records())

    @cached_property
    def n_records(self) -> int:
        """Number of records."""
        if not self.is_simple:
            return sum(1 for _ in self.records())
        if self.dialect.width == 1:
            return self.n_lines
        return self.n_lines - len(BLANK_LINE.findall(b"\n" + self.text))

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records with the numbers of their first lines, without their last ends."""
        dialect = self.dialect
        for line, record in self._joined():
            if dialect.left_out and is_among(line, dialect.left_out):
                continue
            kept = self._without_comment(record)
            parted = b"" if kept is None else self._parted(kept)
            if kept is not None and (dialect.width == 1 or parted.strip(BLANKS)):
                yield line, parted

    def parsed(self) -> list[tuple[int, list[str]]]:
        """Return the fields of records with the numbers of their first lines."""
        if not self.is_simple:
            return [(line, self.dialect.fields(record)) for line, record in self.records()]
        # Without a call for each line: a beginning of a table has thousands of them.
        lines, sign = self.text.decode("utf-8", "surrogateescape").split("\n"), self.dialect.sign
        read = [next(csv.reader([t], delimiter=sign, skipinitialspace=True), []) for t in lines]
        return [(line, fields) for line, fields in enumerate(read, self.line) if fields]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield where records begin and end among the bytes of the lines."""
        place, known = 0, {line for line, _ in self.records()}
        for line, record in self._joined():
            end = place + len(record) + 1
            if line in known:
                yield place, end
            place = end

    def whole(self) -> int:
        """Return how many bytes hold whole records; a quoted field may go on in the next lines."""
        if len(self.odd):
            starts = np.flatnonzero(np.frombuffer(self.raw, np.uint8) == NEWLINE) + 1
            line = self._open_end()
            begin = 0 if line == 0 else int(starts[line - 1]) if line is not None else 0
            if line is not None and len(self.raw) - begin <= MAX_RECORD_BYTES:
                return begin
        return _filled(self.raw) if self.dialect.width == 1 else len(self.raw)

    def _groups(self, lines: Sequence[bytes]) -> Iterator[tuple[int, int, bool]]:
        """Yield first and last line of each record of several lines, and of an open one."""
        odd = self.odd.tolist()
        number = 0
        while number < len(odd):
            first = odd[number]
            if self.dialect.is_open(self._parted(lines[first])):
                following = odd[number + 1] if number + 1 < len(odd) else None
                if following is None:
                    yield first, len(lines) - 1, True
                elif self.dialect.is_one(self._parted(b"\n".join(lines[first : following + 1]))):
                    yield first, following, False
                    number += 1
            number += 1

    def _open_end(self) -> int | None:
        """Return the line at which a record begins that these lines do not end."""
        lines = self.raw.split(b"\n")[:-1]
        return next((first for first, _, is_open in self._groups(lines) if is_open), None)

    def _joined(self) -> Iterator[tuple[int, bytes]]:
        """Yield lines, those of one record together."""
        lines = self.raw.split(b"\n")[:-1]
        done = 0
        for first, last, is_open in self._groups(lines) if len(self.odd) else ():
            if not is_open:
                yield from enumerate(lines[done:first], self.line + done)
                yield self.line + first, b"\n".join(lines[first : last + 1])
                done = last + 1
        yield from enumerate(lines[done:], self.line + done)

    def _without_comment(self, record: bytes) -> bytes | None:
        """Return a record without a comment; None where it is nothing else."""
        if self.dialect.comment is None:
            return record
        sign = self.dialect.comment.encode()
        if sign not in record:
            return record
        if record.lstrip().startswith(sign):
            return None
        quoted = rb'("[^"]*")|' if self.dialect.quoted else rb"()"
        pattern = quoted + re.escape(sign) + rb"[^\n]*"
        return re.sub(pattern, lambda found: found[1] or b"", record)

    def _parted(self, text: bytes) -> bytes:
        """Return text with one tab for any number of blanks, where blanks part fields."""
        if self.dialect.delimiter != " ":
            return text
        if b'"' in text:
            text = QUOTED_OR_BLANKS.sub(lambda found: found[1] or b"\t", text)
        else:
            text = RUN_OF_BLANKS.sub(b"\t", text)
        return OUTER_TABS.sub(b"", text)


def whole_records(chunks: Iterable[bytes], dialect: Dialect, line: int = 1) -> Iterator[LineChunk]:
    """Yield parts of whole records from chunks of whole lines.

    Parameters
    ----------
    chunks : iterable of bytes
    dialect : Dialect
    line : int, default=1
        Number of the first line.
    """
    held = b""
    for chunk in chunks:
        part = LineChunk(held + chunk if held else chunk, line, dialect)
        end = part.whole()
        if end < len(part.raw):
            held = part.raw[end:]
            part = LineChunk(part.raw[:end], line, dialect)
        else:
            held = b""
        line += part.n_lines
        if part.raw:
            yield part
    if rest := held[: _filled(held)] if dialect.width == 1 else held:
        yield LineChunk(rest, line, dialect)


def _filled(text: bytes) -> int:
    """Return where the last line ends that is not blank: at the end of a file these are no rows."""
    n_filled = len(text.rstrip(BLANKS))
    return text.find(b"\n", n_filled) + 1 if n_filled else 0
