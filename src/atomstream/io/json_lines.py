"""Lines of JSON: a row each, as a list of numbers or as an object of named numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.core.checks import counted
from atomstream.exceptions import InputError
from atomstream.io.heads import chosen
from atomstream.io.source import Block, Source, numbered, row_blocks

__all__ = ["JsonLines"]

MOST = 1 << 40  # more rows than any file has


class JsonLines(Source):
    """Lines of JSON in a file; null and missing names are missing entries.

    Parameters
    ----------
    path : path
    columns : sequence of str, default=()
        Names, numbers from 1, or ranges of numbers ("3-7"); none means those of the first line.
    """

    has_columns = True

    def __init__(self, path: Path, columns: Sequence[str] = ()) -> None:
        self.name, self.files, self._path = str(path), [path], path
        with self._lines() as lines:
            first = next(lines, None)
        if first is None:
            raise InputError(f"{path} has no rows.")
        value = _parsed(first, self.name, 0)
        named = isinstance(value, dict)
        names = list(value) if named else [str(number + 1) for number in range(len(value))]
        self._width, self._kept = len(names), chosen(names, columns, self.name)
        self.names = [names[i] for i in self._kept] if named else None
        self.n_features = len(self._kept)

    @contextmanager
    def _lines(self) -> Iterator[Iterator[bytes]]:
        """Open the file and leave blank lines out."""
        with self._path.open("rb") as file:
            yield (line for line in file if line.strip())

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows; lines before ``start`` are not parsed."""
        with self._lines() as lines:
            row = sum(1 for _ in islice(lines, start))
            size = next(row_blocks(MOST, 0, 8 * self._width)).stop
            while block := list(islice(lines, size)):
                rows = [self._row(line, row + n) for n, line in enumerate(block)]
                yield numbered(np.array(rows, dtype=np.float64), row)
                row += len(block)

    def _row(self, line: bytes, row: int) -> list[float]:
        value = _parsed(line, self.name, row)
        if self.names is not None and isinstance(value, dict):
            picked = [value.get(name) for name in self.names]
        elif self.names is None and isinstance(value, list) and len(value) == self._width:
            picked = [value[i] for i in self._kept]
        else:
            kind = f"{counted(self._width, 'number')} each" if self.names is None else "names"
            raise InputError(f"Row {row} of {self.name} is unlike the first one, which has {kind}.")
        try:
            return [np.nan if entry is None else float(entry) for entry in picked]
        except (TypeError, ValueError):
            raise InputError(f"Row {row} of {self.name} holds what is no number.") from None


def _parsed(line: bytes, name: str, row: int) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"Row {row} of {name} is no line of JSON.") from None
    if not isinstance(value, dict | list) or not value:
        raise InputError(f"Row {row} of {name} is neither a list nor an object of numbers.")
    return value
