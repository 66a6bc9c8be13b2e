"""The head of a dictionary of series: what forecasts beside the atoms, in the units of the data."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.estimators._validation import observe
from atomstream.estimators.encoding import encode_exactly
from atomstream.estimators.registry import resolve
from atomstream.fields.series.head import HEADS, Head, HeadPlan
from atomstream.fields.series.head_state import HeadState
from atomstream.fields.series.levels import Levels, half_widths

# The offset of `Levels` lies about three scales below the mean; coefficients of 0 shall stand for a
# series near its mean.
CENTRE = 3.0


def head_of(model: Any) -> Head:
    """Return the head that the settings name."""
    return resolve("head", model.head, HEADS, "plan")


def check_head(model: Any) -> None:
    """Refuse heads without a member."""
    head = head_of(model)
    if set(head.members) <= {"seasonal"} and model.season is None:
        raise ValueError(f"head={model.head!r} needs season, the number of rows in a season.")
    if set(head.members) <= {"codes"} and not head.joint:
        raise ValueError("A head of codes alone must be joint: the codes are those of all series.")


def plan_of(model: Any) -> HeadPlan:
    """Return the parts of the head for the table of the model."""
    d = model._rows.shape[1]
    return head_of(model).plan(d, model.n_components, model.season, model._n_ahead)


def to_learn(model: Any, values: NDArray) -> HeadState:
    """Return a head to go on with; before the first row it knows the levels of these rows.

    It is a copy, because learning writes into it and the call may fail.
    """
    if model._n_rows:
        return deepcopy(model._head)
    state = plan_of(model).begin()
    state.levels = Levels.unknown(values.shape[1]).learned(values)
    return state


def fits(model: Any) -> bool:
    """Return whether what the head has learned is of the settings of the model."""
    return plan_of(model).fits(model._head)


def to_units(state: HeadState, values: NDArray) -> NDArray:
    """Return values in the units of the head."""
    return (values - state.levels.offset) / state.levels.scale - CENTRE


def to_values(state: HeadState, units: NDArray) -> NDArray:
    """Return values from units of the head; NaN in unknown series."""
    return state.levels.undo(units + CENTRE)


def foretold(model: Any, known: NDArray) -> NDArray:
    """Return the forecast of the next rows, and let the head keep it to be judged."""
    state, plan = model._head, plan_of(model)
    ahead = _padded(known, plan.head.horizon)
    return to_values(state, plan.forecast_ahead(state, ahead, _decoder(model)))


def learned(model: Any, row: NDArray, known: NDArray) -> None:
    """Let the head learn from the row that the model has just counted."""
    state, plan = model._head, plan_of(model)
    state.levels = state.levels.following(model._rows, model.window)
    codes = None
    if plan.codes is not None and model._n_rows >= model._first_honest:
        codes = _last_codes(model)
    plan.learned(state, to_units(state, row), known[:1], codes)


def forecast(model: Any, horizon: int, known: NDArray) -> NDArray:
    """Return the forecast of the next rows, (horizon, n_series)."""
    state = model._head
    return to_values(state, plan_of(model).ahead(state, horizon, known, _decoder(model)))


def half_bands(model: Any, horizon: int, coverage: float) -> NDArray:
    """Return half the width of the band of each step, from the errors of that step.

    Where there are too few, and beyond the steps that the head judges, the width of the last step
    that has one grows with the square root of the step.
    """
    state = model._head
    errors = state.errors * state.levels.scale
    n_errors, judged, d = errors.shape
    widths = half_widths(errors.reshape(n_errors, -1), coverage).reshape(judged, d)
    widths = np.concatenate([widths, np.full((max(horizon - judged, 0), d), np.nan)])[:horizon]
    steps = np.arange(1, horizon + 1)[:, None]
    last = np.maximum.accumulate(np.where(np.isnan(widths), 0, steps), axis=0)
    held = np.take_along_axis(widths, np.maximum(last, 1) - 1, axis=0)
    return held * np.sqrt(steps / np.maximum(last, 1))


def _padded(known: NDArray, n: int) -> NDArray:
    """Return so many rows of what is known ahead; NaN where it is not."""
    lacking = np.full((max(n - len(known), 0), known.shape[1]), np.nan)
    return np.concatenate([known[:n], lacking])


def _last_codes(model: Any) -> NDArray | None:
    """Return the codes of the window that ends with the last row; None where there is none."""
    units = model.levels_.apply(model._rows[-model.window :])
    if len(units) < model.window or np.isnan(units).all() or not model.__sklearn_is_fitted__():
        return None
    algorithm, dictionary = model._algorithm(model.alpha), model.learner_.state_.dictionary
    sample = observe(units.reshape(1, -1), missing=True)
    return encode_exactly(algorithm.coder, sample, dictionary, algorithm.objective).values[0]


def _decoder(model: Any) -> Any:
    """Return what turns codes of windows into their last rows, in the units of the head."""

    def decode(codes: NDArray) -> NDArray:
        made = model._shaped(model.learner_.state_.dictionary.decode(codes))[:, -1]
        return to_units(model._head, model.levels_.undo(made))

    return decode
