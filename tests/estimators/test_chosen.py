"""What "auto" became is told: `chosen_`, the log, the notebook (law 18)."""

import json
import logging

import numpy as np
import pytest
from sklearn.base import clone
from zoo import ZOO, rows

from atomstream import OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.base import shown, told
from atomstream.coders import ActiveSet, Auto, MatchingPursuit, Multiplicative, ProjectedGradient
from atomstream.losses import Beta, Huber, Squared
from atomstream.penalties import Nonnegative, NonnegativeBall, TopK
from atomstream.updates import BlockCoordinate, Majorise, SubgradientStep


def records(caplog):
    return [each for each in caplog.records if each.name == "atomstream.base.chosen"]


@pytest.fixture
def chosen_log(caplog):
    caplog.set_level(logging.INFO, "atomstream.base.chosen")
    return caplog


@pytest.mark.parametrize("name", ZOO)
def test_each_model_tells_what_auto_became(name, chosen_log, tmp_path):
    model, data, _ = ZOO[name]
    model = clone(model).fit(data())
    automatic = {
        setting
        for setting, value in model.get_params(deep=False).items()
        if isinstance(value, str) and value == "auto" and setting != "rule"
    }
    assert automatic <= set(model.chosen_)
    for choice in model.chosen_.values():
        assert choice.why
        assert not isinstance(choice.value, np.generic)
        json.dumps(choice.as_dict())
    with pytest.raises(TypeError):
        model.chosen_["loss"] = None
    # One record for one fit, which names the model and holds all that was left to it.
    (record,) = records(chosen_log) if told(model.chosen_) else [None]
    if record is not None:
        assert record.getMessage() == f"{type(model).__name__}: {told(model.chosen_)}"
        assert told(model.chosen_) in model._repr_mimebundle_()["text/html"].replace("&#x27;", "'")
    # A file holds all that they are made of.
    save(model, tmp_path / "model.atoms")
    again = load(tmp_path / "model.atoms")
    assert {n: str(c) for n, c in again.chosen_.items()} == {
        n: str(c) for n, c in model.chosen_.items()
    }


def test_nothing_is_chosen_before_a_model_has_learned():
    with pytest.raises(ValueError, match="not fitted"):
        OnlineNMF(3).chosen_  # noqa: B018 - a property that raises


def test_a_stream_is_told_once_and_a_fit_each_time(chosen_log):
    model, X = OnlineNMF(3, random_state=0), rows()
    for batch in np.split(X, 4):
        model.partial_fit(batch)
    assert len(records(chosen_log)) == 1
    model.fit(X).fit(X)
    assert len(records(chosen_log)) == 3


def test_a_fit_that_fails_tells_nothing(chosen_log):
    with pytest.raises(ValueError, match="Negative values"):
        OnlineNMF(3).fit(-rows())
    assert not records(chosen_log)


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        ({}, "updater", BlockCoordinate()),
        ({"loss": "kl"}, "updater", Majorise()),
        ({"loss": "l1"}, "updater", Majorise(folds=2)),
        ({"loss": "beta:2"}, "loss", Squared()),
        ({}, "coder", ActiveSet()),
        ({"coder": Auto(tol=1e-4)}, "coder", ActiveSet(tol=1e-4)),
        ({"loss": "kl"}, "coder", Multiplicative()),
        ({"codes": TopK(2, "nonnegative")}, "coder", MatchingPursuit()),
        ({"codes": NonnegativeBall()}, "coder", ProjectedGradient()),
        ({}, "init", "samples"),
        ({"loss": "kl"}, "init", "svd"),
        ({"codes": Nonnegative(l1=0.1)}, "codes", Nonnegative(l1=0.1)),
    ],
)
def test_what_the_parts_became(settings, name, value):
    model = OnlineNMF(3, n_epochs=1, random_state=0, **settings).fit(rows())
    assert model.chosen_[name].value == value


def test_what_was_given_is_shown_and_not_told():
    model = OnlineDictionaryLearning(3, init="samples", n_jobs=1, random_state=0).fit(rows())
    assert str(model.chosen_["init"]) == "samples (as given)"
    assert model.chosen_["n_jobs"].value == 1
    assert "init" not in told(model.chosen_)
    assert "n_jobs" not in told(model.chosen_)


def test_rounds_that_a_fit_made_are_counted():
    model = OnlineNMF(3, random_state=0).fit(rows())
    assert model.chosen_["n_epochs"].value == model.n_iter_ > 10
    assert "n_epochs" not in OnlineNMF(3, n_epochs=2).fit(rows()).chosen_


def test_parts_are_shown_by_what_is_no_default():
    assert shown(Huber(delta=30.0)) == "Huber(delta=30)"
    assert shown(SubgradientStep()) == "SubgradientStep()"
    assert shown(Beta(1.5)) == "Beta(beta=1.5)"
    assert shown(0.123456) == "0.1235"
