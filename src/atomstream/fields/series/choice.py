"""Windows, atoms, ridge and head of a forecaster, chosen by rolling validation."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from atomstream.base import RandomSource, check_count, track
from atomstream.estimators._learner_inside import drawn_seed
from atomstream.exceptions import DataWarning
from atomstream.fields.series.head import Head, HeadPlan
from atomstream.fields.series.head_learning import head_of, to_units, to_values
from atomstream.fields.series.head_state import HeadState
from atomstream.fields.series.levels import Levels, rms
from atomstream.fields.series.model import SeriesDictionary

CANDIDATES = ("mix", "ridge", "smoothing", "persistence", "seasonal", "mean")  # heads
MAX_ORIGINS = 100  # origins by default
LONGEST = 10_000  # rows of a season
ALIKE = 1.05  # errors of two seasons that differ by less are alike: of these the shorter one counts


class Baselines(NamedTuple):
    """Errors of earlier rows that are taken for those that follow, for every step ahead.

    Attributes
    ----------
    persistence : ndarray of shape (horizon,)
        Of the last row.
    seasonal : ndarray of shape (horizon,)
        Of the rows ``season`` times before.
    season : int
        The shortest whose mean error is within 5 % of the smallest.
    """

    persistence: NDArray
    seasonal: NDArray
    season: int


def first_origin(
    n_rows: int, horizon: int, n_origins: int | None, *, needed: int
) -> tuple[int, int]:
    """Return the number of origins and the number of rows before the first.

    Parameters
    ----------
    n_rows : int
    horizon : int
    n_origins : int or None
        By default a third of the rows, at most 100.
    needed : int
        Rows that must come before the first origin.
    """
    check_count("horizon", horizon, 1)
    n_origins = min(MAX_ORIGINS, n_rows // 3) if n_origins is None else n_origins
    check_count("n_origins", n_origins, 1)
    first = n_rows - n_origins - horizon + 1
    if first < needed:
        raise ValueError(
            f"Y has {n_rows} rows, {n_origins} origins and a horizon of {horizon} leave {first}; "
            f"needed are at least {needed} before the first origin."
        )
    return n_origins, first


def prepared(base: SeriesDictionary, settings: dict[str, Any], first: int) -> SeriesDictionary:
    """Return a model with these settings whose initialisation sees no more rows than there are."""
    model = clone(base).set_params(**settings)
    model.check()
    return model.set_params(n_init=first) if model._n_init > first else model


def rolled(
    model: SeriesDictionary,
    values: NDArray,
    first: int,
    n_origins: int,
    horizon: int,
    known: NDArray | None = None,
) -> NDArray:
    """Return the root mean square error of each step ahead, over all origins."""

    def ahead(row: int, end: int | None = None) -> NDArray | None:
        """Return the columns known ahead."""
        return None if known is None else known[row:end]

    model, errors = clone(model).fit(values[:first], exogenous=known), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        origins = range(first, first + n_origins)
        for origin in track(origins, n_origins, "judging forecasts"):
            # Predicted before the row is learned from, as in use.
            made = model.predict(horizon, exogenous=ahead(origin, origin + horizon))
            errors.append(made - values[origin : origin + horizon])
            model.partial_fit(values[origin : origin + 1], exogenous=ahead(origin))
    return np.array([rms(step) for step in np.stack(errors, axis=1)])


def baselines(values: NDArray, first: int, n_origins: int, horizon: int) -> Baselines:
    """Return the errors of persistence and of the best season."""
    lags = range(1, min(first, LONGEST) + 1)
    naive = np.array([_naive(values, first, n_origins, horizon, lag) for lag in lags])
    means = naive[1:].mean(axis=1)
    # Of alike ones the first, which is the shortest; lags here begin at 2.
    season = int(np.argmax(means <= ALIKE * np.nanmin(means))) + 2
    return Baselines(naive[0], naive[season - 1], season)


def _naive(values: NDArray, first: int, n_origins: int, horizon: int, lag: int) -> NDArray:
    """Return these errors where a row some lag before an origin, or a season of these, is taken."""
    origins = np.arange(first, first + n_origins)
    steps = range(horizon)
    return np.array(
        [rms(values[origins - lag + step % lag] - values[origins + step]) for step in steps]
    )


@dataclass(frozen=True)
class ForecasterChoice:
    """Choice of `choose_forecaster`; errors are root mean squares over origins and series.

    Attributes
    ----------
    model : SeriesDictionary
        With the settings of the smallest error, fitted to all rows.
    settings : dict
        Its ``n_components``, ``window``, ``ridge`` and ``head``: None where the atoms are best.
    tried : list of dict
        All settings, in the order of ``errors``.
    errors : ndarray of shape (n_tried, horizon)
        For every step ahead.
    persistence : ndarray of shape (horizon,)
        Errors of the last row, taken for those that follow.
    seasonal : ndarray of shape (horizon,)
        Errors of the rows ``season`` times before.
    season : int
        The shortest whose mean error is within 5 % of the smallest.
    seed : int
        The random state of every model.
    """

    model: SeriesDictionary
    settings: dict[str, Any]
    tried: list[dict[str, Any]]
    errors: NDArray
    persistence: NDArray
    seasonal: NDArray
    season: int
    seed: int

    @property
    def table(self) -> list[dict[str, Any]]:
        """Settings with their mean error, also as a share of that of persistence; best first."""
        means, last = self.errors.mean(axis=1), self.persistence.mean()
        rows = [
            settings | {"error": float(error), "over_persistence": float(error / last)}
            for settings, error in zip(self.tried, means, strict=True)
        ]
        return sorted(rows, key=lambda row: row["error"])


def judge_of(model: SeriesDictionary) -> Callable[..., NDArray]:
    """Return what judges a model: the whole of it, or its head where that needs no codes."""
    needs_atoms = model.head is None or "codes" in head_of(model).members
    return rolled if needs_atoms else judged_head


def judged_head(
    model: SeriesDictionary, values: NDArray, first: int, n_origins: int, horizon: int
) -> NDArray:
    """Return the same as `rolled` for a head that needs no codes, without learning atoms."""
    plan = head_of(model).plan(values.shape[1], 0, model.season, 0)
    state, none, errors = plan.begin(), np.empty((max(horizon, plan.head.horizon), 0)), []
    state.levels = Levels.unknown(values.shape[1]).learned(values[: model._n_init])
    for place, row in enumerate(values[: first + n_origins - 1]):
        if place >= first:
            errors.append(_ahead_in_values(plan, state, horizon) - values[place : place + horizon])
        plan.forecast_ahead(state, none, None)
        plan.learned(state, to_units(state, row), none[:1], None)
        rows = values[max(0, place + 1 - model.window) : place + 1]
        state.levels = state.levels.following(rows, model.window)
    last = first + n_origins - 1
    errors.append(_ahead_in_values(plan, state, horizon) - values[last : last + horizon])
    return np.array([rms(step) for step in np.stack(errors, axis=1)])


def _ahead_in_values(plan: HeadPlan, state: HeadState, horizon: int) -> NDArray:
    """Return the forecast of a head in the units of the data."""
    return to_values(state, plan.ahead(state, horizon, np.empty((horizon, 0)), None))


def choose_forecaster(
    Y: object,
    *,
    windows: Sequence[int] = (12,),
    atoms: Sequence[int] = (20,),
    ridges: Sequence[float] = (0.05,),
    heads: Sequence[str | Head] = CANDIDATES,
    season: int | None = None,
    horizon: int = 1,
    n_origins: int | None = None,
    model: SeriesDictionary | None = None,
    random_state: RandomSource = None,
) -> ForecasterChoice:
    """Choose what forecasts, or windows, atoms and ridge, by rolling validation.

    Atoms of all settings stand beside the heads of `SeriesDictionary`: a mix weighed by past
    errors, regressions on lags, exponential smoothing, both persistences, and the mean of these.
    The best of all is returned, whichever it is: ``settings`` says.

    Every model learns from the first rows. From each of the last ``n_origins`` rows it forecasts
    ``horizon`` rows, and then learns from one more, as it would in use: no forecast depends on rows
    that it is judged by. The error of the chosen settings is the smallest of many, and therefore a
    little too small.

    Parameters
    ----------
    Y : array, frame or xarray.DataArray of shape (n_times, n_series)
        As in `SeriesDictionary.fit`. Errors are in the units of the data: large series outweigh
        small ones; scale them first where all shall count alike.
    windows : sequence of int, default=(12,)
        Values of ``window``; all combinations with the next two are tried. (6, 12, 24) is a wider
        search, and costs several times as much.
    atoms : sequence of int, default=(20,)
        Values of ``n_components``; as wide: (10, 20, 40).
    ridges : sequence of float, default=(0.05,)
        Values of ``ridge``; as wide: (0.01, 0.05, 0.2).
    heads : sequence, default=("mix", "ridge", "smoothing", "persistence", "seasonal", "mean")
        Values of ``head``, tried with the first of each of the above.
    season : int, optional
        Rows in a season, for the heads; without it "seasonal" is left out.
    horizon : int, default=1
        Rows to forecast; all steps count alike.
    n_origins : int, optional
        By default a third of the rows, at most 100.
    model : SeriesDictionary, optional
        Not fitted; holds all other settings. Where the initialisation asks for more rows than come
        before the first origin, it gets these.
    random_state : int, Generator, RandomState or None, default=None
        The same seed is drawn for all models.

    Returns
    -------
    ForecasterChoice
        The errors of all combinations, and the model with the smallest.

    Raises
    ------
    ValueError
        For settings out of range and for too few rows.

    References
    ----------
    Tashman (2000), "Out-of-sample tests of forecasting accuracy: an analysis and review", rolling
    origins.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import choose_forecaster
    >>> t, rng = np.arange(150)[:, None], np.random.default_rng(0)
    >>> Y = 3 + np.sin(2 * np.pi * t / 7 + np.arange(2)) + 0.1 * rng.standard_normal((150, 2))
    >>> Y *= np.exp(t / 100)
    >>> choice = choose_forecaster(Y, windows=[8], atoms=[6], season=7, random_state=0)
    >>> choice.settings["head"], len(choice.table)
    ('mix', 7)
    >>> choice.model.predict(2).shape
    (2, 2)
    """
    base = SeriesDictionary() if model is None else model
    values = base._table(Y, "Y").values
    grid: dict[str, Any] = {"n_components": atoms, "window": windows, "ridge": ridges}
    for name, numbers in zip(("atoms", "windows", "ridges"), grid.values(), strict=True):
        if not len(numbers):
            raise ValueError(f"{name} must hold at least one number.")
    base = clone(base).set_params(season=base.season if season is None else season)
    tried: list[dict[str, Any]] = [
        dict(zip(grid, numbers, strict=True)) | {"head": None}
        for numbers in product(*grid.values())
    ]
    names = [head for head in heads if base.season or head != "seasonal"]
    tried += [tried[0] | {"head": head} for head in names]
    n_origins, first = first_origin(len(values), horizon, n_origins, needed=max(windows))
    seed = drawn_seed(base.random_state if random_state is None else random_state)
    models = [prepared(base, settings | {"random_state": seed}, first) for settings in tried]
    errors = np.array([judge_of(each)(each, values, first, n_origins, horizon) for each in models])
    naive = baselines(values, first, n_origins, horizon)
    best = int(errors.mean(axis=1).argmin())
    return ForecasterChoice(clone(models[best]).fit(Y), tried[best], tried, errors, *naive, seed)
