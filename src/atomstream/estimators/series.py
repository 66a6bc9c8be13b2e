"""What several series do together over a window of time: a dictionary of joint patterns that follows the series."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.core.checks import check_count, generator
from atomstream.core.method import Method
from atomstream.domains.series.conformal import half_widths
from atomstream.domains.series.frames import (
    Form,
    Table,
    check_series,
    labels_on,
    n_shared,
    nonnegative_table,
)
from atomstream.domains.series.time_index import Times
from atomstream.estimators._callbacks import CallbackSupportMixin
from atomstream.estimators._rollback import untouched
from atomstream.estimators._series_reconstruction import Rebuilding
from atomstream.estimators._validation import check_settings, check_size, observe
from atomstream.estimators.encoding import encode_exactly
from atomstream.estimators.nmf import OnlineNMF
from atomstream.streams import windows

__all__ = ["Interval", "SeriesDictionary"]

MADE = (
    "learner_",
    "form_",
    "initial_atoms_",
    "_rows",
    "_steps",
    "_n_rows",
    "_first_honest",
    "_seed",
    "_seen",
)


class Interval(NamedTuple):
    """Bands of a forecast.

    Attributes
    ----------
    low, high : array or frame of shape (horizon, n_series)
    """

    low: Any
    high: Any


class SeriesDictionary(CallbackSupportMixin, Rebuilding):
    r"""A dictionary of what several nonnegative series do together in ``window`` consecutive times.

    Random windows of the first rows, or of another table, make a first dictionary (Algorithm 3).
    Then the rows come in the order of time: each is predicted from the rows before it (Algorithm
    2), then all windows of the last ``memory`` rows are one batch of an `OnlineNMF` (Algorithm 1).
    The online phase goes on with the sums A and B and the clock of the initialisation, so that its
    first weight does not erase them.

    Only the last ``memory + window`` rows and the last ``memory`` predictions are kept. No number
    depends on rows that came later: `fit` is `partial_fit` row by row.

    Parameters
    ----------
    n_components : int, default=20
        Number of atoms.
    window : int, default=12
        Times in an atom, at least 2.
    memory : int, optional
        Rows whose windows make a batch, at least ``window``; by default ten windows.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes while learning and rebuilding.
    ridge : float, default=0.01
        Strength of the squared l2 penalty (halved) on all codes; atoms have length one at most. It
        decides between codes where few entries were observed, and costs some accuracy where all
        were.
    forecast_alpha : float, default=0.0
        Strength of the l1 penalty on the codes of predictions.
    schedule : str or callable, default="power"
        Of the online phase, as in `OnlineNMF`. ``Constant(weight=1.0)`` of `atomstream.schedules`
        knows the last ``memory`` rows and nothing else.
    n_init : int, optional
        How many of the first rows the initialisation sees; by default four windows. Without
        initialisation learning begins with the first window.
    n_init_batches : int, default=20
        Batches of the initialisation, under the harmonic schedule; 0 for none.
    init_batch_size : int, default=100
        Windows in such a batch, drawn at random.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    atoms_ : ndarray of shape (n_components, window, n_series)
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the sum of the codes, initialisation included.
    initial_atoms_ : ndarray of shape (n_components, window, n_series), or None
        The atoms before the online phase.
    one_step_ : array or frame of shape (at most memory, n_series)
        Honest predictions of the last rows: each was made by a model, initialisation included, that
        had seen earlier rows only. NaN where there is none.
    in_sample_ : array or frame of shape (at most memory, n_series)
        The same, with those of rows that the initialisation had seen.
    learner_ : OnlineNMF
        Codes windows of shape (n, window * n_series), times first.
    n_rows_, n_steps_ : int
        Rows learned from; steps made by the learner, initialisation included.
    form_ : Form
        Names of the series and times of the rows.

    Raises
    ------
    ValueError
        For settings out of range, tables that are negative, infinite or of another width, and times
        that come twice, go backwards or leave gaps; the model stays as it was.

    References
    ----------
    Strohmeier's thesis, "CP dictionaries and applications", Algorithms 1 to 3 and eqs. (2.3) to
    (2.9), section 3.4; its lambda is 2 alpha. There t^-4 counts from a fresh memory, and the
    initialisation sees the rows that are then "predicted": here such predictions are `in_sample_`.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import SeriesDictionary
    >>> t = np.arange(200)
    >>> Y = np.column_stack([2 + np.sin(t / 3), 1 + np.cos(t / 3) ** 2])
    >>> model = SeriesDictionary(8, window=10, random_state=0).fit(Y)
    >>> model.atoms_.shape, model.predict(30).shape
    ((8, 10, 2), (30, 2))
    >>> bool(np.nanmean(np.abs(model.one_step_ - Y[-100:])) < 0.1)
    True
    """

    # What learning makes.
    learner_: OnlineNMF
    form_: Form
    initial_atoms_: NDArray | None

    def __init__(
        self,
        n_components: int = 20,
        window: int = 12,
        *,
        memory: int | None = None,
        alpha: float = 0.0,
        ridge: float = 0.01,
        forecast_alpha: float = 0.0,
        schedule: Any = "power",
        n_init: int | None = None,
        n_init_batches: int = 20,
        init_batch_size: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.window = window
        self.memory = memory
        self.alpha = alpha
        self.ridge = ridge
        self.forecast_alpha = forecast_alpha
        self.schedule = schedule
        self.n_init = n_init
        self.n_init_batches = n_init_batches
        self.init_batch_size = init_batch_size
        self.random_state = random_state

    # -- learning
    #
    #
    #
    #
    #
    # -------------------------------------------------------------------------------------------------

    def fit(self, Y: Any, y: Any = None, *, init: Any = None) -> Self:
        """Learn anew: initialise, then follow the rows of the table.

        Parameters
        ----------
        Y : array, frame or xarray.DataArray of shape (n_times, n_series)
            Not negative; NaN where an entry is missing. Index and names are kept.
        y : ignored
        init : table of shape (n_other_times, n_series), optional
            What the initialisation sees instead of the first rows: another table of the same
            series. Predictions count as honest after the last row of Y that it holds: by their
            dates where both have some, else by their values.

        Returns
        -------
        self
        """
        with untouched(self):
            self.check()
            table, other = (
                nonnegative_table(Y, "Y"),
                None if init is None else nonnegative_table(init, "init"),
            )
            if other is not None:
                check_series(other, table.form, table.values.shape[1], "init")
            name, given, needed = (
                ("Y", table, self._n_init) if other is None else ("init", other, self.window)
            )
            if len(given.values) < needed:
                raise ValueError(
                    f"{name} has {len(given.values)} rows, initialising needs {needed}: give more, or choose a "
                    "smaller window or n_init."
                )
            self._begin(table)
            if other is not None:
                self._initialise(other.values)
                self._first_honest = n_shared(table, other)
            self._learn(table.values)
            self._note_times(table.form.times, self._n_rows - len(table.values))
        return self

    def partial_fit(self, Y: Any, y: Any = None) -> Self:
        """Go on with new rows; the first ones wait until there are enough for the initialisation.

        Parameters
        ----------
        Y : array, frame or xarray.DataArray of shape (n_times, n_series)
            Rows of a frame must follow the last ones in time.
        y : ignored

        Returns
        -------
        self
        """
        with untouched(self):
            self.check()
            table = nonnegative_table(Y, "Y")
            first = "form_" not in self.__dict__
            if first:
                self._begin(table)
            check_series(table, self.form_, self._rows.shape[1], "Y")
            times, before = self.form_.times, self._n_rows
            if times is not None and table.labels is not None and not first:
                times.check_following(labels_on(table, self.form_))
            self._learn(table.values)
            n_learned = self._n_rows - before
            self._note_times(times, n_learned - len(table.values) if first else n_learned)
        return self

    def _note_times(self, times: Times | None, n: int) -> None:
        """Note that the last row was taken ``n`` steps after the last of these times."""
        if times is not None and n:
            self.form_ = replace(self.form_, times=times.moved(n))

    def _begin(self, table: Table) -> None:
        """Start a run that has seen nothing."""
        form, d = table.form, table.values.shape[1]
        if table.labels is not None:
            Times.of(table.labels)  # refuses one row, of which no rule can be told
        for name in MADE:
            self.__dict__.pop(name, None)
        self.form_, self._rows, self._steps = form, np.empty((0, d)), np.empty((0, d))
        self._n_rows = self._first_honest = 0
        self._seen = np.zeros(d, dtype=bool)
        self._seed = int(generator(self.random_state).integers(2**63))

    def _initialise(self, values: NDArray) -> None:
        """Make the first dictionary from windows drawn at random (Algorithm 3)."""
        rng = np.random.default_rng(self._seed)
        seed = int(rng.integers(2**63))
        learner = OnlineNMF(self.n_components, missing=True, schedule="harmonic", random_state=seed)
        learner.set_params(alpha=self.alpha, ridge=self.ridge)
        self.initial_atoms_ = None
        if self.n_init_batches:
            rows = next(windows(values, self.window, len(values)))
            rows = rows[~np.isnan(rows).all(axis=1)]
            if not len(rows):
                raise ValueError("The rows to initialise from hold nothing but missing entries.")
            drawn = (
                rows[rng.integers(len(rows), size=self.init_batch_size)]
                for _ in range(self.n_init_batches)
            )
            learner.fit_stream(drawn)
            self.initial_atoms_ = self._shaped(learner.components_)
            self._seen = self._seen | ~np.isnan(values).all(axis=0)
        self.learner_ = learner

    def _learn(self, values: NDArray) -> None:
        """Take in rows; where no dictionary is there yet, wait until there are enough."""
        if "learner_" not in self.__dict__:
            values = np.concatenate([self._rows, values])
            self._n_rows, self._rows = len(values), values
            if len(values) < self._n_init:
                return
            self._initialise(values[: self._n_init])
            self._first_honest = self._n_init if self.n_init_batches else 0
            self._n_rows, self._rows = 0, values[:0]
        self._check_shape()
        settings = {"alpha": self.alpha, "ridge": self.ridge, "schedule": self.schedule}
        self.learner_ = copy(self.learner_).set_params(**settings)
        moments = self._moments(values)
        try:
            self.learner_.set_callbacks(*getattr(self, "_skl_callbacks", ()))
            with closing(moments):
                self.learner_.fit_stream(moments, n_batches=len(values))
        finally:
            self.learner_.set_callbacks()

    def _moments(self, values: NDArray) -> Generator[NDArray]:
        """Yield for every row all windows of the last rows (2.4), as soon as the row has been predicted.

        The row counts as seen when the learner has learned the batch, not before.
        """
        method = self._method(self.forecast_alpha)
        for row in values:
            step = self._extrapolated(1, method)
            rows = np.concatenate([self._rows, row[None]])[-(self._memory + self.window) :]
            steps = np.concatenate([self._steps, step])[-self._memory :]
            seen = {
                "_rows": rows,
                "_steps": steps,
                "_n_rows": self._n_rows + 1,
                "_seen": self._seen | ~np.isnan(row),
            }
            near = rows[-self._memory :]
            if len(near) < self.window or np.isnan(near).all():
                self.__dict__.update(seen)
                continue
            n_steps = self._n_steps
            try:
                yield next(windows(near, self.window, self._memory))
            finally:
                if self._n_steps > n_steps:
                    self.__dict__.update(seen)

    # -- predictions
    # ----------------------------------------------------------------------------------------------

    def predict(self, horizon: int = 1) -> Any:
        """Predict the next rows, each from those before it and the predictions so far (Algorithm 2, recursively).

        Parameters
        ----------
        horizon : int, default=1

        Returns
        -------
        array or frame of shape (horizon, n_series)
            NaN where the last ``window - 1`` rows hold nothing to go by.
        """
        self._check_horizon(horizon)
        return self._ahead(self._extrapolated(horizon, self._method(self.forecast_alpha)))

    def predict_interval(self, horizon: int = 1, coverage: float = 0.9) -> Interval:
        """Return bands around `predict`, as wide as the honest errors of the last one-step predictions ask for.

        One step ahead the band is conformal: it holds the next value of a series with at least this
        chance, whatever the law of the errors, as far as the next error is exchangeable with the
        last ones. For later steps nothing is promised: the band is widened by the square root of
        the step, as if errors were independent and added up.

        Parameters
        ----------
        horizon : int, default=1
        coverage : float, default=0.9
            Above 0 and below 1.

        Returns
        -------
        Interval
            ``low`` (not below 0) and ``high``, each of shape (horizon, n_series).

        Raises
        ------
        ValueError
            Where there are too few honest predictions: coverage / (1 - coverage) of each series are
            needed.
        """
        self._check_horizon(horizon)
        if isinstance(coverage, bool) or not isinstance(coverage, float) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number above 0 and below 1, got {coverage!r}.")
        steps = self._predicted(honest=True)
        errors, width = (
            steps - self._rows[len(self._rows) - len(steps) :],
            np.full(steps.shape[1], np.nan),
        )
        width[self._seen] = half_widths(errors[:, self._seen], coverage)
        middle = self._extrapolated(horizon, self._method(self.forecast_alpha))
        reach = np.sqrt(np.arange(1, horizon + 1))[:, None] * width
        return Interval(self._ahead(np.maximum(middle - reach, 0)), self._ahead(middle + reach))

    @property
    def one_step_(self) -> Any:
        """Honest predictions of the last rows, (at most memory, n_series)."""
        check_is_fitted(self)
        return self._behind(self._predicted(honest=True))

    @property
    def in_sample_(self) -> Any:
        """One-step predictions of the last rows, those that the initialisation had seen included."""
        check_is_fitted(self)
        return self._behind(self._predicted(honest=False))

    def _predicted(self, *, honest: bool) -> NDArray:
        first = self._n_rows - len(self._steps)
        seen = honest & (np.arange(first, self._n_rows) < self._first_honest)
        return np.where(seen[:, None], np.nan, self._steps)

    def _extrapolated(self, horizon: int, method: Method) -> NDArray:
        """Code the last ``window - 1`` rows and one that is missing; what the atoms put there is the next row."""
        rows, lags = self._rows, self.window - 1
        ahead = np.full((horizon, rows.shape[1]), np.nan)
        if len(rows) < lags or not self.__sklearn_is_fitted__():
            return ahead
        both = np.concatenate([rows[len(rows) - lags :], ahead])
        for step in range(horizon):
            sample = both[step : step + self.window]
            if not np.isnan(sample).all():
                both[step + lags] = self._from_atoms(sample.reshape(1, -1), method)[0, -1]
        return both[lags:]

    def _method(self, alpha: float) -> Method:
        """Return the parts that code windows; checked when the model was."""
        return OnlineNMF(self.n_components, alpha=alpha, ridge=self.ridge).method_

    def _from_atoms(self, rows: NDArray, method: Method) -> NDArray:
        """Return windows as the last dictionary rebuilds them from their observed entries; NaN in unknown series."""
        dictionary = self.learner_.state_.dictionary
        codes = encode_exactly(
            method.coder, observe(rows, missing=True), dictionary, method.objective
        )
        return np.where(self._seen, self._shaped(dictionary.decode(codes.values)), np.nan)

    # -- what was learned
    # -----------------------------------------------------------------------------------------

    @property
    def atoms_(self) -> NDArray:
        """The atoms, (n_components, window, n_series), read-only."""
        check_is_fitted(self)
        return self._shaped(self.learner_.components_)

    @property
    def importance_(self) -> NDArray:
        """Share of each atom in the sum of the codes over the run, (n_components,)."""
        check_is_fitted(self)
        return self.learner_.importance_

    @property
    def n_rows_(self) -> int:
        """Number of rows learned from."""
        check_is_fitted(self)
        return self._n_rows

    @property
    def n_steps_(self) -> int:
        """Number of steps of the learner, those of the initialisation included."""
        check_is_fitted(self)
        return self._n_steps

    @property
    def _n_steps(self) -> int:
        return self.learner_.n_steps_ if self.__sklearn_is_fitted__() else 0

    @property
    def _memory(self) -> int:
        return 10 * self.window if self.memory is None else self.memory

    @property
    def _n_init(self) -> int:
        """How many rows must be there before the first can be learned from."""
        if not self.n_init_batches:
            return self.window
        return 4 * self.window if self.n_init is None else self.n_init

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(getattr(self, "learner_", None), "state_")

    # -- forms and checks
    # -----------------------------------------------------------------------------------------

    def _shaped(self, rows: NDArray) -> NDArray:
        """Return rows as windows, (n, window, n_series)."""
        return rows.reshape(len(rows), -1, self._rows.shape[1])

    def _ahead(self, values: NDArray) -> Any:
        times = self.form_.times
        return self.form_.wrap(values, None if times is None else times.at(1, len(values)))

    def _behind(self, values: NDArray) -> Any:
        times = self.form_.times
        return self.form_.wrap(
            values, None if times is None else times.at(1 - len(values), len(values))
        )

    def check(self) -> None:
        """Refuse settings out of range."""
        check_count("window", self.window, 2)
        check_count("n_init_batches", self.n_init_batches, 0)
        for name in ("n_components", "init_batch_size"):
            check_count(name, getattr(self, name), 1)
        for name in ("memory", "n_init"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), self.window)
        for alpha in (self.forecast_alpha, self.alpha):
            learner = OnlineNMF(
                self.n_components, alpha=alpha, ridge=self.ridge, schedule=self.schedule
            )
            check_settings(learner)
        learner._schedule()

    def _check_horizon(self, horizon: Any) -> None:
        check_is_fitted(self)
        check_count("horizon", horizon, 1)
        self._check_shape()

    def _check_shape(self) -> None:
        """Refuse settings of another shape than what was learned."""
        if self.__sklearn_is_fitted__():
            check_size(self, len(self.learner_.components_))
            learned = self.learner_.n_features_in_ // self._rows.shape[1]
            if self.window != learned:
                raise ValueError(
                    f"window is {self.window}, the atoms have {learned} times; call fit to start anew."
                )
