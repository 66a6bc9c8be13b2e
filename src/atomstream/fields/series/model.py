"""Dictionaries of what several series do together over a window of time, following the series."""

from collections.abc import Generator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Samples, check_count, counted
from atomstream.base.saved_fields import array, count, field_names, part, texts
from atomstream.estimators._calls import Transaction, blame
from atomstream.estimators._estimator import view
from atomstream.estimators._learner_inside import drawn_seed
from atomstream.estimators.nmf import OnlineNMF
from atomstream.fields.series import head_learning
from atomstream.fields.series.forecasting import SeriesForecast
from atomstream.fields.series.frames import Form, Table, in_series, labels_on, n_shared
from atomstream.fields.series.head_state import HeadState
from atomstream.fields.series.levels import LastKnown, Levels, compared, no_errors
from atomstream.fields.series.parameters import SERIES
from atomstream.io.time_index import Times
from atomstream.streams.cuts import windows


class SeriesDictionary(SeriesForecast):
    r"""A dictionary of what several series do together in ``window`` consecutive times.

    Random windows of the first rows, or of another table, make a first dictionary (Algorithm 3).
    Then the rows come in the order of time: each is predicted from the rows before it by ``head``
    (None: by atoms, Algorithm 2), then all windows of the last ``memory`` rows are one batch of an
    `OnlineNMF` (Algorithm 1), with a head once in ``window`` rows.
    The online phase goes on with the sums A and B and the clock of the initialisation, so that its
    first weight does not erase them.

    Atoms are not negative, and a large offset leaves little of them for the changes. With
    ``center=True`` each series is therefore learned in units of its own: its scale is the standard
    deviation and its offset lies one scale below the minimum of the rows that the initialisation
    sees (without one, of the first window; where a series is missing there, of its own first
    window). Both are kept from then on. Forecasts, bands, reconstructions and errors are in the
    units of the data. Values below the offset are 0 to the atoms.

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
    ridge : float, default=0.05
        Strength of the squared l2 penalty (halved) on all codes; atoms have length one at most. It
        keeps forecasts close to the last row, and decides between codes where few entries were
        observed. To impute, less is better: 0.01.
    forecast_alpha : float, default=0.0
        Strength of the l1 penalty on the codes of predictions by atoms (``head=None``).
    correction : float, default=1.0
        Share, from 0 to 1, of what the atoms leave of the last row that is added to their
        prediction of the next (an intercept correction): with 1 atoms predict the change, with 0
        the row.
    center : bool, default=True
        Whether each series is learned relative to an offset and in a scale of its own. Without it
        the data must not be negative, and forecasts by atoms are not.
    head : str, Head or None, default="mix"
        What forecasts. "mix" weighs simple forecasters by their past errors in each series at each
        step ahead: regressions on lags ("ridge"), exponential "smoothing", and both persistences
        ("persistence", "seasonal"). Each can be asked for alone; "mean" is their plain mean, and
        "codes" the dynamics of the codes of windows. With None the atoms forecast, and learn from
        every row; under a head they learn once in ``window`` rows.
    season : int, optional
        Rows in a season, which the head then uses.
    schedule : str or callable, default=Constant(weight=1.0)
        Of the online phase, as in `OnlineNMF`. The default follows the last ``memory`` rows and
        forgets those before, so that no convergence theorem covers it. "power" keeps all of the
        past, as a summary or gaps in it need.
    n_init : int, optional
        How many of the first rows the initialisation sees; by default four windows. Without
        initialisation learning begins with the first window.
    n_init_batches : int, default=20
        Batches of the initialisation, under the harmonic schedule; 0 for none.
    init_batch_size : int, default=100
        Windows in such a batch, drawn at random.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes while learning and reconstructing.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, window, n_series)
        The atoms, in the units of ``levels_``: times ``levels_.scale`` they are in units of the
        data. A window is ``levels_.offset`` plus its codes times these.
    levels_ : Levels
        ``offset`` and ``scale`` of each series, (n_series,); NaN before its first window, 0 and 1
        without centring.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the codes times its length; those of long ago have faded, as in the
        memory.
    initial_atoms_ : ndarray of shape (n_components, window, n_series), or None
        The atoms before the online phase.
    one_step_ : array or frame of shape (at most memory, n_series)
        Honest predictions of the last rows: each was made by a model, initialisation included, that
        had seen earlier rows only. NaN where there is none.
    in_sample_ : array or frame of shape (at most memory, n_series)
        The same, with those of rows that the initialisation had seen.
    learner_ : OnlineNMF
        Codes windows of shape (n, window * n_series), times first, in the units of ``levels_``.
    n_rows_, n_steps_, n_features_in_ : int
        Rows learned from; steps made by the learner, initialisation included; number of series.
    form_ : Form
        Names of the series and times of the rows.

    Raises
    ------
    ValueError
        For settings out of range, tables that are infinite, of another width or (not centred)
        negative, and times that repeat, go backwards or leave gaps; the model stays as it was.

    References
    ----------
    Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal
    data", Algorithms 1 to 3, eqs. (2.3) to (2.9), section 3.4; its lambda is 2 alpha. There
    t^-4 counts from a fresh memory, nothing is corrected, and the initialisation sees the rows that
    are then "predicted": here such predictions are `in_sample_`. Clements, Hendry (1998),
    "Forecasting economic time series", chapter 8, for intercept corrections.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import SeriesDictionary
    >>> t = np.arange(200)
    >>> Y = np.column_stack([2 + np.sin(t / 3), 1 + np.cos(t / 3) ** 2])
    >>> model = SeriesDictionary(16, window=10, random_state=0).fit(Y)
    >>> model.components_.shape, model.predict(30).shape
    ((16, 10, 2), (30, 2))
    >>> bool(np.nanmean(np.abs(model.one_step_ - Y[-100:])) < 0.1)
    True
    """

    ACCEPTS = ("allow_nan", "two_d_array")
    PARAMETERS: ClassVar = SERIES
    OVERLAPS: ClassVar = (
        "the windows of one series overlap",
        "give the windows (atomstream.streams.windows) to an OnlineNMF, with block_size= ten times "
        "their length",
    )
    LEARNED = (
        *(part("learner_", OnlineNMF, optional=True), part("form_", Form)),
        array("initial_atoms_", "r w d", optional=True),
        *(array("_rows", "n d", np.float64), array("_steps", "k d", np.float64)),
        *(count("_n_rows"), count("_first_honest"), count("_seed"), array("_seen", "d", bool)),
        array("_lag_errors", "4 m", np.float64, at_least=0, finite=True),
        *(part("levels_", Levels), part("_known", LastKnown)),
        part("_head", HeadState, optional=True),
        array("_ahead_rows", "ahead columns", np.float64, optional=True),
        texts("_ahead_names", optional=True),
    )

    atoms_ = view("components_", "The same as `components_`.")
    n_rows_ = view("_n_rows", "Number of rows learned from.")
    n_features_in_ = view("levels_.offset.size", "Number of series.")

    # -- learning

    def fit(
        self,
        Y: object,
        y: object = None,
        *,
        init: Samples | None = None,
        exogenous: Samples | None = None,
    ) -> Self:
        """Learn from scratch: initialise, then follow the rows of the table.

        Parameters
        ----------
        Y : array, frame or xarray.DataArray of shape (n_times, n_series)
            NaN where an entry is missing. Index and names are kept.
        y : ignored
        init : table of shape (n_other_times, n_series), optional
            What the initialisation sees instead of the first rows: another table of the same
            series. Predictions count as honest after the last row of Y that it holds: by their
            dates where both have some, else by their values.
        exogenous : table of shape (at least n_times, n_known), optional
            Columns known ahead, for the head, without NaN: the rows of Y and as many more as are
            known. Later steps are judged, and so weighed, only where these are there.
        """
        with Transaction(self, anew=True):
            self.check()
            table = self._table(Y, "Y")
            other = None if init is None else self._table(init, "init")
            if other is not None:
                other = in_series(other, table.form, table.values.shape[1], "init")
            name, given, needed = "Y", table, self._n_init
            if other is not None:
                name, given, needed = "init", other, self.window
            if len(given.values) < needed:
                raise ValueError(
                    f"{name} has {counted(len(given.values), 'row')}, initialising needs "
                    f"{needed}: give more, or choose a smaller window or n_init."
                )
            self._begin(table)
            ahead = self._known_ahead(exogenous, len(table.values))
            if other is not None:
                self._initialise(other.values)
                self._first_honest = n_shared(table, other)
            self._learn(table.values, ahead)
            self._note_times(table.form.times, self._n_rows - len(table.values))
        return self

    def partial_fit(self, Y: object, y: object = None, *, exogenous: Samples | None = None) -> Self:
        """Go on with new rows; the first ones wait until there are enough for the initialisation.

        Parameters
        ----------
        Y : array, frame or xarray.DataArray of shape (n_times, n_series)
            Rows of a frame must follow the last ones in time.
        y : ignored
        exogenous : table of shape (at least n_times, n_known), optional
            As in `fit`; its first row is that of the first row of Y.
        """
        with Transaction(self):
            self.check()
            table = self._table(Y, "Y")
            first = "form_" not in self.__dict__
            if first:
                self._begin(table)
            table = in_series(table, self.form_, self._rows.shape[1], "Y")
            ahead = self._known_ahead(exogenous, len(table.values), first=first)
            times, before = self.form_.times, self._n_rows
            if times is not None and table.labels is not None and not first:
                times.check_following(labels_on(table, self.form_))
            self._learn(table.values, ahead)
            n_learned = self._n_rows - before
            self._note_times(times, n_learned - len(table.values) if first else n_learned)
        return self

    def _begin(self, table: Table) -> None:
        """Start a run that has seen nothing."""
        form, d = table.form, table.values.shape[1]
        if table.labels is not None:
            Times.of(table.labels)  # refuses one row, which shows no rule
        for name in field_names(self.LEARNED):
            self.__dict__.pop(name, None)
        self.form_, self._rows, self._steps = form, np.empty((0, d)), np.empty((0, d))
        self._n_rows = self._first_honest = 0
        self._lag_errors = no_errors(self._memory // 2)
        self._seen = np.zeros(d, dtype=bool)
        self.levels_ = Levels.unknown(d) if self.center else Levels.identity(d)
        self._known = LastKnown.nothing(d, self._memory)
        self._head, self._ahead_rows, self._ahead_names = None, None, None
        self._seed = drawn_seed(self.random_state)

    def _initialise(self, values: NDArray) -> None:
        """Make the first dictionary from windows drawn at random (Algorithm 3)."""
        self.levels_ = self.levels_.learned(values)
        rng = np.random.default_rng(self._seed)
        seed = int(rng.integers(2**63))
        learner = OnlineNMF(self.n_components, missing=True, schedule="harmonic", random_state=seed)
        learner.set_params(alpha=self.alpha, ridge=self.ridge)
        self.initial_atoms_ = None
        if self.n_init_batches:
            rows = next(windows(self.levels_.apply(values), self.window, len(values)))
            rows = rows[~np.isnan(rows).all(axis=1)]
            if not len(rows):
                raise ValueError("The rows to initialise from hold nothing but missing entries.")
            drawn = (
                rows[rng.integers(len(rows), size=self.init_batch_size)]
                for _ in range(self.n_init_batches)
            )
            with blame(self):
                learner.fit_stream(drawn)
            self.initial_atoms_ = self._shaped(learner.components_)
            self._seen = self._seen | ~np.isnan(values).all(axis=0)
        self.learner_ = learner

    def _learn(self, values: NDArray, ahead: NDArray) -> None:
        """Take in rows; where no dictionary is there yet, wait until there are enough."""
        if "learner_" not in self.__dict__:
            values = np.concatenate([self._rows, values])
            ahead = self._waited(ahead, len(values))
            self._n_rows, self._rows = len(values), values
            if len(values) < self._n_init:
                return
            self._initialise(values[: self._n_init])
            self._first_honest = self._n_init if self.n_init_batches else 0
            self._n_rows, self._rows = 0, values[:0]
            self._waited(ahead[:0], 0)
        if self.head is not None:
            self._head = head_learning.to_learn(self, values[: self._n_init])
        self._check_shape()
        penalties = {"alpha": self.alpha, "ridge": self.ridge}
        self._teach(self._moments(values, ahead), len(values), schedule=self.schedule, **penalties)

    def _moments(self, values: NDArray, ahead: NDArray) -> Generator[NDArray]:
        """Yield for every row, once it has been predicted, all windows of the last rows (2.4).

        The row counts as seen when the learner has learned the batch, not before. With a head it
        learns once in a window.
        """
        algorithm = self._algorithm(self.forecast_alpha)
        for place, row in enumerate(values):
            step = self._next_row(algorithm, ahead[place:])
            rows = np.concatenate([self._rows, row[None]])[-(self._memory + self.window) :]
            steps = np.concatenate([self._steps, step])[-self._memory :]
            levels = self.levels_.following(rows, self.window)
            near = levels.apply(rows[-self._memory :])
            errors = np.full_like(row, np.nan)
            seen = {"_rows": rows, "_steps": steps, "_n_rows": self._n_rows + 1, "levels_": levels}
            seen["_seen"] = self._seen | ~np.isnan(near).all(axis=0)
            if self._n_rows >= self._first_honest:
                errors = step[0] - row
                seen["_lag_errors"] = compared(self._lag_errors, row, step[0], self._rows)
            seen["_known"] = self._known.after(row, errors)
            n_steps = self._n_steps
            rests = self.head is not None and (self._n_rows + 1) % self.window
            if len(near) < self.window or np.isnan(near).all() or rests:
                self._count(seen, ahead[place:])
                continue
            try:
                yield next(windows(near, self.window, self._memory))
            finally:
                if self._n_steps > n_steps:
                    self._count(seen, ahead[place:])

    # -- what was learned

    @property
    def _atom_shape(self) -> tuple[int, ...]:
        d = self._rows.shape[1]
        return self.learner_.n_features_in_ // d, d

    @property
    def _n_init(self) -> int:
        """How many rows must be there before the first can be learned from."""
        if not self.n_init_batches:
            return self.window
        return 4 * self.window if self.n_init is None else self.n_init

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        if self.head is not None:
            head_learning.check_head(self)
        for name in ("memory", "n_init"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), self.window)

    def _sizes(self) -> dict[str, int]:
        return {"r": self.n_components, "w": self.window, "d": self._rows.shape[1]}

    def _set_learned(self, learned: dict[str, Any]) -> None:
        if "_head" not in learned:  # files from before heads: their atoms forecast
            self.head = None
        super()._set_learned(learned)

    def _validate_learned(self) -> None:
        super()._validate_learned()
        rows, d = self._rows, self._rows.shape[1]
        self.form_.validate(d)
        good = self.levels_.offset.shape == self._known.values.shape == (d,)
        good &= len(self._steps) <= len(rows) <= self._n_rows
        good &= self.center or not (rows < 0).any()
        if "learner_" in vars(self) and self.__sklearn_is_fitted__():
            good &= self.components_.shape == (self.n_components, self.window, d)
        good &= (self.head is None) == (self._head is None) or "learner_" not in vars(self)
        good &= self._head is None or head_learning.fits(self)
        if not good:
            raise ValueError("rows, predictions or atoms that do not fit together")
