"""Text in files: unpacked, decoded, and cut into chunks of whole lines; all of it bounded."""

import codecs
import gzip
import io
import os
import re
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from atomstream.exceptions import InputError

CHUNK_BYTES = 1 << 22
MAX_LINE_BYTES = 1 << 27
MAX_CHARACTERS = 1 << 27  # of a line of text: a packed file may stand for any number
STRAY_RETURN = re.compile(rb"\r(?!\n|\Z)")  # inside a line
START_BYTES = 1 << 16  # of a text, by which its encoding is judged
UTF8, FALLBACK = "utf-8", "cp1252"
# Byte order marks; that of UTF-32 begins as the one of UTF-16 does, and comes first.
MARKS = {
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MARK = "\ufeff"  # a byte order mark, decoded
PLAIN_CODECS = ("utf-8", "utf-8-sig", "ascii")  # whose bytes are those of UTF-8
Read = Callable[[int], bytes]  # at most so many of the next bytes, none at the end


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


def encoding_of(start: bytes, name: str) -> tuple[str, str]:
    """Return the encoding of a text by its beginning, and why it is no plain UTF-8.

    Raises
    ------
    InputError
        For what is no text.
    """
    if mark := next((mark for mark in MARKS if start.startswith(mark)), None):
        return MARKS[mark], ""
    if b"\0" in start:
        raise InputError(
            f"{name} holds zero bytes, needed are lines of text; if it is UTF-16, give "
            "--encoding utf-16-le or utf-16-be."
        )
    try:
        codecs.getincrementaldecoder(UTF8)().decode(start)
    except UnicodeDecodeError:
        return FALLBACK, f"bytes that are not UTF-8 taken as {FALLBACK}"
    return UTF8, ""


def encoding_in(path: Any) -> tuple[str, str]:
    """Return the encoding of a file of text, and why it is no plain UTF-8."""
    with opened(path) as file:
        return encoding_of(file.read(START_BYTES), str(path))


def decoded(read: Read, encoding: str, name: str) -> Read:
    """Return what reads the same text as UTF-8, without a byte order mark.

    Bytes of UTF-8 are handed on as they are; who converts them checks them.
    """
    codec = codecs.lookup(encoding).name
    if codec in PLAIN_CODECS:
        return _without_mark(read)
    decoder = codecs.getincrementaldecoder(codec)()

    def text(size: int) -> bytes:
        """Return the next bytes as UTF-8, none at the end."""
        while True:
            came = read(size)
            with _naming_encoding(encoding, name):
                found = decoder.decode(came, not came)
            if found or not came:
                return found.encode()

    return _without_mark(text)


def beginning(first: bytes, encoding: str, name: str, *, ended: bool) -> bytes:
    """Return the whole lines among the first bytes of a text as UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        Where they have another encoding.
    """
    with _naming_encoding(encoding, name):
        text = codecs.getincrementaldecoder(encoding)().decode(first, ended).encode()
    text = text.removeprefix(codecs.BOM_UTF8)
    return text if ended else text[: text.rfind(b"\n") + 1]


@contextmanager
def _naming_encoding(encoding: str, name: str) -> Iterator[None]:
    """Turn an error of a decoder into a sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not {encoding} ({error.reason}); give another --encoding."
        ) from None


def _without_mark(read: Read) -> Read:
    """Return what reads the same bytes without the mark in front of them."""
    first = True

    def rest(size: int) -> bytes:
        """Return the next bytes, the first ones without the mark."""
        nonlocal first
        came = read(size)
        if first:
            first = False
            came = came.removeprefix(codecs.BOM_UTF8) or read(size)
        return came

    return rest


def chunks_of(read: Read, name: str) -> Iterator[bytes]:
    """Yield chunks of whole lines; the last line gets its end.

    Parameters
    ----------
    read : callable
        Returns at most so many of the next bytes, none at the end, as a file's ``read`` does.
    name : str
        Of the input, for messages.
    """
    held = b""
    while came := read(CHUNK_BYTES):
        text = held + came
        end = text.rfind(b"\n") + 1
        if end:
            _check(text, end, name)
            yield text[:end]
        elif len(text) > MAX_LINE_BYTES:
            raise InputError(
                f"{name} has a line of more than {MAX_LINE_BYTES} bytes; it is not a table."
            )
        held = text[end:]
    if held:
        _check(held, len(held), name)
        yield held + b"\n"


def _check(text: bytes, end: int, name: str) -> None:
    # Looked for alone first: most files have none, and the pattern is slower.
    if text.find(b"\r", 0, end) >= 0 and STRAY_RETURN.search(text, 0, end):
        raise InputError(
            f"{name} has carriage returns inside lines; save it with one kind of line end."
        )
    if text.find(b"\0", 0, end) >= 0:  # the parser of pandas would drop them
        raise InputError(f"{name} holds zero bytes, needed are lines of text.")


def text_lines(path: Any, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text, with their ends; none of them may be too long.

    Parameters
    ----------
    path : path
    encoding : str, optional
        By default what the beginning of the file tells.
    """
    encoding = encoding or encoding_in(path)[0]
    with opened(path) as file, _naming_encoding(encoding, str(path)):
        text = io.TextIOWrapper(file, encoding=encoding)
        mark = MARK
        while line := text.readline(MAX_CHARACTERS + 1):
            yield bounded(line, path).removeprefix(mark)
            mark = ""


def whole_text(path: Any, encoding: str | None = None) -> str:
    """Return a text, which must not be too long."""
    encoding = encoding or encoding_in(path)[0]
    with opened(path) as file, _naming_encoding(encoding, str(path)):
        text = io.TextIOWrapper(file, encoding=encoding)
        return bounded(text.read(MAX_CHARACTERS + 1), path).removeprefix(MARK)


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
