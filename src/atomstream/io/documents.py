"""Documents in files: text files or their lines, a field of JSON lines, a column of a table."""

import csv
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted
from atomstream.exceptions import DataWarning, InputError
from atomstream.io.columns import chosen
from atomstream.io.texts import bounded, text_lines, whole_text
from atomstream.io.source import Input, existing, reading

MIN_PARAGRAPHS, LINES_READ = 5, 1000  # from which on a text is said to have some; to find them
TEXTS, LINES, TABLES = (".txt", ".md"), (".jsonl", ".ndjson"), (".csv", ".tsv")


@dataclass(frozen=True)
class DocumentOptions:
    """Options for reading documents.

    Parameters
    ----------
    per : {"line", "paragraph", "file"}, default="line"
        Whether each line of a text file is a document, all lines up to an empty one, or the whole
        file. Empty lines are left out.
    field : str, default="text"
        Field of JSON lines that holds the text, where ``column`` is None.
    column : str or None
        Column of a table with a header, or field of JSON lines, that holds the text; of a table not
        needed if there is only one.
    labels : sequence of str, default=()
        Columns of tables, or fields of JSON lines, that are handed over beside each text.
    known : sequence of str, default=()
        Further ones, which may be absent.
    empty : bool, default=False
        Whether documents may be empty: so is a line of JSON without the field.
    """

    per: str = "line"
    field: str = "text"
    column: str | None = None
    labels: Sequence[str] = ()
    known: Sequence[str] = ()
    empty: bool = False

    @property
    def beside(self) -> list[str]:
        """Names of all that is handed over beside a text, each once."""
        return list(dict.fromkeys([*self.known, *self.labels]))


class Entry(NamedTuple):
    """A document: where it stands in its file, its text, and what it is called."""

    place: str
    text: str
    labels: tuple[str, ...] = ()


class DocumentFile(Input):
    """A file of documents; every iteration reads it from the beginning.

    Parameters
    ----------
    path : path
        ``.txt`` or ``.md``, ``.jsonl`` or ``.ndjson``, ``.csv`` or ``.tsv``, each also with
        ``.gz``; UTF-8.
    options : DocumentOptions

    Raises
    ------
    InputError
        If there is no such file, and while reading: for files that cannot be read and for empty
        documents.
    """

    def __init__(self, path: str | Path, options: DocumentOptions) -> None:
        self.path, self.name = existing(path), str(path)
        self.files = [self.path]
        self._options = options
        bare = self.path.name.lower().removesuffix(".gz")
        self._kind = next((kind for kind in (TEXTS, LINES, TABLES) if bare.endswith(kind)), None)
        if self._kind is None or self.path.is_dir():
            raise InputError(
                f"{path} has an ending that is not known for documents; known are "
                f"{', '.join(TEXTS + LINES + TABLES)}, each also with .gz."
            )
        if self._kind is TEXTS and options.labels:
            raise InputError(
                f"{path} has no columns, so none is called {options.labels[0]!r}; documents with "
                "ids or dates come in tables (.csv, .tsv) or JSON lines (.jsonl)."
            )
        self._delimiter = "\t" if bare.endswith(".tsv") else ","

    @property
    def row_names(self) -> list[str]:
        """Names of what `entries` hands over beside each text."""
        if self._kind is TEXTS:
            return ["file"] if self._options.per == "file" else []
        if self._kind is LINES:
            return self._options.beside
        with reading(self.name):
            header: list[str] = next(self._cells(), [])
        wanted = self._options.labels
        return [name for name in self._options.beside if name in header or name in wanted]

    def __iter__(self) -> Iterator[str]:
        """Yield the documents."""
        return (entry.text for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Yield the documents with where they stand and what they are called."""
        read = {TEXTS: self._from_text, LINES: self._from_json, TABLES: self._from_table}
        with reading(self.name):
            for entry in read[self._kind or TEXTS](self.row_names):
                if not (entry.text.strip() or self._options.empty):
                    raise InputError(
                        f"{self.name}, {entry.place}: the document is empty; leave it out."
                    )
                yield entry

    def check_lines(self) -> None:
        """Warn where each line is a document, and the text has paragraphs of several lines."""
        by_line = self._kind is TEXTS and self._options.per == "line"
        with reading(self.name):
            filled = [bool(line.strip()) for line in islice(text_lines(self.path), LINES_READ)]
        n_paragraphs = sum(has_text for has_text, _ in groupby(filled))
        # Lists of documents have no empty lines, or one after each.
        if by_line and n_paragraphs >= MIN_PARAGRAPHS and sum(filled) > 2 * n_paragraphs:
            said = "has paragraphs of several lines, and each line is taken for a document"
            warnings.warn(f"{self.name} {said}: give --per paragraph.", DataWarning, stacklevel=2)

    def _numbered(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that are not blank, and where they stand."""
        for number, line in enumerate(text_lines(self.path), 1):
            if line.strip():
                yield f"line {number}", line

    def _cells(self) -> Any:
        """Return a reader of the rows of a table; fields may hold ends of lines."""
        return csv.reader(text_lines(self.path, newline=""), delimiter=self._delimiter)

    def _from_text(self, names: list[str]) -> Iterator[Entry]:
        if self._options.per == "file":
            yield Entry("whole file", whole_text(self.path), (self.path.name,))
            return
        joined, lines = self._options.per == "paragraph", enumerate(text_lines(self.path), 1)
        # A group is all lines up to an empty one, or each line alone, by its number.
        for group, block in groupby(lines, lambda at: bool(at[1].strip()) and (joined or at[0])):
            if group:
                place, text = next(block)
                for _, line in block:
                    text += line
                    bounded(text, self.path)
                yield Entry(f"line {place}", text)

    def _from_json(self, names: list[str]) -> Iterator[Entry]:
        field, fields, n_texts = self._options.column or self._options.field, None, 0
        for place, line in self._numbered():
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.name}, {place}: not valid JSON ({error}).") from None
            text = self._field(fields, field, place)
            n_texts += text is not None
            yield Entry(place, text or "", tuple(_text(fields.get(name)) for name in names))
        if fields is not None and not n_texts:
            raise InputError(
                f"{self.name}: no line has text in the field {field!r}; fields of the last one "
                f"are {', '.join(fields):.200}."
            )

    def _field(self, fields: Any, field: str, place: str) -> str | None:
        """Return the text of a line of JSON; None where it has none and may be empty."""
        known = fields if isinstance(fields, dict) else {}
        text = known.get(field)
        absent = known is fields and text is None and self._options.empty
        wanted = [] if absent or isinstance(text, str) else [f"text in the field {field!r}"]
        wanted[:0] = [f"field {n!r}" for n in self._options.labels if known and n not in known]
        if wanted:
            found = f"fields are {', '.join(known)}" if known is fields else "it is not an object"
            raise InputError(f"{self.name}, {place}: no {wanted[0]}; {found:.200}.")
        return text

    def _from_table(self, names: list[str]) -> Iterator[Entry]:
        rows = self._cells()
        header: list[str] = next(rows, [])
        if not header:
            raise InputError(f"{self.name} has no lines.")
        columns = [name for name in header if name not in names]
        if self._options.column is not None:
            columns = [self._options.column]
        if len(columns) != 1:
            raise InputError(
                f"{self.name} has {counted(len(header), 'column')}; choose one with --column: "
                f"{', '.join(header)}."
            )
        places = chosen(header, [*columns, *names], self.name)
        # The number of a line is that of its end, for quoted fields may hold several.
        for row in rows:
            if row:
                text, *labels = (row[place] if place < len(row) else "" for place in places)
                yield Entry(f"line {rows.line_num}", text, tuple(labels))


