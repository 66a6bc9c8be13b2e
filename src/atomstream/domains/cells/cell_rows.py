"""Cells in files as rows of numbers, for runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atomstream.domains.cells.counts import named, overdispersed, read, scaled
from atomstream.io.source import Block, Source, files_of, numbered, reading

ROWS = 512  # cells of a block


class Cells(Source):
    """Cells of a file as `atomstream.cells` reads them: each gene over its standard deviation.

    Codes need the deviations that atoms were learned with: set ``deviation`` for other cells.

    Parameters
    ----------
    path : pathlib.Path
    columns : sequence of str, default=()
        Names of genes, or their numbers from 1; by default the 2,000 that vary most for their mean.
    """

    has_columns = True
    row_names = ("cell",)
    deviation: NDArray

    def __init__(self, path: Path, columns: Sequence[str] = ()) -> None:
        self._data = read(path)
        self._data.var_names_make_unique()
        with reading(str(path)):
            self._genes = named(self._data, columns) if columns else overdispersed(self._data)
        self.name, self.files = str(path), files_of(path)
        self.names, self.deviation = self._genes.names.tolist(), self._genes.deviation
        self.n_rows, self.n_features = self._data.n_obs, len(self.names)

    def _blocks(self, start: int, epoch: int) -> Iterator[Block]:
        """Yield blocks of cells."""
        cells = np.asarray(self._data.obs_names).astype(object)
        for X in scaled(self._data, replace(self._genes, deviation=self.deviation), ROWS, start):
            yield numbered(X, start, (cells[start : start + X.shape[0]],))
            start += X.shape[0]
