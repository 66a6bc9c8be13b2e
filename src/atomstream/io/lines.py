"""Lines of files, plain or compressed, and of standard input: whole, and of bounded length."""

from __future__ import annotations

import gzip
import io
import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
            buffer[: filled - end] = buffer[end:filled]
            filled -= end
        elif filled > MAX_LINE_BYTES:
            raise InputError(
                f"{name} has a line of more than {MAX_LINE_BYTES} bytes; it is not a table."
            )
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
