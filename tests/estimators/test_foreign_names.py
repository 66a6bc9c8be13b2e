"""Names of scikit-learn: losses that are taken, parameters and values answered with ours."""

import inspect

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal
from sklearn.base import clone
from zoo import ZOO

from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.estimators._estimator import PARAMETERS
from atomstream.files.codec import read_model

X = np.random.default_rng(0).poisson(3.0, (60, 8)) + 0.5
OF_CORE = [case for name, case in ZOO.items() if name not in of_fields("zoo")]
KINDS = sorted({type(model) for model, *_ in ZOO.values()}, key=lambda kind: kind.__name__)
ASKED = ("beta_loss", "alpha_W", "alpha_H", "l1_ratio", "max_iter", "solver")
LOSSES = [("frobenius", "squared"), ("kullback-leibler", "kl"), ("itakura-saito", "is")]


def test_all_estimators_are_here():
    assert len({type(model) for model, *_ in OF_CORE}) == 3
    assert set(ASKED) < set(PARAMETERS)


@pytest.mark.parametrize(("theirs", "ours"), LOSSES)
def test_their_losses_are_ours(theirs, ours):
    one, two = (OnlineNMF(3, loss=loss, random_state=0).fit(X) for loss in (theirs, ours))
    assert one.algorithm_ == two.algorithm_
    assert_array_equal(one.components_, two.components_)
    assert one.get_params()["loss"] == theirs


def test_their_losses_are_ours_on_the_command_line(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    for theirs, ours in LOSSES:
        run = tmp_path / theirs
        words = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--epochs", "1"]
        assert main([*words, "--out", str(run), "--loss", theirs]) == 0, capsys.readouterr().err
        assert read_model(run / "model.atoms")[0].loss == ours


@pytest.mark.parametrize("name", ["kullback", "kullback-x", "itakura-x:2"])
def test_no_message_names_a_package_that_nobody_registered(name):
    for argument in ("loss", "schedule", "coder", "updater", "codes"):
        with pytest.raises(ValueError, match=f"{argument}='{name}' is unknown; choose") as caught:
            OnlineNMF(3, **{argument: name}).fit(X)
        assert "install" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PARAMETERS)
def test_their_parameters_are_answered_with_ours(kind, name):
    own = inspect.signature(kind).parameters
    words = f"{kind.__name__} has no parameter '{name}', a name of scikit-learn: "
    known = [ours for ours in PARAMETERS[name] if ours in own]
    words += f"write {PARAMETERS[name][known[0]].split()[0]}" if known else "nothing stands for it"
    with pytest.raises(TypeError) as caught:
        kind(**{name: 1})
    assert str(caught.value).startswith(words)
    with pytest.raises(ValueError, match="a name of scikit-learn: ") as caught:
        next(model for model, *_ in ZOO.values() if type(model) is kind).set_params(**{name: 1})
    assert str(caught.value).startswith(words)


def test_several_names_are_answered_together():
    words = (
        r"'beta_loss', .* write loss \('squared', .*'max_iter', .* write n_epochs .* or max_time"
    )
    with pytest.raises(TypeError, match=words):
        OnlineNMF(3, beta_loss="kullback-leibler", max_iter=200)


@pytest.mark.parametrize("kind", KINDS)
def test_other_names_are_refused_as_python_and_scikit_learn_do(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        kind(nonsense=1)
    model = next(model for model, *_ in ZOO.values() if type(model) is kind)
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        model.set_params(nonsense=1)


@pytest.mark.parametrize("kind", KINDS)
def test_signatures_parameters_and_clones_are_untouched(kind):
    names = list(inspect.signature(kind).parameters)
    assert sorted(names) == sorted(kind._get_param_names())
    assert inspect.signature(kind.__init__) == inspect.signature(kind.__init__.__wrapped__)
    model = next(model for model, *_ in ZOO.values() if type(model) is kind)
    assert repr(clone(model)) == repr(model)


def test_a_class_of_ones_own_may_have_such_a_parameter():
    class Mine(OnlineNMF):
        def __init__(self, n_components=2, *, max_iter=5):
            super().__init__(n_components, n_epochs=max_iter)
            self.max_iter = max_iter

    assert Mine(max_iter=7).n_epochs == 7
    assert clone(Mine(max_iter=7)).set_params(max_iter=3).max_iter == 3
    with pytest.raises(TypeError, match="Mine has no parameter 'solver'"):
        Mine(solver="cd")


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar"])
def test_their_starts_are_answered_with_ours(init):
    words = f"init='{init}' is a name of scikit-learn: write init="
    with pytest.raises(ValueError, match=f"{words}'svd'"):
        OnlineNMF(2, init=init).fit(X)


def test_a_start_of_ones_own_is_given_itself():
    with pytest.raises(ValueError, match=r"init='custom' .*: write init=\.\.\., the atoms"):
        OnlineNMF(2, init="custom").fit(X)
    with pytest.raises(ValueError, match=r"The 'init' parameter of OnlineNMF must be one of auto"):
        OnlineNMF(2, init="nonsense").fit(X)
