"""Tables of series rebuilt from atoms: all of them, or what is missing of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from atomstream.domains.series.frames import Table, check_series, nonnegative_table
from atomstream.streams import windows

__all__ = ["Rebuilding"]

BLOCK = 4096  # windows rebuilt at a time


class Rebuilding(BaseEstimator):
    """What `SeriesDictionary` makes of whole tables with what it has learned; nothing here changes it."""

    window: int
    alpha: float
    form_: Any
    _rows: NDArray
    _seed: int
    check: Any
    partial_fit: Any
    _method: Any
    _from_atoms: Any
    _check_shape: Any

    def reconstruct(self, Y: Any, *, online: bool = False) -> Any:
        """Rebuild a table from the atoms.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            At least ``window`` rows; NaN where an entry is missing.
        online : bool, default=False
            Without it every window is coded with the last dictionary, and a row is the mean of all
            windows over it. With it a model of the same settings learns the table from its
            beginning, and each row is the last of the window that ends with it, rebuilt with the
            dictionary of that moment (section 3.4; rows before the first dictionary are rebuilt
            with that).

        Returns
        -------
        array, frame or DataArray of shape (n_times, n_series)
            NaN where no window with an observed entry reaches.
        """
        table = self._given(Y)
        if not online:
            return table.wrap(self._rebuilt(table.values))
        twin = type(self)(**self.get_params(deep=False) | {"random_state": self._seed})
        rebuilt = np.full_like(table.values, np.nan)
        for row in range(len(rebuilt)):
            begun = twin.__sklearn_is_fitted__()
            twin.partial_fit(table.values[row : row + 1])
            if twin.__sklearn_is_fitted__():
                first = max(0, row + 1 - self.window) if begun else 0
                now = twin._rebuilt(table.values[first : row + 1])
                rebuilt[row if begun else 0 : row + 1] = now[-1:] if begun else now
        return table.wrap(rebuilt)

    def impute(self, Y: Any) -> Any:
        """Fill missing entries by what the atoms make of the observed ones around them, in all series.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            At least ``window`` rows; NaN where an entry is missing: here and there, or a whole
            series for a while.

        Returns
        -------
        array, frame or DataArray of shape (n_times, n_series)
            Observed entries as they are; NaN stays where no window with an observed entry reaches.
        """
        table = self._given(Y)
        return table.wrap(
            np.where(np.isnan(table.values), self._rebuilt(table.values), table.values)
        )

    def _given(self, Y: Any) -> Table:
        """Return a table to rebuild, checked."""
        check_is_fitted(self)
        self.check()
        self._check_shape()
        table = nonnegative_table(Y, "Y")
        check_series(table, self.form_, self._rows.shape[1], "Y")
        if len(table.values) < self.window:
            raise ValueError(
                f"Y has {len(table.values)} rows, needed is a window of {self.window} at least."
            )
        return table

    def _rebuilt(self, values: NDArray) -> NDArray:
        """Return the mean of all windows over each row, of those that hold an observed entry."""
        total, count = np.zeros_like(values), np.zeros((len(values), 1))
        method, start = self._method(self.alpha), 0
        for rows in windows(values, self.window, BLOCK):
            seen = ~np.isnan(rows).all(axis=1)
            rebuilt = self._from_atoms(rows, method)
            for lag in range(self.window):
                place = slice(start + lag, start + lag + len(rows))
                total[place] += np.where(seen[:, None], rebuilt[:, lag], 0)
                count[place, 0] += seen
            start += len(rows)
        return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
