"""Tables in Parquet and Arrow files, read by row groups and by batches of records."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.base import library
from atomstream.exceptions import InputError
from atomstream.io import Block, InputOptions, need, numbered, texts
from atomstream.io.column_names import ROWS_JUDGED, as_texts, chosen
from atomstream.io.input_options import AUTO, NO
from atomstream.io.table import BYTES_PER_COLUMN, Table, split_arrow

BYTES_PER_NAME = 64  # that the name of a row takes as an object


class ParquetTable(Table):
    """A Parquet file, which is read by row groups.

    Parameters
    ----------
    path : path
    options : InputOptions
        An index that pandas wrote names rows unless it is chosen.
    """

    def __init__(self, path: Path, options: InputOptions) -> None:
        pa = library("pyarrow", "Tables")
        self.name, self.files = str(path), [path]
        schema, self.group_rows, largest = self._opened(path)
        index = _index(schema, options)
        numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
        kinds = enumerate(schema.types)
        texts = {i: str(kind) for i, kind in kinds if not any(is_(kind) for is_ in numeric)}
        rows = self._first_rows(schema.names) if options.naming.judges else []
        self._choose(schema.names, options, texts, index, rows)
        twice = [name for name in (*self.columns, *self.row_names) if schema.names.count(name) > 1]
        if twice:  # columns of such files are read by their names
            raise InputError(
                f"{path} has two columns with the name {twice[0]!r:.80}; rename one, or leave both "
                "out by their numbers with --drop."
            )
        self.n_rows = sum(self.group_rows)
        # A row group is decoded as a whole, beside what it is decoded from.
        need(2 * largest + BYTES_PER_COLUMN * self.n_features, self.name)
        if not self.n_rows:
            raise InputError(f"{path} has no rows.")

    def _first_rows(self, names: list[str]) -> list[list[str]]:
        """Return the first rows as texts."""
        if not self.group_rows:
            return []
        batch = next(iter(self._records(ROWS_JUDGED, [0], names)))
        columns = [column.to_pylist() for column in batch.columns]
        return [as_texts(row) for row in zip(*columns, strict=True)]

    def _opened(self, path: Any) -> tuple[Any, list[int], int]:
        """Open the file; return its schema, the rows of its groups and the bytes of the largest."""
        pq = library("pyarrow.parquet", "Parquet files")
        self._file = pq.ParquetFile(path if isinstance(path, Path) else path.open())
        about = self._file.metadata
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        sizes = [group.num_rows for group in groups]
        if about.num_rows != sum(sizes):
            claimed = f"{about.num_rows} rows and {sum(sizes)} in its groups"
            raise InputError(f"{self.name} claims {claimed}.")
        largest = max((group.total_byte_size for group in groups), default=0)
        return self._file.schema_arrow, sizes, largest

    def _records(self, n_rows: int, groups: list[int], columns: list[str]) -> Iterator[Any]:
        """Yield batches of at most so many records of some groups."""
        what = {"row_groups": groups, "columns": columns}
        yield from self._file.iter_batches(n_rows, **what, use_threads=False)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of rows, starting with the row group that has row ``start``."""
        pa = library("pyarrow", "Tables")
        sizes = self.group_rows
        first = int(np.searchsorted(np.cumsum(sizes), start, side="right"))
        row, groups = int(sum(sizes[:first])), list(range(first, len(sizes)))
        columns = [*self.columns, *self.row_names]
        row_bytes = 4 * self.n_features + BYTES_PER_NAME * len(self.row_names)
        n_rows = max(1, texts.CHUNK_BYTES // row_bytes)
        for batch in self._records(n_rows, groups, columns):
            if row + len(batch) > start:
                new = pa.Table.from_batches([batch.select(columns)]).slice(max(start - row, 0))
                X, labels = split_arrow(new, self.n_features)
                yield numbered(self._with_missing(X), max(row, start), labels)
            row += len(batch)
        # The footer of a file may claim anything.
        if row != self.n_rows:
            raise InputError(f"{self.name} claims {self.n_rows} rows and holds {row}.")


class ArrowTable(ParquetTable):
    """A file or stream of Arrow, such as `DataFrame.to_feather` writes, read by its batches."""

    def _opened(self, path: Any) -> tuple[Any, list[int], int]:
        pa, ipc = library("pyarrow", "Tables"), library("pyarrow.ipc", "Arrow files")
        data = pa.memory_map(str(path)) if isinstance(path, Path) else path.open()
        try:
            self._file = ipc.open_file(data)
            self._group, n_groups = self._file.get_batch, self._file.num_record_batches
        except pa.ArrowInvalid:  # a stream, whose batches lie in the file as they are
            data.seek(0)
            kept = [*(stream := ipc.open_stream(data))]
            self._file, self._group, n_groups = stream, kept.__getitem__, len(kept)
        sizes = [(batch.num_rows, batch.nbytes) for batch in map(self._group, range(n_groups))]
        largest = max((n_bytes for _, n_bytes in sizes), default=0)
        return self._file.schema, [n_rows for n_rows, _ in sizes], largest

    def _records(self, n_rows: int, groups: list[int], columns: list[str]) -> Iterator[Any]:
        for group in groups:
            batch = self._group(group)
            for start in range(0, len(batch), n_rows):
                yield batch.slice(start, n_rows).select(columns)


def _index(schema: Any, options: InputOptions) -> list[int]:
    """Return the places of the columns that name rows: by default the index that pandas wrote."""
    if options.index not in (AUTO, NO):
        return chosen(schema.names, (options.index,), "The table")
    metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    stored = [name for name in metadata.get("index_columns", []) if isinstance(name, str)]
    stored = [] if options.index == NO else stored
    return [schema.names.index(name) for name in stored if name not in options.columns]
