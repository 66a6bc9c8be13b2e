"""Documents in files: text files or their lines, a field of JSON lines, a column of a table."""

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, is_missing
from atomstream.exceptions import DataWarning, InputError
from atomstream.io import texts
from atomstream.io.column_names import chosen
from atomstream.io.dates import DateError, dates_of_texts
from atomstream.io.files import expanded
from atomstream.io.input_options import AUTO, NO, OF_TEXT, TableOptions
from atomstream.io.inputs import check_used
from atomstream.io.source import Input, existing, log_guesses, reading
from atomstream.io.table_head import Guesses, Head
from atomstream.io.text_file import TextFile
from atomstream.io.texts import bounded, whole_text

MIN_PARAGRAPHS, LINES_READ = 5, 1000  # from which on a text is said to have some; to find them
AS_USUAL = TableOptions()
TABLE_OPTIONS = (*OF_TEXT, "missing")
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
    table : TableOptions, default=TableOptions()
        How tables are written, and the encoding of all texts. A bad line is one without a document.
    """

    per: str = "line"
    field: str = "text"
    column: str | None = None
    labels: Sequence[str] = ()
    known: Sequence[str] = ()
    empty: bool = False
    table: TableOptions = AS_USUAL

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
        ``.gz``.
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
        used = TABLE_OPTIONS if self._kind is TABLES else ("encoding",)
        check_used(options.table, {*used, "on_bad_line"}, str(path))
        self.n_skipped = 0  # in the last reading
        self._text = TextFile(self.path, self.name)
        self.guesses: Guesses = self._text.guesses

    @property
    def row_names(self) -> list[str]:
        """Names of what `entries` hands over beside each text."""
        if self._kind is TEXTS:
            return ["file"] if self._options.per == "file" else []
        if self._kind is LINES:
            return self._options.beside
        with reading(self.name):
            names, wanted = self._head.names, self._options.labels
        return [name for name in self._options.beside if name in names or name in wanted]

    def __iter__(self) -> Iterator[str]:
        """Yield the documents."""
        return (entry.text for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Yield the documents with where they stand and what they are called."""
        read = {TEXTS: self._from_text, LINES: self._from_json, TABLES: self._from_table}
        self.n_skipped = 0
        with reading(self.name):
            for entry in read[self._kind or TEXTS](self.row_names):
                if entry.text.strip() or self._options.empty:
                    yield entry
                elif self._options.table.skips:
                    self.n_skipped += 1
                else:
                    raise InputError(
                        f"{self.name}, {entry.place}: the document is empty; leave it out, or "
                        "all such documents with --on-bad-line skip."
                    )

    def check_lines(self) -> None:
        """Warn where each line is a document, and the text has paragraphs of several lines."""
        by_line = self._kind is TEXTS and self._options.per == "line"
        with reading(self.name):
            filled = [bool(line.strip()) for line in islice(self._lines(), LINES_READ)]
        n_paragraphs = sum(has_text for has_text, _ in groupby(filled))
        # Lists of documents have no empty lines, or one after each.
        if by_line and n_paragraphs >= MIN_PARAGRAPHS and sum(filled) > 2 * n_paragraphs:
            said = "has paragraphs of several lines, and each line is taken for a document"
            warnings.warn(f"{self.name} {said}: give --per paragraph.", DataWarning, stacklevel=2)

    def _numbered(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that are not blank, and where they stand."""
        for number, line in enumerate(self._lines(), 1):
            if line.strip():
                yield f"line {number}", line

    def _encoding(self) -> str:
        if self._options.table.encoding is not None:
            return self._options.table.encoding
        encoding, why = texts.encoding_in(self.path)
        if why:
            self.guesses["encoding"] = (encoding, why)
        return encoding

    def _lines(self) -> Iterator[str]:
        return texts.text_lines(self.path, self._encoding())

    @cached_property
    def _head(self) -> Head:
        """What the beginning of a table tells: the column of the text need not be of numbers."""
        how = replace(self._options.table, index=NO)
        head, _ = self._text.head(self._text.beginning(how), how)
        log_guesses(self.name, self.guesses)
        return head

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the fields of the rows of a table, and the numbers of their first lines."""
        head = self._head
        with self._text.parts(head.dialect, head.n_lines) as parts:
            for part in parts:
                for line, record in part.records():
                    yield line, head.dialect.fields(record)

    def _from_text(self, names: list[str]) -> Iterator[Entry]:
        if self._options.per == "file":
            yield Entry("whole file", whole_text(self.path, self._encoding()), (self.path.name,))
            return
        joined, lines = self._options.per == "paragraph", enumerate(self._lines(), 1)
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
        # Null, and NaN as pandas writes it, stand for no text, and so may a field that is absent.
        missing = known is fields and is_missing(text)
        may_be = field in known or self._options.empty or self._options.table.skips
        text = None if missing else text
        fits = isinstance(text, str) or (missing and may_be)
        wanted = [] if fits else [f"text in the field {field!r}"]
        wanted[:0] = [f"field {n!r}" for n in self._options.labels if known and n not in known]
        if wanted:
            found = f"fields are {', '.join(known)}" if known is fields else "it is not an object"
            raise InputError(f"{self.name}, {place}: no {wanted[0]}; {found:.200}.")
        return text

    def _from_table(self, names: list[str]) -> Iterator[Entry]:
        header, missing = self._head.names, self._options.table.missing
        columns = [name for name in header if name not in names]
        if self._options.column is not None:
            columns = [self._options.column]
        if len(columns) != 1:
            raise InputError(
                f"{self.name} has {counted(len(header), 'column')}; choose one with --column: "
                f"{', '.join(header)}."
            )
        places = chosen(header, [*columns, *names], self.name)
        for line, row in self._cells():
            text, *labels = (row[place] if place < len(row) else "" for place in places)
            text = "" if text.strip() in missing else text
            yield Entry(f"line {line}", text, tuple(labels))


def _text(value: Any) -> str:
    """Return a value of JSON as text; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def dates_of(files: Sequence[DocumentFile], column: str, order: str = AUTO) -> NDArray:
    """Return when each document was written, datetime64[s]; NaT where that is not said.

    ``order`` is as in `dates_of_texts`; dates with a zone count as local times.

    Raises
    ------
    InputError
        For what is no date.
    """
    found: list[NDArray] = []
    for file in files:
        place = file.row_names.index(column)
        entries = [(entry.place, entry.labels[place].strip()) for entry in file.entries()]
        try:
            dates = dates_of_texts([text for _, text in entries], order, local=True)
        except DateError as error:
            where = next((place for place, text in entries if text == error.text), "")
            raise error.explained(column, f"{file.name}, {where}", numbers=False) from None
        if dates.guess:
            file.guesses["dates"] = (order, dates.guess)
        found.append(dates.labels.astype("datetime64[s]"))
    return np.concatenate(found)


def open_documents(inputs: Sequence[str], options: DocumentOptions) -> list[DocumentFile]:
    """Return files of documents; a folder stands for all text files in it, a pattern for files."""
    files: list[str | Path] = []
    for name in expanded(inputs):
        path = Path(name)
        if path.is_dir():
            found = sorted(part for part in path.rglob("*") if part.suffix.lower() in TEXTS)
        else:
            found = [path]
        if not found:
            raise InputError(f"The folder {name} holds no text files ({', '.join(TEXTS)}).")
        files.extend(found)
    return [DocumentFile(path, options) for path in files]
