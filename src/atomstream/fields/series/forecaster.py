"""`SeriesDictionary` as a forecaster of sktime: ``pip install 'atomstream[series]'``."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
from typing import Any, ClassVar

import numpy as np

try:
    from sktime.forecasting.base import BaseForecaster
except ImportError:
    BaseForecaster = None

from atomstream.fields.series.model import SeriesDictionary


class SktimeForecaster(BaseForecaster or object):  # type: ignore[misc]
    """Forecast several series with what they do together.

    `update` goes on with the model, row by row. Rows that were learned from already are passed
    over. Where an update is asked to leave the parameters, a copy of the model goes through the
    rows to predict what follows, and `model_` stays.

    Bands (`predict_interval`) are those of `SeriesDictionary.predict_interval`. Columns of X are
    known ahead, and the model must have a head for them. A forecast needs a row of each step up to
    its last, or of each step that is asked for: a step in between then takes the next row.

    Parameters
    ----------
    model : SeriesDictionary, optional
        By default one with default settings. It is cloned, never changed.

    Attributes
    ----------
    model_ : SeriesDictionary
        What was learned.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from atomstream import SeriesDictionary, SktimeForecaster
    >>> days = pd.date_range("2026-01-01", periods=120, freq="D")
    >>> frame = pd.DataFrame({"waves": 2 + np.sin(np.arange(120) / 3)}, days)
    >>> model = SeriesDictionary(3, window=6, random_state=0)
    >>> SktimeForecaster(model).fit(frame).predict(fh=[1, 2]).shape  # doctest: +SKIP
    (2, 1)
    """

    _tags: ClassVar[dict[str, Any]] = {
        "capability:multivariate": True,
        "y_inner_mtype": "pd.DataFrame",
        "capability:exogenous": True,
        "X_inner_mtype": "pd.DataFrame",
        "requires-fh-in-fit": False,
        "capability:missing_values": True,
        "capability:update": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:insample": False,
    }

    def __init__(self, model: Any = None) -> None:
        if BaseForecaster is None:
            raise ImportError("SktimeForecaster needs sktime: pip install 'atomstream[series]'.")
        self.model = model
        super().__init__()

    def _fit(self, y: Any, X: Any = None, fh: Any = None) -> SktimeForecaster:
        from sklearn.base import clone

        self.model_ = SeriesDictionary() if self.model is None else clone(self.model)
        self.model_.fit(y, exogenous=X)
        self._learned = self._end = y.index[-1]
        self._newest = self.model_
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> SktimeForecaster:
        rows = y[y.index > self._learned]
        self._newest = self.model_ if update_params else deepcopy(self.model_)
        if len(rows):
            known = None if X is None else X[X.index >= rows.index[0]]
            self._newest.partial_fit(rows, exogenous=known)
            self._end = rows.index[-1]
            self._learned = self._end if update_params else self._learned
        return self

    def _predict(self, fh: Any, X: Any = None) -> Any:
        steps = self._steps(fh)
        return self._newest.predict(int(steps.max()), exogenous=self._after(X, steps)).iloc[
            steps - 1
        ]

    def _predict_interval(self, fh: Any, X: Any, coverage: list[float]) -> Any:
        import pandas as pd

        steps, parts = self._steps(fh), {}
        for share in coverage:
            horizon, known = int(steps.max()), self._after(X, steps)
            band = self._newest.predict_interval(horizon, float(share), exogenous=known)
            for name in band.low.columns:
                parts[name, share, "lower"] = band.low[name].iloc[steps - 1]
                parts[name, share, "upper"] = band.high[name].iloc[steps - 1]
        order = product(band.low.columns, coverage, ("lower", "upper"))
        return pd.DataFrame(parts)[list(order)]

    def _after(self, X: Any, steps: Any) -> Any:
        """Return the rows known ahead that follow those of the newest model, one for each step."""
        rows = None if X is None else X[X.index > self._end]
        if rows is None or not len(rows) == len(steps) < steps.max():
            return rows
        # sktime asks for rows at the times of the forecast alone: steps before take the next one.
        return rows.to_numpy()[np.searchsorted(steps, np.arange(1, steps.max() + 1))]

    def _steps(self, fh: Any) -> Any:
        """Return how many steps ahead each time of the horizon lies."""
        steps = np.asarray(fh.to_relative(self.cutoff), dtype=np.int64)
        if steps.min() < 1:
            raise NotImplementedError(
                "Times that were learned from cannot be predicted; see one_step_ of model_."
            )
        return steps

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return settings for sktime's own checks.

        Parameters
        ----------
        parameter_set : str, default="default"
            Not used: there is one set.
        """
        return [
            {"model": SeriesDictionary(3, 3, n_init=6, random_state=0)},
            {"model": SeriesDictionary(2, 2, n_init_batches=0, random_state=0)},
        ]
