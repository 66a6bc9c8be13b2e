"""Names of scikit-learn: losses that are taken, parameters and values answered with ours."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from zoo import ZOO

from atomstream import ConsensusNMF, OnlineCPDictionary, OnlineNMF, TopicModel, VideoDictionary
from atomstream.cli import main
from atomstream.estimators._estimator import PARAMETERS
from atomstream.files.codec import read_model

X = np.random.default_rng(0).poisson(3.0, (60, 8)) + 0.5
KINDS = sorted({type(model) for model, *_ in ZOO.values()}, key=lambda kind: kind.__name__)
ASKED = ("beta_loss", "alpha_W", "alpha_H", "l1_ratio", "max_iter", "solver")
LOSSES = [("frobenius", "squared"), ("kullback-leibler", "kl"), ("itakura-saito", "is")]


def test_all_estimators_are_here():
    assert len(KINDS) == 13
    assert set(ASKED) < set(PARAMETERS)


@pytest.mark.parametrize(("theirs", "ours"), LOSSES)
def test_their_losses_are_ours(theirs, ours):
    one, two = (OnlineNMF(3, loss=loss, random_state=0).fit(X) for loss in (theirs, ours))
    assert one.algorithm_ == two.algorithm_
    assert_array_equal(one.components_, two.components_)
    assert one.get_params()["loss"] == theirs
    assert ConsensusNMF([2], n_replicates=2, n_epochs=1, loss=theirs).fit(X).n_steps_ == 1


@pytest.mark.parametrize("model", ["nmf", "convex"])
def test_their_losses_are_ours_on_the_command_line(model, tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    arguments = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--representatives", "5"]
    losses = LOSSES if model == "nmf" else LOSSES[:1]
    for theirs, ours in losses:
        run = tmp_path / theirs
        more = ["--model", model, "--epochs", "1", "--out", str(run)]
        assert main([*arguments, *more, "--loss", theirs]) == 0, capsys.readouterr().err
        assert getattr(read_model(run / "model.atoms")[0], "loss", "squared") == ours


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


def test_names_of_vectorizers_are_answered():
    with pytest.raises(TypeError, match=r"'ngram_range', .* write ngrams=2 for runs of up to two"):
        TopicModel(3, ngram_range=(1, 2))


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
    for kind in (OnlineNMF, VideoDictionary):
        with pytest.raises(ValueError, match=f"{words}'svd'"):
            kind(2, init=init).fit(np.ones((6, 4, 4)) if kind is VideoDictionary else X)
    with pytest.raises(ValueError, match=f"{words}'random' or init='samples'"):
        OnlineCPDictionary(2, init=init).fit(X)


def test_a_start_of_ones_own_is_given_itself():
    with pytest.raises(ValueError, match=r"init='custom' .*: write init=\.\.\., the atoms"):
        OnlineNMF(2, init="custom").fit(X)
    with pytest.raises(ValueError, match=r"The 'init' parameter of OnlineNMF must be one of auto"):
        OnlineNMF(2, init="nonsense").fit(X)