def _text(value: Any) -> str:
    """Return a value of JSON as text; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parsed_date(text: str) -> np.datetime64:
    """Return a date written as ISO 8601 has it, in local time; NaT for an empty text.

    Raises
    ------
    ValueError
        For other texts.
    """
    text = text.strip()
    if not text:
        return np.datetime64("NaT", "s")
    if re.fullmatch(r"\d{4}(-\d\d)?", text):  # a year, or a month of it
        return np.datetime64(text, "s")
    return np.datetime64(datetime.fromisoformat(text).replace(tzinfo=None), "s")


def dates_of(files: Sequence[DocumentFile], column: str) -> NDArray:
    """Return when each document was written, datetime64[s]; NaT where that is not said.

    Raises
    ------
    InputError
        For what is no date.
    """
    dates: list[Any] = []
    for file in files:
        place = file.row_names.index(column)
        for entry in file.entries():
            try:
                dates.append(parsed_date(entry.labels[place]))
            except ValueError:
                raise InputError(
                    f"{file.name}, {entry.place}: {entry.labels[place]!r:.40} in {column!r} is not "
                    "a date; needed is e.g. 2003-02-19, 2003-02 or 2003-02-19T10:30."
                ) from None
    return np.array(dates, "datetime64[s]")


def open_documents(inputs: Sequence[str], options: DocumentOptions) -> list[DocumentFile]:
    """Return files of documents; a folder stands for all text files in it."""
    files: list[str | Path] = []
    for name in inputs:
        path = Path(name)
        if path.is_dir():
            found = sorted(part for part in path.rglob("*") if part.suffix.lower() in TEXTS)
        else:
            found = [path]
        if not found:
            raise InputError(f"The folder {name} holds no text files ({', '.join(TEXTS)}).")
        files.extend(found)
    return [DocumentFile(path, options) for path in files]
