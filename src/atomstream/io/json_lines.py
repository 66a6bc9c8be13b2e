"""Lines of JSON: a row each."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from atomstream.exceptions import InputError
from atomstream.io import InputOptions
from atomstream.io.column_names import ROWS_JUDGED, as_texts, chosen
from atomstream.io.input_options import AUTO, NO
from atomstream.io.table import TextTable


class JsonTable(TextTable):
    """Lines of JSON: a row each, as a list of numbers or as an object of named numbers.

    Parameters
    ----------
    path : path
    options : InputOptions
        Without columns, the names are those of the first line.
    """

    def __init__(self, path: Path, options: InputOptions) -> None:
        super().__init__(path, options)
        try:
            lines = [*filter(bytes.strip, self._text.beginning(options).split(b"\n"))]
            first = json.loads(lines[0] if lines else b"null")
        except (ValueError, RecursionError):
            first = None
        if not isinstance(first, dict | list) or not first:
            raise InputError(f"{path} has no rows: needed are lists or objects of numbers.")
        self._kind: Any = type(first)
        named = [*first] if self._kind is dict else [str(n + 1) for n in range(len(first))]
        values = first.values() if isinstance(first, dict) else first
        texts = {i: value for i, value in enumerate(values) if isinstance(value, str)}
        is_entry, index = options.numbers.is_entry, options.index
        own = chosen(named, (index,), self.name) if index not in (AUTO, NO) else []
        rows = self._first_rows(lines, named) if options.naming.judges else []
        texts = {i: text for i, text in texts.items() if not is_entry(text)}
        self._choose(named, options, texts, own, rows)
        if self._kind is list:
            self.names = None

    def _first_rows(self, lines: list[bytes], names: list[str]) -> list[list[str]]:
        """Return the first rows as texts, as far as they can be read."""
        self._all_names, rows = names, []
        with suppress(ValueError, RecursionError):
            rows += [as_texts(self._fields(line, 0)) for line in lines[:ROWS_JUDGED]]
        return rows

    def _fields(self, record: bytes, line: int) -> list[Any]:
        value = json.loads(record)
        if not isinstance(value, self._kind):
            raise ValueError(f"it is not a {self._kind.__name__}, as the first one is")
        return value if isinstance(value, list) else [*map(value.get, self._all_names)]
