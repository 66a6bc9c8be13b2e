"""Calls of what takes series."""

import numpy as np
from given import RNG, TABLE, TENSOR, WHOLE, holes

from atomstream import SeriesDictionary, choose_forecaster, series
from atomstream.looks import plots


def of_series():
    settings = {"window": 3, "n_init": 6, "n_init_batches": 1}
    return SeriesDictionary(2, random_state=0, **settings)


CASES = {
    "SeriesDictionary.fit(Y)": (TABLE, lambda X: of_series().fit(X)),
    "SeriesDictionary.fit(init)": (
        TABLE,
        lambda X: of_series().fit(WHOLE, init=X),
    ),
    "SeriesDictionary.fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.partial_fit(Y)": (TABLE, lambda X: of_series().partial_fit(X)),
    "SeriesDictionary.partial_fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().partial_fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.impute(Y)": (TABLE, lambda X: of_series().fit(WHOLE).impute(X)),
    "SeriesDictionary.reconstruct(Y)": (TABLE, lambda X: of_series().fit(WHOLE).reconstruct(X)),
    "SeriesDictionary.predict(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict(2, exogenous=X),
    ),
    "SeriesDictionary.predict_interval(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: (
            of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict_interval(2, exogenous=X)
        ),
    ),
    "choose_forecaster(Y)": (
        holes(np.tile(WHOLE, (3, 1)), 5),
        lambda X: (
            choose_forecaster(X, windows=(3,), atoms=(2,), ridges=(0.1,), random_state=0).errors
        ),
    ),
    **{
        f"fields.series.{name}.{method}": (
            TABLE,
            lambda X, name=name, method=method: getattr(
                getattr(series, name)().fit(WHOLE if "fit" not in method else X),
                "transform" if "fit" in method else method[:-3],
            )(X),
        )
        for name in ("Log1p", "MovingAverage", "NonnegativeScaler")
        for method in ("fit(Y)", "fit_transform(X)", "transform(Y)", "inverse_transform(Y)")
    },
    "fields.series.change_points(series)": (
        TABLE,
        lambda X: series.change_points(X, n_draws=99, min_size=3).times,
    ),
    "looks.plots.series_forecast_data(observed)": (
        TABLE,
        lambda X: plots.series_forecast_data(X, WHOLE)[0],
    ),
    "looks.plots.series_forecast_data(predicted)": (
        TABLE,
        lambda X: plots.series_forecast_data(WHOLE, X)[1],
    ),
    "looks.plots.series_forecast_data(ahead)": (
        TENSOR[:1, :, :],
        lambda X: plots.series_forecast_data(WHOLE[:, :3], WHOLE[:, :3], X)[2],
    ),
}
assert len(CASES) == 26
