"""Every estimator keeps scikit-learn's contract, as far as it applies to its kind of data.

Those of rows go through all of scikit-learn's checks; the others through those that need no data of
a kind, and through the same demands on data of their own.
"""

import inspect
from copy import deepcopy
from dataclasses import fields

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from zoo import ZOO, use

import atomstream

# Models that go through all of scikit-learn's checks, and why they fail some: docs/promises.md
# lists them with these reasons.
CHECKED = of_fields("checked")
FAILING = {type(models[0]): failing for models, failing in CHECKED.values() if failing}
OF_ROWS = [model for models, _ in CHECKED.values() for model in models]


@pytest.mark.cover(4)
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(OF_ROWS, expected_failed_checks=lambda model: FAILING.get(type(model), {}))
def test_estimator_checks(estimator, check):
    check(estimator)


# Those of scikit-learn's checks that ask nothing of the data, and one that it leaves out.
FREE = [
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("kind", ZOO)
def test_checks_that_need_no_data(kind, name):
    model = clone(ZOO[kind][0])
    # A prefix: releases differ in the last letter of one of them.
    [check] = [each for each in dir(estimator_checks) if each.startswith(name)]
    getattr(estimator_checks, check)(type(model).__name__, model)


def test_the_zoo_is_complete():
    estimators = {
        thing
        for name in atomstream.__all__
        if inspect.isclass(thing := getattr(atomstream, name)) and issubclass(thing, BaseEstimator)
    }
    needy = {type(model) for model in OF_ROWS if get_tags(model).target_tags.required}
    # Those that need labels go through all of the checks.
    assert {type(model) for model, _, _ in ZOO.values()} == estimators - needy


TAGS = {
    "data sets": {"two_d_array", "sparse", "positive_only"},
    "dictionary learning": {"two_d_array", "sparse"},
    "nmf": {"two_d_array", "sparse", "positive_only"},
    **of_fields("tags"),
}


@pytest.mark.parametrize("kind", ZOO)
def test_tags_say_what_data_are_taken(kind):
    inputs = get_tags(ZOO[kind][0]).input_tags
    known = {each.name for each in fields(inputs) if getattr(inputs, each.name) is True}
    assert known == TAGS[kind]


def test_tags_follow_the_parameters():
    def tags(model):
        return get_tags(model).input_tags

    assert tags(atomstream.OnlineNMF(missing=True)).allow_nan
    assert get_tags(atomstream.OnlineNMF(max_time=1)).non_deterministic
    assert not get_tags(atomstream.OnlineNMF()).non_deterministic


@pytest.fixture(scope="module")
def fitted():
    """The models of the zoo, learned once, with the data they learned from."""
    made = {}

    def get(kind):
        if kind not in made:
            model, data, _ = ZOO[kind]
            made[kind] = (clone(model).fit(data()), data())
        return made[kind]

    return get


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ZOO)
def test_learning_leaves_parameters_and_data_as_they_were(kind):
    model, make, _ = ZOO[kind]
    model, data = clone(model), make()
    before, public = deepcopy(data), {name for name in vars(model) if not name.startswith("_")}
    parameters = model.get_params()
    assert model.fit(data) is model
    assert model.get_params() == parameters
    made = {name for name in vars(model) if not name.startswith("_")} - public
    assert all(name.endswith("_") for name in made)
    if isinstance(data, np.ndarray):
        assert_array_equal(data, before)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ZOO)
def test_the_same_seed_and_data_give_the_same_model(kind, fitted):
    model, data = fitted(kind)
    twin = clone(model).fit(ZOO[kind][1]())
    assert_array_equal(use(kind, twin, data), use(kind, model, data))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ZOO)
def test_looking_at_data_changes_nothing(kind, fitted):
    model, data = fitted(kind)
    before = {name: repr(value) for name, value in vars(model).items()}
    use(kind, model, data)
    assert {name: repr(value) for name, value in vars(model).items()} == before


@pytest.mark.parametrize("kind", ZOO)
def test_a_model_that_has_learned_nothing_says_so(kind):
    model, data, _ = ZOO[kind]
    with pytest.raises(NotFittedError):
        use(kind, clone(model), data())
