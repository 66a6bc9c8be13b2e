"""Lines of JSON: a row each."""

import json
from pathlib import Path
from typing import Any

from atomstream.exceptions import InputError
from atomstream.io import InputOptions
from atomstream.io.column_names import chosen
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
            lines = self._text.beginning(options).split(b"\n")
            first = json.loads(next(filter(bytes.strip, lines), b"null"))
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
        self._choose(named, options, {i: t for i, t in texts.items() if not is_entry(t)}, own)
        if self._kind is list:
            self.names = None

    def _fields(self, record: bytes, line: int) -> list[Any]:
        value = json.loads(record)
        if not isinstance(value, self._kind):
            raise ValueError(f"it is not a {self._kind.__name__}, as the first one is")
        return value if isinstance(value, list) else [*map(value.get, self._all_names)]
