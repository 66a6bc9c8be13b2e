"""Documents in files: text files or their lines, a field of JSON lines, a column of a table."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.source import fingerprint, reading

__all__ = ["DocumentFile", "DocumentOptions", "Entry", "dates_of", "open_documents"]

TEXTS, LINES, TABLES = (".txt", ".md"), (".jsonl", ".ndjson"), (".csv", ".tsv")
MOST_TEXT = 1 << 27  # characters of a document: a packed file may stand for any number


@dataclass(frozen=True)
class DocumentOptions:
    """Options for reading documents.

    Parameters
    ----------
    per : {"line", "file"}, default="line"
        Whether each line of a text file is a document, or the whole file. Empty lines are left out.
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


class DocumentFile:
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
        self.path, self.name = Path(path), str(path)
        self._options = options
        bare = self.path.name.lower().removesuffix(".gz")
        self._kind = next((kind for kind in (TEXTS, LINES, TABLES) if bare.endswith(kind)), None)
        if not self.path.exists():
            raise InputError(f"There is no {path}.")
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
        with reading(self.name), self._opened() as file:
            header = next(csv.reader(self._lines(file), delimiter=self._delimiter), [])
        wanted = self._options.labels
        return [name for name in self._options.beside if name in header or name in wanted]

    def fingerprint(self) -> str:
        """Return a digest of the content."""
        return fingerprint([self.path])

    def __iter__(self) -> Iterator[str]:
        """Yield the documents."""
        return (entry.text for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Yield the documents with where they stand and what they are called."""
        read = {TEXTS: self._texts, LINES: self._fields, TABLES: self._cells}[self._kind or TEXTS]
        names = self.row_names
        with reading(self.name), self._opened() as file:
            for entry in read(file, names):
                if not (entry.text.strip() or self._options.empty):
                    raise InputError(
                        f"{self.name}, {entry.place}: the document is empty; leave it out."
                    )
                yield entry

    def _opened(self) -> IO[str]:
        newline = "" if self._kind is TABLES else None
        if self.name.lower().endswith(".gz"):
            return gzip.open(self.path, "rt", encoding="utf-8-sig", newline=newline)
        return self.path.open(encoding="utf-8-sig", newline=newline)

    def _lines(self, file: IO[str]) -> Iterator[str]:
        """Yield lines, none of which may be without end."""
        while line := file.readline(MOST_TEXT + 1):
            self._check_length(line)
            yield line

    def _check_length(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise InputError(f"{self.name} has a document of more than {MOST_TEXT} characters.")

    def _texts(self, file: IO[str], names: list[str]) -> Iterator[Entry]:
        if self._options.per == "file":
            text = file.read(MOST_TEXT + 1)
            self._check_length(text)
            yield Entry("whole file", text, (self.path.name,))
            return
        for number, line in enumerate(self._lines(file), 1):
            if line.strip():
                yield Entry(f"line {number}", line)

    def _fields(self, file: IO[str], names: list[str]) -> Iterator[Entry]:
        field, n_lines, n_texts = self._options.column or self._options.field, 0, 0
        for number, line in enumerate(self._lines(file), 1):
            if not line.strip():
                continue
            try:
                entry: Any = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.name}, line {number}: not valid JSON ({error}).") from None
            text = self._field(entry, field, f"line {number}")
            n_lines, n_texts = n_lines + 1, n_texts + (text is not None)
            labels = tuple(_text(entry.get(name)) for name in names)
            yield Entry(f"line {number}", text or "", labels)
        if n_lines and not n_texts:
            raise InputError(
                f"{self.name}: no line has text in the field {field!r}; fields of the last one "
                f"are {', '.join(entry):.200}."
            )

    def _field(self, entry: Any, field: str, place: str) -> str | None:
        """Return the text of a line of JSON; None where it has none and may be empty."""
        is_object = isinstance(entry, dict)
        text = entry.get(field) if is_object else None
        lacking = [name for name in self._options.labels if is_object and name not in entry]
        absent = is_object and text is None and self._options.empty
        if lacking or not (isinstance(text, str) or absent):
            found = f"fields are {', '.join(entry)}" if is_object else "it is not an object"
            wanted = f"field {lacking[0]!r}" if lacking else f"text in the field {field!r}"
            raise InputError(f"{self.name}, {place}: no {wanted}; {found:.200}.")
        return text

    def _cells(self, file: IO[str], names: list[str]) -> Iterator[Entry]:
        rows = csv.reader(self._lines(file), delimiter=self._delimiter)
        header = next(rows, [])
        if not header:
            raise InputError(f"{self.name} has no lines.")
        others = [name for name in header if name not in names]
        column = self._options.column
        if column is None and len(others) != 1:
            raise InputError(
                f"{self.name} has {counted(len(header), 'column')}; choose one with --column: "
                f"{', '.join(header)}."
            )
        column = others[0] if column is None else column
        for name in (column, *names):
            if name not in header:
                raise InputError(
                    f"{self.name} has no column {name!r}; there are {', '.join(header)}."
                )
        text, *places = (header.index(name) for name in (column, *names))
        for row in rows:
            if row:
                cells = [row[place] if place < len(row) else "" for place in (text, *places)]
                yield Entry(f"line {rows.line_num}", cells[0], tuple(cells[1:]))


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
