"""Tables of series reconstructed from atoms: all of them, or their missing entries."""

from dataclasses import KW_ONLY, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import track
from atomstream.estimators._estimator import estimator
from atomstream.estimators._learner_inside import LearnerInside
from atomstream.estimators._validation import check_size, observe
from atomstream.estimators.encoding import encode_exactly
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import ScheduleChoice
from atomstream.fields.series.frames import Form, Table, in_series, nonnegative_table
from atomstream.fields.series.head import Head
from atomstream.fields.series.head_state import HeadState
from atomstream.fields.series.levels import LastKnown, Levels
from atomstream.loop import Algorithm
from atomstream.schedules import Constant
from atomstream.streams.cuts import windows

WINDOWS_AT_ONCE = 4096  # windows reconstructed at a time
FOLLOWING = Constant(weight=1.0)


@estimator
class SeriesReconstruction(LearnerInside):
    """A learned dictionary of series that reconstructs and imputes whole tables."""

    n_components: int = 20
    window: int = 12
    _: KW_ONLY
    memory: int | None = None
    ridge: float = 0.05
    forecast_alpha: float = 0.0
    correction: float = 1.0
    center: bool = True
    head: str | Head | None = "mix"
    season: int | None = None
    schedule: ScheduleChoice = FOLLOWING
    n_init: int | None = None
    n_init_batches: int = 20
    init_batch_size: int = 100

    learner_: OnlineNMF = field(init=False)
    form_: Form = field(init=False)
    levels_: Levels = field(init=False)
    initial_atoms_: NDArray | None = field(init=False)
    _rows: NDArray = field(init=False)
    _steps: NDArray = field(init=False)
    _n_rows: int = field(init=False)
    _first_honest: int = field(init=False)
    _known: LastKnown = field(init=False)
    _lag_errors: NDArray = field(init=False)
    _seen: NDArray = field(init=False)
    _seed: int = field(init=False)
    _head: HeadState | None = field(init=False, default=None)
    _ahead_rows: NDArray | None = field(init=False, default=None)

    @property
    def _refuses_negative(self) -> bool:
        return not self.center

    def reconstruct(self, Y: object, *, online: bool = False) -> Any:
        """Reconstruct a table from the atoms.

        Parameters
        ----------
        Y : table of shape (n_times, n_series)
            At least ``window`` rows; NaN where an entry is missing.
        online : bool, default=False
            Without it every window is coded with the last dictionary, and a row is the mean of all
            windows over it. With it a model of the same settings learns the table from its
            beginning, and each row is the last of the window that ends with it, reconstructed with
            the dictionary of that moment (section 3.4; rows before the first dictionary are
            reconstructed with that).

        Returns
        -------
        array, frame or DataArray of shape (n_times, n_series)
            NaN where no window with an observed entry reaches.
        """
        table = self._validated(Y)
        if not online:
            return table.wrap(self._reconstructed(table.values))
        twin: Any = type(self)(**self.get_params(deep=False)).set_params(random_state=self._seed)
        reconstruction = np.full_like(table.values, np.nan)
        for row in range(len(reconstruction)):
            begun = twin.__sklearn_is_fitted__()
            twin.partial_fit(table.values[row : row + 1])
            if twin.__sklearn_is_fitted__():
                first = max(0, row + 1 - self.window) if begun else 0
                now = twin._reconstructed(table.values[first : row + 1])
                reconstruction[row if begun else 0 : row + 1] = now[-1:] if begun else now
        return table.wrap(reconstruction)

    def impute(self, Y: object) -> Any:
        """Fill missing entries with reconstructions from the observed ones around them.

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
        table = self._validated(Y)
        return table.wrap(
            np.where(np.isnan(table.values), self._reconstructed(table.values), table.values)
        )

    def _table(self, data: object, name: str) -> Table:
        """Return a validated table; without centring it must not be negative."""
        return Table.of(data, name) if self.center else nonnegative_table(data, name)

    def _validated(self, Y: object) -> Table:
        """Return a table to reconstruct, checked."""
        check_is_fitted(self)
        self.check()
        self._check_shape()
        table = in_series(self._table(Y, "Y"), self.form_, self._rows.shape[1], "Y")
        if len(table.values) < self.window:
            raise ValueError(
                f"Y has {len(table.values)} rows, needed is a window of {self.window} at least."
            )
        return table

    def _reconstructed(self, values: NDArray) -> NDArray:
        """Return the mean of all windows over each row, of those that hold an observed entry."""
        total, count = np.zeros_like(values), np.zeros((len(values), 1))
        algorithm, start = self._algorithm(self.alpha), 0
        n_blocks = -(-(len(values) - self.window + 1) // WINDOWS_AT_ONCE)
        blocks = windows(self.levels_.apply(values), self.window, WINDOWS_AT_ONCE)
        for rows in track(blocks, n_blocks, "coding windows"):
            seen = ~np.isnan(rows).all(axis=1)
            reconstruction = self._from_atoms(rows, algorithm)
            for lag in range(self.window):
                place = slice(start + lag, start + lag + len(rows))
                total[place] += np.where(seen[:, None], reconstruction[:, lag], 0)
                count[place, 0] += seen
            start += len(rows)
        mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        return self.levels_.undo(mean)

    def _algorithm(self, alpha: float) -> Algorithm:
        """Return the parts that code windows; checked when the model was."""
        return OnlineNMF(self.n_components, alpha=alpha, ridge=self.ridge).algorithm_

    def _from_atoms(self, rows: NDArray, algorithm: Algorithm) -> NDArray:
        """Return reconstructions of windows from their observed entries, in the units of atoms.

        NaN in unknown series.
        """
        dictionary = self.learner_.state_.dictionary
        codes = encode_exactly(
            algorithm.coder, observe(rows, missing=True), dictionary, algorithm.objective
        )
        return np.where(self._seen, self._shaped(dictionary.decode(codes.values)), np.nan)

    def _shaped(self, rows: NDArray) -> NDArray:
        """Return rows as windows, (n, window, n_series)."""
        return rows.reshape(len(rows), -1, self._rows.shape[1])

    def _check_shape(self) -> None:
        """Refuse settings of another shape than what was learned."""
        if self.__sklearn_is_fitted__():
            check_size(self, len(self.learner_.components_))
            self._refuse_change(window=self.learner_.n_features_in_ // self._rows.shape[1])
        if not self.center and (self.levels_.offset.any() or (self.levels_.scale != 1).any()):
            raise ValueError(
                "center is False, the atoms were learned with center=True; call fit to start anew."
            )
