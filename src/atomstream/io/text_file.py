"""A file of lines of text, or standard input: its beginning, and its records part by part."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from atomstream.exceptions import InputError
from atomstream.io import texts
from atomstream.io.input_options import TableOptions, is_among, lines_left_out
from atomstream.io.records import BLANKS, Dialect, LineChunk, whole_records
from atomstream.io.table_head import Guesses, Head, head_of
from atomstream.io.table_sample import Sample

SAMPLE_BYTES = 1 << 16  # that are read to detect the head of a table and its columns of text
MIN_LINES = 2  # of a table, by which it is judged: of names, and of numbers
EXPECTED = dict.fromkeys(
    (".tsv", ".tsv.gz", ".txt", ".txt.gz"), "\t"
)  # delimiters by the ending of a name; else a comma


class TextFile:
    """Lines of a file, of a compressed file, or of standard input.

    Parameters
    ----------
    path : path, or None for standard input
    name : str
        For messages.

    Attributes
    ----------
    encoding : str
    guesses : dict
        What was guessed of options, and why.
    waiting : bool
        Whether standard input waits for its writer at this moment.
    """

    def __init__(self, path: Any, name: str) -> None:
        self.path, self.name, self.encoding = path, name, texts.UTF8
        self.waiting = False
        self.guesses: Guesses = {}
        self._held = b""  # the beginning of standard input, which is looked at before it is read
        self._stream: Iterator[LineChunk] | None = None  # of standard input

    def _available(self, size: int) -> bytes:
        """Return the next bytes of standard input."""
        if self._held:
            came, self._held = self._held, b""
            return came
        self.waiting = True
        came = texts.standard_input(size)
        self.waiting = False
        return came

    def beginning(self, options: TableOptions) -> bytes:
        """Return the first lines as UTF-8: about 64 kB of them, and two rows in any case."""
        if self.path is None:
            first, ended = _first_bytes(self._available, options)
            self._held = first
        else:
            with texts.opened(self.path) as file:
                first, ended = _first_bytes(file.read, options)
        why = ""
        if options.encoding is None:
            self.encoding, why = texts.encoding_of(first, self.name)
        else:
            self.encoding = options.encoding
        if why:
            self.guesses["encoding"] = (self.encoding, why)
        text = texts.beginning(first, self.encoding, self.name, ended=ended)
        text = b"".join(texts.chunks_of(io.BytesIO(text).read, self.name))
        # Lines may be long: of these the first ones do.
        second = text.find(b"\n", text.find(b"\n") + 1)
        return text[: text.rfind(b"\n", 0, max(SAMPLE_BYTES, second + 1)) + 1]

    def head(self, beginning: bytes, options: TableOptions) -> tuple[Head, Sample]:
        """Return what the first lines tell of a table, and its first rows."""
        lowered = self.name.lower()
        expected = next((EXPECTED[end] for end in EXPECTED if lowered.endswith(end)), ",")
        head, sample, guesses = head_of(beginning, self.name, options, self.encoding, expected)
        self.guesses |= guesses
        return head, sample

    @contextmanager
    def parts(self, dialect: Dialect, n_lines: int) -> Iterator[Iterator[LineChunk]]:
        """Open the records behind the first lines."""
        if self.path is None:
            if self._stream is None:  # it is read once, however often it is asked for
                self._stream = self._cut(self._available, dialect, n_lines)
            yield self._stream
            return
        with texts.opened(self.path) as file:
            yield self._cut(file.read, dialect, n_lines)

    def _cut(self, read: texts.Read, dialect: Dialect, n_lines: int) -> Iterator[LineChunk]:
        chunks = texts.chunks_of(texts.decoded(read, self.encoding, self.name), self.name)
        return whole_records(_behind(chunks, n_lines), dialect, n_lines + 1)

    def cuts(self, dialect: Dialect, n_lines: int, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield first and last byte of parts of at most so many rows, and their number of rows.

        Raises
        ------
        InputError
            Where bytes of the file are not those of UTF-8.
        """
        if codecs.lookup(self.encoding).name not in texts.PLAIN_CODECS:
            raise InputError(
                f"{self.name} is read as {self.encoding}; shards are cut between bytes of UTF-8: "
                "convert it, or learn without --slots."
            )
        if any(last > n_lines for _, last in dialect.left_out):
            raise InputError(
                f"{self.name} is cut into shards, whose lines have no numbers: leave lines between "
                "rows out without --slots."
            )
        n_rows = begin = end = 0
        with texts.opened(self.path) as file:
            base = sum(len(file.readline()) for _ in range(n_lines))
            for part in whole_records(texts.chunks_of(file.read, self.name), dialect):
                for first, last in part.spans():
                    begin = base + first if n_rows == 0 else begin
                    end, n_rows = base + last, n_rows + 1
                    if n_rows == rows:
                        yield begin, end, n_rows
                        n_rows = 0
                base += len(part.raw)
        if n_rows:
            yield begin, end, n_rows


def _first_bytes(read: texts.Read, options: TableOptions) -> tuple[bytes, bool]:
    """Return the first bytes of a table, with a line of names and a row, and if they are all."""
    first, out = read(SAMPLE_BYTES), lines_left_out(options.skip_lines)
    comments = (b"#", (options.comment or "#").encode())
    ended = not first
    while not ended:
        kept = [
            line
            for line, text in enumerate(first.split(b"\n")[:-1], 1)
            if text.strip(BLANKS) and not text.startswith(comments)
            if not (out and is_among(line, out))
        ]
        if len(kept) >= MIN_LINES or len(first) > texts.MAX_LINE_BYTES:
            break
        more = read(texts.CHUNK_BYTES)
        first, ended = first + more, not more
    return first, ended or len(first) < SAMPLE_BYTES


def _behind(chunks: Iterator[bytes], n_lines: int) -> Iterator[bytes]:
    """Yield chunks of lines without the first lines."""
    for chunk in chunks:
        text = chunk
        while n_lines and text:
            text = text[text.find(b"\n") + 1 :]
            n_lines -= 1
        if text:
            yield text
