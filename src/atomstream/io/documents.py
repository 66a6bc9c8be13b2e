"""Documents in files: text files or their lines, a field of JSON lines, a column of a table."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.source import fingerprint, reading

__all__ = ["DocumentFile", "open_documents"]

TEXTS, LINES, TABLES = (".txt", ".md"), (".jsonl", ".ndjson"), (".csv", ".tsv")
MOST_TEXT = 1 << 27  # characters of a document: a packed file may stand for any number


class DocumentFile:
    """A file of documents; every iteration reads it from the beginning.

    Parameters
    ----------
    path : path
        ``.txt`` or ``.md``, ``.jsonl`` or ``.ndjson``, ``.csv`` or ``.tsv``, each also with
        ``.gz``; UTF-8.
    per : {"line", "file"}
        Whether each line of a text file is a document, or the whole file. Empty lines are left out.
    field : str
        Field of JSON lines that holds the text.
    column : str or None
        Column of a table with a header; not needed if there is only one.

    Raises
    ------
    InputError
        If there is no such file, and while reading: for files that cannot be read and for empty
        documents.
    """

    def __init__(self, path: str | Path, per: str, field: str, column: str | None) -> None:
        self.path, self.name = Path(path), str(path)
        self._per, self._field, self._column = per, field, column
        bare = self.path.name.lower().removesuffix(".gz")
        self._kind = next((kind for kind in (TEXTS, LINES, TABLES) if bare.endswith(kind)), None)
        if not self.path.exists():
            raise InputError(f"There is no {path}.")
        if self._kind is None or self.path.is_dir():
            raise InputError(
                f"{path} has an ending that is not known for documents; known are "
                f"{', '.join(TEXTS + LINES + TABLES)}, each also with .gz."
            )
        self._delimiter = "\t" if bare.endswith(".tsv") else ","

    def fingerprint(self) -> str:
        """Return a digest of the content."""
        return fingerprint([self.path])

    def __iter__(self) -> Iterator[str]:
        """Yield the documents."""
        read = {TEXTS: self._texts, LINES: self._fields, TABLES: self._cells}[self._kind or TEXTS]
        with reading(self.name), self._opened() as file:
            for place, text in read(file):
                if not text.strip():
                    raise InputError(f"{self.name}, {place}: the document is empty; leave it out.")
                yield text

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

    def _texts(self, file: IO[str]) -> Iterator[tuple[str, str]]:
        if self._per == "file":
            text = file.read(MOST_TEXT + 1)
            self._check_length(text)
            yield "whole file", text
            return
        for number, line in enumerate(self._lines(file), 1):
            if line.strip():
                yield f"line {number}", line

    def _fields(self, file: IO[str]) -> Iterator[tuple[str, str]]:
        for number, line in enumerate(self._lines(file), 1):
            if not line.strip():
                continue
            try:
                entry: Any = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.name}, line {number}: not valid JSON ({error}).") from None
            is_object = isinstance(entry, dict)
            text = entry.get(self._field) if is_object else None
            if not isinstance(text, str):
                found = f"fields are {', '.join(entry)}" if is_object else "it is not an object"
                raise InputError(
                    f"{self.name}, line {number}: no text in the field {self._field!r}; "
                    f"{found:.200}."
                )
            yield f"line {number}", text

    def _cells(self, file: IO[str]) -> Iterator[tuple[str, str]]:
        rows = csv.reader(self._lines(file), delimiter=self._delimiter)
        header = next(rows, [])
        if not header:
            raise InputError(f"{self.name} has no lines.")
        if self._column is None and len(header) != 1:
            raise InputError(
                f"{self.name} has {counted(len(header), 'column')}; choose one with --column: "
                f"{', '.join(header)}."
            )
        column = header[0] if self._column is None else self._column
        if column not in header:
            raise InputError(
                f"{self.name} has no column {column!r}; there are {', '.join(header)}."
            )
        place = header.index(column)
        for row in rows:
            if row:
                yield f"line {rows.line_num}", row[place] if place < len(row) else ""


def open_documents(
    inputs: tuple[str, ...], per: str, field: str, column: str | None
) -> list[DocumentFile]:
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
    return [DocumentFile(path, per, field, column) for path in files]
