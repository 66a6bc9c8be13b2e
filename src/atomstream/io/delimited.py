"""Tables of text: fields with a sign between them, converted by Arrow or pandas."""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.base import counted, library
from atomstream.exceptions import MissingLibraryError
from atomstream.io import InputOptions, log_guesses, need, texts
from atomstream.io.input_options import OF_TEXT
from atomstream.io.records import BLANKS, NEWLINE, QUOTE, LineChunk
from atomstream.io.table import BYTES_PER_COLUMN, Rows, TextTable, objects, split_arrow
from atomstream.io.table_head import SIGNS, Head


class DelimitedTable(TextTable):
    """Lines of fields, with one sign between them: commas, semicolons, tabs, bars, blanks.

    The first lines tell the delimiter and whether there is a header, unless options do. Arrow reads
    chunks of them fast, else pandas; those with a bad line are read one by one.

    Parameters
    ----------
    path : path, or None for standard input
    options : InputOptions
        Columns without a name at the beginning, as pandas and R write them, name rows unless one
        is chosen.

    Attributes
    ----------
    head : Head
        What the beginning has told.
    """

    uses = frozenset({*TextTable.uses, *OF_TEXT})

    def __init__(self, path: Path | None, options: InputOptions) -> None:
        super().__init__(path, options)
        # A shard has some rows of a file of which all is known; else its beginning tells.
        first = b"" if options.head is not None else self._text.beginning(options)
        line = first[: first.find(b"\n") + 1]
        self._check_width(1 + max(line.count(sign.encode()) for sign in SIGNS))
        self.head, texts_of, rows = options.head, dict[int, str](), list[list[str]]()
        if options.head is None:
            self.head, sample = self._text.head(first, options)
            self._n_lines, texts_of = self.head.n_lines, sample.texts()
            rows = [row.fields for row in sample.rows]
        head: Head = self.head
        self._check_width(len(head.names))
        self._text.encoding, self._dialect = head.encoding, head.dialect
        self._empty = () if head.empty is None else (head.empty,)
        self._choose(head.names, options, texts_of, head.index, rows)
        if not head.header:
            self.names = None
        self._options = self._arrow_options()
        if not (options.skips or self.live):
            self._check(first)
        log_guesses(self.name, self.guesses)

    def _check_width(self, width: int) -> None:
        need(BYTES_PER_COLUMN * width, f"{self.name}, with {counted(width, 'column')},")

    def _check(self, first: bytes) -> None:
        """Refuse the first of the first lines that cannot be read, before anything is learned."""
        for chunk in _behind_lines(first, self._n_lines):
            part = LineChunk(chunk, self._n_lines + 1, self._dialect)
            part = LineChunk(chunk[: part.whole()], self._n_lines + 1, self._dialect)
            if part.raw:
                for _ in self._rows(part, 0):
                    pass

    def _converted(self, part: LineChunk) -> Rows | None:
        """Return the rows of a part as Arrow or pandas reads them; None where neither can."""
        if not self._form.is_plain:
            return None
        found = self._by_arrow(part) if self._options is not None else None
        found = self._by_pandas(part) if found is None else found
        # Of simple lines nothing can come but a row of each.
        sure = found is None or part.is_simple or len(found[0]) == part.n_records
        return found if sure else None

    def _arrow_options(self) -> Any:
        """Return the options of Arrow, only the chosen columns; None without Arrow."""
        try:
            pa, pc = library("pyarrow", "Tables"), library("pyarrow.csv", "Tables")
        except MissingLibraryError:
            return None
        ids = [str(number) for number in range(len(self._all_names))]
        kinds = {ids[i]: pa.float64() for i in self._numbers}
        kinds |= {ids[i]: pa.string() for i in self._labels}
        kinds |= {ids[i]: pa.null() for i in self._empty}
        return (
            # One thread, because the other cores are for learning.
            pc.ReadOptions(column_names=ids, use_threads=False, block_size=texts.MAX_LINE_BYTES),
            pc.ConvertOptions(
                column_types=kinds,
                include_columns=[ids[i] for i in (*self._numbers, *self._labels, *self._empty)],
                null_values=self._form.words,
                decimal_point=self._form.decimal,
            ),
        )

    def _by_arrow(self, part: LineChunk) -> Rows | None:
        """Return the rows of a part as Arrow reads them; None where it cannot."""
        pa, pc = library("pyarrow", "Tables"), library("pyarrow.csv", "Tables")
        text, sign = part.text, self._dialect.sign
        # Blanks in front of a field are none of it, which Arrow does not know.
        if (self._labels or b'"' in text) and (
            f"{sign} ".encode() in text or b"\n " in text or text.startswith(b" ")
        ):
            return None
        parse = pc.ParseOptions(
            delimiter=sign,
            newlines_in_values=bool(len(part.odd)),
            ignore_empty_lines=self._dialect.width != 1,
        )
        read, convert = self._options
        try:
            table = pc.read_csv(pa.BufferReader(text), read, parse, convert)
        except pa.ArrowInvalid:
            return None
        n_used = len(self._numbers) + len(self._labels)
        return split_arrow(table.select(range(n_used)), self.n_features)

    def _by_pandas(self, part: LineChunk) -> Rows | None:
        """Return the rows of a part as pandas reads them; None where it cannot."""
        import pandas as pd  # loaded where a table is read

        dialect = self._dialect
        if not _is_even(part.text, dialect.sign, dialect.width):
            return None  # pandas would fill short lines
        words, names = self._form.words, (*self._labels, *self._empty)
        try:
            frame = pd.read_csv(
                io.BytesIO(part.text),
                sep=dialect.sign,
                header=None,
                names=range(dialect.width),
                index_col=False,
                usecols=[*{*self._numbers, *names}],
                dtype={**dict.fromkeys(names, str), **dict.fromkeys(self._numbers, np.float64)},
                na_values=dict.fromkeys(self._numbers, words),
                keep_default_na=False,
                decimal=self._form.decimal,
                float_precision="round_trip",
                skipinitialspace=True,
                skip_blank_lines=dialect.width != 1,
                low_memory=False,
            )
        except (ValueError, OverflowError):
            return None
        if any(frame[place].str.strip().any() for place in self._empty):
            return None
        labels = tuple(objects(frame[place].tolist()) for place in self._labels)
        return np.ascontiguousarray(frame[self._numbers].to_numpy(np.float64)), labels

    def _fields(self, record: bytes, line: int) -> list[Any]:
        if self._dialect.is_open(record):
            raise ValueError("a quotation mark is not closed")
        fields = self._dialect.fields(record)
        for place in self._labels:
            if place < len(fields) and any("\ud800" <= sign <= "\udfff" for sign in fields[place]):
                raise ValueError("it is not UTF-8; give another --encoding, such as cp1252")
        return fields


def _behind_lines(text: bytes, n_lines: int) -> list[bytes]:
    for _ in range(n_lines):
        text = text[text.find(b"\n") + 1 :]
    return [text] if text else []


def _is_even(text: bytes, sign: str, width: int) -> bool:
    """Return whether every line that is not blank has the right number of fields."""
    codes = np.frombuffer(text, np.uint8)
    ends, signs = (np.flatnonzero(codes == code) for code in (NEWLINE, ord(sign)))
    if b'"' in text:
        outside = ~np.logical_xor.accumulate(codes == QUOTE)
        ends, signs = ends[outside[ends]], signs[outside[signs]]
    counts = np.diff(np.searchsorted(signs, ends), prepend=0)
    odd = np.flatnonzero(counts != width - 1)
    if not len(odd):
        return True
    if counts[odd].any():
        return False
    starts = [0, *(ends + 1).tolist()]
    lines = [*pairwise(starts)]
    return not any(text[slice(*lines[i])].strip(BLANKS) for i in odd.tolist())
