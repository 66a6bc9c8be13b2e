"""Tables in Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.core.extras import library
from atomstream.exceptions import InputError
from atomstream.io import tables
from atomstream.io.budget import need
from atomstream.io.heads import UNNAMED, Naming, chosen, refuse_none, refuse_texts
from atomstream.io.source import Block, Source, numbered
from atomstream.io.tables import COLUMN_BYTES, arrow, labels_of, rows_of

__all__ = ["Parquet"]

NAME_BYTES = 64  # that the name of a row takes as an object


class Parquet(Source):
    """A Parquet file, which is read by row groups.

    Parameters
    ----------
    path : path
    columns : sequence of str, default=()
        Names, numbers from 1, or ranges of numbers ("3-7"); none means all.
    naming : Naming, default=UNNAMED
        Columns that name rows, besides an index that pandas wrote.
    """

    has_columns = True

    def __init__(self, path: Path, columns: Sequence[str] = (), naming: Naming = UNNAMED) -> None:
        pa, _ = arrow()
        pq = library("pyarrow.parquet", "Parquet files")
        self.name, self.files = str(path), [path]
        self._file = pq.ParquetFile(path if isinstance(path, Path) else path.open())
        schema = self._file.schema_arrow
        # An index that pandas wrote is a feature only on request.
        index = [name for name in _index_columns(schema) if name not in columns]
        aside = naming.places(schema.names, self.name, index)
        kept = [i for i in chosen(schema.names, columns, self.name) if i not in aside]
        refuse_none(kept, self.name)
        self.row_names = [schema.names[i] for i in aside] if naming.kept else []
        self.names = [schema.names[i] for i in kept]
        kinds = {schema.names[i]: schema.types[i] for i in kept}
        numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
        texts = {n: str(kind) for n, kind in kinds.items() if not any(is_(kind) for is_ in numeric)}
        refuse_texts(texts, self.name)
        self.n_features, self.n_rows = len(kept), self._file.metadata.num_rows
        about = self._file.metadata
        groups = (about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        need(2 * max(groups, default=0) + COLUMN_BYTES * self.n_features, self.name)
        if not self.n_rows:
            raise InputError(f"{path} has no rows.")

    @property
    def group_rows(self) -> list[int]:
        """Numbers of rows of the row groups, which are read as wholes."""
        about = self._file.metadata
        return [about.row_group(i).num_rows for i in range(about.num_row_groups)]

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows, starting with the row group that has row ``start``."""
        pa, _ = arrow()
        sizes = self.group_rows
        first = int(np.searchsorted(np.cumsum(sizes), start, side="right"))
        row, groups = int(sum(sizes[:first])), list(range(first, len(sizes)))
        row_bytes = 4 * self.n_features + NAME_BYTES * len(self.row_names)
        batch_rows = max(1, tables.CHUNK // row_bytes)
        columns = [*(self.names or []), *self.row_names]
        for batch in self._file.iter_batches(
            batch_rows, row_groups=groups, columns=columns, use_threads=False
        ):
            if row + len(batch) > start:
                new = pa.Table.from_batches([batch.select(columns)]).slice(max(start - row, 0))
                X = rows_of(new.select(range(self.n_features)))
                yield numbered(X, max(row, start), labels_of(new, self.n_features))
            row += len(batch)
        if row != self.n_rows:
            raise InputError(f"{self.name} claims {self.n_rows} rows and holds {row}.")


def _index_columns(schema: Any) -> list[str]:
    """Return the columns that pandas wrote as the index of its frame."""
    metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return [name for name in metadata.get("index_columns", []) if isinstance(name, str)]
