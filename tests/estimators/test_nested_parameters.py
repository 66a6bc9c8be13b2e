"""Parameters of parts, reached through a model by names such as ``loss__zeros``."""

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.coders import ActiveSet, Auto
from atomstream.losses import Beta, ItakuraSaito
from atomstream.penalties import Box
from atomstream.schedules import Power
from atomstream.updates import BlockCoordinate

X = np.random.default_rng(0).random((60, 6)) + 0.1


@pytest.mark.parametrize(
    ("model", "name", "value", "made"),
    [
        (OnlineNMF(loss=Beta(0.5)), "loss__beta", 1.5, Beta(1.5)),
        (OnlineNMF(loss=ItakuraSaito()), "loss__zeros", "refuse", ItakuraSaito("refuse")),
        (OnlineNMF(loss="is"), "loss__zeros", "refuse", ItakuraSaito("refuse")),
        (OnlineNMF(loss="beta:0"), "loss__zeros", "refuse", ItakuraSaito("refuse")),
        (OnlineNMF(), "coder__tol", 1e-3, Auto(1e-3)),
        (OnlineNMF(coder="active_set"), "coder__max_rounds", 9, ActiveSet(max_rounds=9)),
        (OnlineNMF(), "schedule__p", 3.0, Power(3.0)),
        (OnlineNMF(), "updater__n_sweeps", 4, BlockCoordinate(n_sweeps=4)),
        (OnlineDictionaryLearning(codes="box"), "codes__high", 2.0, Box(high=2.0)),
        *of_fields("parts_by_name").values(),
    ],
    ids=repr,
)
def test_a_parameter_of_a_part_is_set_by_its_name(model, name, value, made):
    changed = clone(model).set_params(**{name: value})
    role = name.partition("__")[0]
    assert getattr(changed, role) == made
    # Of parts given as such they are listed too, and a clone keeps them.
    assert clone(changed).get_params()[name] == value
    assert getattr(clone(changed), role) is getattr(changed, role)


def test_tolerance_and_zeros_reach_learning():
    model = OnlineNMF(3, random_state=0).set_params(coder__tol=1e-8).partial_fit(X)
    assert model.clock_.accuracy == 1e-8
    assert OnlineNMF(3, coder=ActiveSet(tol="log"), random_state=0).fit(X).clock_.tolerance
    holed = np.where(X < 0.2, 0, X)
    with pytest.raises(ValueError, match="contains zeros"):
        OnlineNMF(3, loss="is").set_params(loss__zeros="refuse").fit(holed)


def test_grid_search_goes_over_parameters_of_parts():
    grid = {"loss__beta": [0.5, 1.5], "coder__tol": [1e-2, "root"], "schedule__p": [1.0, 8.0]}
    model = OnlineNMF(2, loss=Beta(1.0), n_epochs=1, random_state=0)
    found = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X)
    best = found.best_params_
    again = clone(model).set_params(**best).fit(X)
    assert_array_equal(found.best_estimator_.components_, again.components_)
    assert model.loss == Beta(1.0)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"loss__nu": 1}, "Squared has no 'nu', it has none"),
        ({"loss": "is", "loss__nu": 1}, "ItakuraSaito has no 'nu', it has zeros"),
        ({"loss": "is", "loss__zeros": "never"}, "ItakuraSaito needs zeros to be floor or refuse"),
        ({"alpha": 2.0, "coder__depth": 1}, "Auto has no 'depth', it has tol"),
        ({"codes__high": 1.0}, "Nonnegative has no 'high', it has l1, l2"),
        ({"loss": "none", "loss__zeros": "floor"}, "loss='none' is unknown"),
        ({"alpha": 2.0, "speed": 1}, "Invalid parameter 'speed'"),
    ],
    ids=str,
)
def test_what_is_refused_changes_nothing(params, sentence):
    model = OnlineNMF(3)
    before = model.get_params()
    with pytest.raises(ValueError, match=sentence):
        model.set_params(**params)
    assert model.get_params() == before


def test_a_schedule_that_is_a_function_has_no_names():
    with pytest.raises(ValueError, match="has no parameters that can be set by their names"):
        OnlineNMF(schedule=lambda t, n, total: 1.0).set_params(schedule__p=2.0)
