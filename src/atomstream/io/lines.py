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

__all__ = ["BLANKS", "chunks_of", "opened", "standard_input", "text_lines", "whole_text"]

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


def chunks_of(read: Callable[[int], bytes], name: str) -> Iterator[bytes]:
    """Yield chunks of whole lines, without a byte order mark; the last line gets its end.

    Parameters
    ----------
    read : callable
        Takes a number of bytes and returns so many or fewer; none at the end.
    name : str
        Of the file, for messages.

    Raises
    ------
    InputError
        For lines without end, and for lines that end with carriage returns alone, which would not
        be counted.
    """
    rest, mark = b"", BYTE_ORDER_MARK
    while data := read(CHUNK_BYTES):
        data, mark = data.removeprefix(mark), b""
        end = data.rfind(b"\n") + 1
        if end:
            yield _checked(b"".join((rest, memoryview(data)[:end])), name)
            rest = b""
        rest += data[end:]
        if len(rest) > MAX_LINE_BYTES:
            raise InputError(
                f"{name} has a line of more than {MAX_LINE_BYTES} bytes; it is not a table."
            )
    if rest:
        yield _checked(rest + b"\n", name)


def _checked(chunk: bytes, name: str) -> bytes:
    if b"\r" in chunk and chunk.count(b"\r") != chunk.count(b"\r\n"):
        raise InputError(
            f"{name} has carriage returns inside lines; save it with one kind of line end."
        )
    return chunk


def standard_input(size: int) -> bytes:
    """Return the available bytes of standard input, and wait for the first one.

    Python's own buffer is not used, because its lock would delay the end of the program.
    """
    data = os.read(0, size)
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
