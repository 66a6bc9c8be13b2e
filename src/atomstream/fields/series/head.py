"""Several simple forecasters of a table, weighted by their past errors at each step ahead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base.parameters import Part, number, whole
from atomstream.fields.series.head_state import HeadState
from atomstream.fields.series.lag_regression import LagRegression, Regressors
from atomstream.fields.series.levels import Levels, half_widths
from atomstream.fields.series.smoothing import ExponentialSmoothing

MEMBERS = ("persistence", "seasonal", "smoothing", "ridge", "codes")
MAX_REGRESSORS = 200  # of a regression on the lags of all series together
SHORT_LAGS = 2  # lags of the second of these
MAX_WAVES = 4  # sines of a season
KEEP = 0.995  # of the regression that forgets old rows
REACH = 300  # rows after which an error weighs 1/e of the latest, in the weights of members
SURE_ERRORS = 8  # errors that the weights of a step need; with fewer the step before counts too
STEPS_AROUND = 2  # steps on both sides whose errors count for a step
N_ERRORS = 200  # last errors of each step, for bands
# A value further from its forecast than eight times what held 90 % of the last errors is brought
# nearer; never one that moved by less than the scale of the first rows.
USUAL_SHARE, TIMES_USUAL, MIN_LIMIT = 0.9, 8.0, 1.0
LIMIT_EVERY = 16  # rows after which the limit is renewed
TINY = 1e-300


@dataclass(frozen=True)
class Head(Part):
    """What forecasts beside the atoms: its members, and how their forecasts are joined.

    Every member forecasts ``horizon`` rows from every row, and the rows that come judge it. Its
    weight in a series and at a step ahead is its mean squared error there, over that of
    persistence, to the power of minus ``sharpness``, scaled to a sum of one: only past rows
    choose.

    Parameters
    ----------
    members : tuple of str, default=("persistence", "seasonal", "smoothing", "ridge")
        The last row, the row one season ago, exponential smoothing with a damped trend and a
        season, and regressions on lags. "codes", the dynamics of the codes of windows, is none of
        them by default: on short series it runs away.
    lags : int, default=12
        Rows that regressions reach back, besides the season.
    horizon : int, default=24
        Steps ahead that are judged; later ones take the weights of the last.
    sharpness : float, default=4.0
        0 takes the mean of all members; large values nearly choose one.
    joint : bool, default=True
        Whether series may be forecast from each other's lags and codes, where these are few.
        Without it every series is forecast as if it were alone.
    max_wild : int, default=2
        Values in a row that are brought nearer where they are further off than usual, many times:
        one wild value would else spoil forecasts for long. From the next one on they are believed,
        for the series has moved. 0 believes all, for series that jump between levels.
    """

    members: tuple[str, ...] = ("persistence", "seasonal", "smoothing", "ridge")
    lags: int = 12
    horizon: int = 24
    sharpness: float = 4.0
    joint: bool = True
    max_wild: int = 2
    BOUNDS: ClassVar = {
        "lags": whole(),
        "horizon": whole(),
        "max_wild": whole(0),
        "sharpness": number(),
    }

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        super().__post_init__()
        unknown = [name for name in self.members if name not in MEMBERS]
        if unknown or not self.members or len(set(self.members)) < len(self.members):
            raise ValueError(
                f"members of a head must be some of {', '.join(MEMBERS)}, got {self.members!r}."
            )

    def plan(self, n_series: int, n_codes: int, season: int | None, n_known: int) -> HeadPlan:
        """Return the parts for a table of this size."""
        return _plan(self, n_series, n_codes, season or 1, n_known)


@dataclass(frozen=True)
class HeadPlan:
    """The parts of a head for a table of a given size.

    Parameters
    ----------
    head : Head
    n_series, season : int
    regressions : tuple of (LagRegression, bool)
        Each with whether all series are in one group.
    smoothing : ExponentialSmoothing or None
    codes : LagRegression or None
    n_codes : int
    """

    head: Head
    n_series: int
    season: int
    regressions: tuple[tuple[LagRegression, bool], ...]
    smoothing: ExponentialSmoothing | None
    codes: LagRegression | None
    n_codes: int

    @property
    def n_members(self) -> int:
        """How many forecasts are joined."""
        kinds = sum(len(regression.kinds) for regression, _ in self.regressions)
        naive = ("persistence" in self.head.members) + self._seasonal
        return kinds + naive + (self.smoothing is not None) + (self.codes is not None)

    @property
    def _seasonal(self) -> bool:
        return "seasonal" in self.head.members and self.season > 1

    @property
    def reach(self) -> int:
        """How many rows must be kept."""
        return max(self.head.lags, 2 * self.season, self.season + 1) + 1

    def begin(self) -> HeadState:
        """Return what is known before the first row."""
        d, horizon, n_members = self.n_series, self.head.horizon, self.n_members
        learned: list[Any] = [
            it.begin(1, d) if joint else it.begin(d, 1) for it, joint in self.regressions
        ]
        return HeadState(
            regressions=learned,
            smoothed=[self.smoothing.begin(d)] if self.smoothing else [],
            dynamics=[self.codes.begin(1, self.n_codes)] if self.codes else [],
            rows=np.zeros((0, d)),
            codes=np.full((2, self.n_codes), np.nan),
            paths=np.full((horizon, n_members + 2, horizon, d), np.nan),
            errors=np.full((N_ERRORS, horizon, d), np.nan),
            sums=np.zeros((3, n_members, horizon, d)),
            limit=np.full(d, np.nan),
            n_far=np.zeros(d),
            n_rows=0,
            levels=Levels.unknown(d),
        )

    def fits(self, state: HeadState) -> bool:
        """Return whether a state is of these parts and this table."""
        own = self.begin()
        shapes = [
            [learned.coefficients.shape for learned in (*it.regressions, *it.dynamics)]
            + [smoothed.season.shape for smoothed in it.smoothed]
            + [it.codes.shape, it.paths.shape, it.errors.shape, it.sums.shape]
            for it in (own, state)
        ]
        return shapes[0] == shapes[1] and state.levels.offset.shape == (self.n_series,)

    def members(self, state: HeadState, horizon: int, known: NDArray, decode: Any) -> NDArray:
        """Return the forecasts of all members, (n_members, horizon, n_series).

        Parameters
        ----------
        state : HeadState
        horizon : int
        known : ndarray of shape (horizon, n_known)
        decode : callable
            From codes of windows, (n, n_codes), to their last rows, (n, n_series).
        """
        rows, place, d = state.rows, state.n_rows, self.n_series
        made = [np.repeat(rows[-1:], horizon, axis=0)] * ("persistence" in self.head.members)
        if self._seasonal:
            m, none = self.season, np.full((horizon, d), np.nan)
            steps = -m + np.arange(horizon) % m
            made.append(rows[steps] if len(rows) >= m else none)
        if self.smoothing is not None:
            made.append(self.smoothing.ahead(state.smoothed[0], place, horizon))
        paths = [np.stack(made)] if made else []
        for (regression, joint), learned in zip(self.regressions, state.regressions, strict=True):
            n_kinds = len(regression.kinds)
            if len(rows) < regression.reach:
                paths.append(np.full((n_kinds, horizon, d), np.nan))
                continue
            grouped = rows[:, None] if joint else rows[:, :, None]
            ahead = regression.ahead(learned, grouped, place, horizon, known)
            paths.append(ahead.reshape(n_kinds, horizon, d))
        if self.codes is not None:
            paths.append(self._by_codes(state, horizon, decode)[None])
        return np.concatenate(paths)

    def _by_codes(self, state: HeadState, horizon: int, decode: Any) -> NDArray:
        """Return the last rows of the windows whose codes follow; they start at the last row."""
        if np.isnan(state.codes).any() or self.codes is None:
            return np.full((horizon, self.n_series), np.nan)
        none = np.zeros((horizon, 0))
        ahead = self.codes.ahead(
            state.dynamics[0], state.codes[:, None], state.n_rows, horizon, none
        )[0, :, 0]
        decoded = decode(np.concatenate([state.codes[-1:], ahead]))
        return decoded[1:] + state.rows[-1] - decoded[0]

    def weights(self, state: HeadState, known: NDArray) -> NDArray:
        """Return the weights of the members that have a forecast, (n_members, horizon, n_series).

        Parameters
        ----------
        state : HeadState
        known : ndarray of bool of shape (n_members, n_series)
            Which have one.
        """
        own, last, n = state.sums
        ratio = np.log((own + TINY) / (last + TINY))
        horizon = self.head.horizon
        # The mean of the steps around one, by the number of their errors.
        both = np.cumsum(np.pad(np.stack([ratio * n, n]), ((0, 0), (0, 0), (1, 0), (0, 0))), axis=2)
        steps = np.arange(horizon)
        first = np.maximum(steps - STEPS_AROUND, 0)
        end = np.minimum(steps + STEPS_AROUND + 1, horizon)
        around, mass = both[:, :, end] - both[:, :, first]
        mean = around / np.maximum(mass, TINY)
        sure = np.minimum(n / SURE_ERRORS, 1.0)
        for step in range(horizon):
            before = mean[:, step - 1] if step else 0.0
            mean[:, step] = sure[:, step] * mean[:, step] + (1 - sure[:, step]) * before
        power = np.where(known[:, None], -self.head.sharpness * mean, -np.inf)
        weights = np.exp(power - power.max(axis=0))
        if not self.head.sharpness:
            return weights / weights.sum(axis=0)
        # A member that was judged less often at a step is trusted less there; never judged, not at
        # all, for its forecasts may run away.
        judged = np.where(known[:, None], n, 0.0)
        most = judged.max(axis=0)
        trusted = weights * np.where(most > 0, judged / np.maximum(most, TINY), 1.0)
        weights = np.where(trusted.sum(axis=0) > 0, trusted, weights)
        return weights / weights.sum(axis=0)

    def joined(self, state: HeadState, paths: NDArray) -> NDArray:
        """Return the weighted mean of the forecasts of members, (horizon, n_series).

        Parameters
        ----------
        state : HeadState
        paths : ndarray of shape (n_members, horizon, n_series)
            NaN of a member that has none.
        """
        known = ~np.isnan(paths[:, 0])
        lacking = ~known.any(axis=0)
        known |= lacking
        weights = self.weights(state, known)
        steps = np.minimum(np.arange(paths.shape[1]), self.head.horizon - 1)
        mean = (weights[:, steps] * np.nan_to_num(paths)).sum(axis=0)
        return np.where(lacking | np.isnan(paths[:, :]).all(axis=0), state.rows[-1], mean)

    def forecast_ahead(self, state: HeadState, known: NDArray, decode: Any) -> NDArray:
        """Return the forecast of the next rows, and keep all members' to be judged by these.

        Parameters
        ----------
        state : HeadState
        known : ndarray of shape (horizon, n_known)
            NaN from where they are not known on.
        decode : callable

        Returns
        -------
        ndarray of shape (horizon, n_series)
        """
        horizon = self.head.horizon
        if not len(state.rows):
            return np.full((horizon, self.n_series), np.nan)
        paths = self.members(state, horizon, known, decode)
        mean = self.joined(state, paths)
        last = np.repeat(state.rows[-1:], horizon, axis=0)
        state.paths[state.n_rows % horizon] = np.concatenate([paths, mean[None], last[None]])
        return mean

    def learned(
        self, state: HeadState, row: NDArray, known: NDArray, codes: NDArray | None
    ) -> None:
        """Judge past forecasts by one more row, and learn from it; in place.

        Parameters
        ----------
        state : HeadState
        row : ndarray of shape (n_series,)
            NaN where missing: the forecast stands for it later.
        known : ndarray of shape (1, n_known)
        codes : ndarray of shape (n_codes,), or None
            Of the window that ends with the row.
        """
        horizon, place = self.head.horizon, state.n_rows
        steps = np.arange(horizon)
        made = state.paths[(place - steps) % horizon, :, steps]  # steps first
        state.errors[place % N_ERRORS] = made[:, -2] - row
        row = self._limited(state, row)
        errors = np.moveaxis(made - row, 0, 1)
        own, last = errors[:-2] ** 2, errors[-1] ** 2
        judged = ~np.isnan(own + last)
        state.sums *= 1 - 1 / REACH
        state.sums += np.where(judged, np.stack([own, last + 0 * own, 1.0 + 0 * own]), 0.0)
        before = state.rows
        if len(before):
            for (regression, joint), learned in zip(
                self.regressions, state.regressions, strict=True
            ):
                if len(before) >= regression.reach:
                    rows = before[:, None] if joint else before[:, :, None]
                    now = row[None] if joint else row[:, None]
                    regression.learned(learned, rows, now, place, known)
        if self.smoothing is not None:
            self.smoothing.learned(state.smoothed[0], before, row, place)
        if self.codes is not None and codes is not None:
            if not np.isnan(state.codes).any():
                self.codes.learned(
                    state.dynamics[0], state.codes[:, None], codes[None], place, np.zeros((1, 0))
                )
            state.codes = np.concatenate([state.codes[1:], codes[None]])
        filled = state.paths[place % horizon, -2, 0] if len(before) else np.zeros(self.n_series)
        filled = np.where(np.isnan(row), np.nan_to_num(filled), row)
        state.rows = np.concatenate([before, filled[None]])[-self.reach :]
        state.n_rows += 1

    def _limited(self, state: HeadState, row: NDArray) -> NDArray:
        """Return a row in which values that are very far from their forecasts are brought nearer.

        One wild value would else decide the weights of members, and what regressions and lags make
        of the rows to come, for long. After ``max_wild`` in a row they are believed: the series
        has moved.
        """
        if not state.n_rows % LIMIT_EVERY:
            width = half_widths(state.errors[:, 0], USUAL_SHARE)
            state.limit = np.maximum(TIMES_USUAL * width, MIN_LIMIT)
        expected = state.paths[state.n_rows % self.head.horizon, -2, 0]
        off = row - expected
        far = np.abs(off) > state.limit  # never without a forecast, or while the limit is unknown
        state.n_far = np.where(far, state.n_far + 1, 0.0)
        wild = far & (state.n_far <= self.head.max_wild)
        return np.where(wild, expected + np.sign(off) * state.limit, row)

    def ahead(self, state: HeadState, horizon: int, known: NDArray, decode: Any) -> NDArray:
        """Return the forecast of the next rows, (horizon, n_series); NaN before the first row."""
        if not len(state.rows):
            return np.full((horizon, self.n_series), np.nan)
        return self.joined(state, self.members(state, horizon, known, decode))


@lru_cache(maxsize=32)
def _plan(head: Head, n_series: int, n_codes: int, season: int, n_known: int) -> HeadPlan:
    """Return the parts of a head; made once for all rows."""
    waves, changes, more = min(season // 2, MAX_WAVES), head.lags - 1, {"n_known": n_known}
    own = [
        Regressors(changes=changes),
        Regressors(changes=changes, keep=KEEP),
        Regressors(level=False, changes=changes),
        Regressors(changes=changes, reverts=True),
    ]
    if season > 1:
        own += [
            Regressors(changes=changes, season=True),
            Regressors(changes=min(2, changes), season=True, waves=True),
            Regressors(level=False, changes=min(2, changes), season=True, waves=True),
        ]
        more |= {"season": season, "n_waves": waves}
    regressions = [(LagRegression(tuple(own), head.lags, **more), False)]
    firm = Regressors(changes=changes, penalty=10.0)
    # Without much noise one series may give another away: then little penalty is right.
    long = (firm, replace(firm, reverts=True), replace(firm, penalty=0.1))
    short = (Regressors(changes=SHORT_LAGS - 1),)
    for lags, kinds in ((head.lags, long), (SHORT_LAGS, short)):
        if n_series > 1 and head.joint and lags * n_series + 1 + n_known <= MAX_REGRESSORS:
            regressions.append((LagRegression(kinds, lags, n_known=n_known), True))
    codes = None
    if "codes" in head.members and head.joint and n_codes:
        codes = LagRegression((Regressors(changes=1, keep=KEEP),), 2)
    return HeadPlan(
        head,
        n_series,
        season,
        tuple(regressions) if "ridge" in head.members else (),
        ExponentialSmoothing(season) if "smoothing" in head.members else None,
        codes,
        n_codes if codes else 0,
    )


HEADS: dict[str, Callable[[], Head]] = {
    "mix": Head,
    "mean": partial(Head, sharpness=0.0),
    **{name: partial(Head, (name,)) for name in MEMBERS},
}
