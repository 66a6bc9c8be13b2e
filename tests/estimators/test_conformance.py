"""Every estimator keeps scikit-learn's contract, as far as it applies to its kind of data.

Those of rows go through all of scikit-learn's checks; the others through those that need no data of
a kind, and through the same demands on data of their own.
"""

import inspect
import re
from copy import deepcopy
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from zoo import ZOO, use

import atomstream
from atomstream import (
    OnlineConvexMF,
    OnlineCPDictionary,
    SeriesDictionary,
    SupervisedDictionary,
)

# The page docs/promises.md lists them with these reasons.
SHAPES = "samples may be tensors of any order: data of a wrong shape are refused in other words"
HORIZON = "`predict` takes a number of rows to forecast, not samples"
SERIES = "rows are times: a table with too few, or of another width, is refused in other words"
WEIGHTS = "a row of weight 4 makes one step, and four rows make four"
FAILING = {
    OnlineCPDictionary: {
        "check_estimators_empty_data_messages": SHAPES,
        "check_fit2d_predict1d": SHAPES,
        "check_n_features_in_after_fitting": SHAPES,
    },
    OnlineConvexMF: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    },
    SeriesDictionary: {
        **dict.fromkeys(
            [
                "check_dict_unchanged",
                "check_dtype_object",
                "check_estimators_dtypes",
                "check_estimators_pickle",
                "check_f_contiguous_array_estimator",
                "check_fit2d_predict1d",
                "check_fit_idempotent",
                "check_methods_sample_order_invariance",
                "check_methods_subset_invariance",
            ],
            HORIZON,
        ),
        **dict.fromkeys(
            [
                "check_estimators_empty_data_messages",
                "check_fit2d_1sample",
                "check_n_features_in_after_fitting",
            ],
            SERIES,
        ),
    },
}
OF_ROWS = [
    SupervisedDictionary(2, codes="free", atoms="unit_ball", n_epochs=5, random_state=0),
    SupervisedDictionary(
        6, labels="numbers", codes="free", atoms="unit_ball", n_epochs=5, random_state=0
    ),
    OnlineCPDictionary(2, n_epochs=2, random_state=0),
    OnlineConvexMF(2, n_representatives=6, random_state=0),
    SeriesDictionary(2, 2, n_init=4, n_init_batches=2, random_state=0),
]


@pytest.mark.cover(4)
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(OF_ROWS, expected_failed_checks=lambda model: FAILING.get(type(model), {}))
def test_estimator_checks(estimator, check):
    check(estimator)


def test_the_page_of_promises_lists_what_is_expected_to_fail():
    page = (Path(__file__).parents[2] / "docs/promises.md").read_text(encoding="utf-8")
    listed = {}
    for model, checks, reason in re.findall(r"^\| `(\w+)` \| (.*check_.*) \| (.*) \|$", page, re.M):
        listed.setdefault(model, {}).update(
            dict.fromkeys(re.findall(r"`(check_\w+)`", checks), reason)
        )
    assert listed == {model.__name__: failing for model, failing in FAILING.items()}


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
        if inspect.isclass(thing := getattr(atomstream, name)) and hasattr(thing, "get_params")
    }
    estimators.discard(atomstream.SktimeForecaster)  # sktime's contract, not scikit-learn's
    estimators.discard(SupervisedDictionary)  # needs labels, and goes through all of the checks
    assert {type(model) for model, _, _ in ZOO.values()} == estimators
    assert {type(model) for model in OF_ROWS} == FAILING.keys() | {SupervisedDictionary}


TAGS = {
    "networks": {"sparse", "string"},
    "images": {"three_d_array", "string"},
    "colours": {"dict"},
    "topics": {"one_d_array", "string"},
    "frames": {"three_d_array", "string", "positive_only"},
    "walks": {"one_d_array", "categorical", "string"},
    "series": {"two_d_array", "allow_nan"},
    "tensors": {"two_d_array", "three_d_array", "sparse"},
    "consensus": {"two_d_array", "sparse", "positive_only"},
    "convex": {"two_d_array", "sparse"},
    "data sets": {"two_d_array", "sparse", "positive_only"},
    "dictionary learning": {"two_d_array", "sparse"},
    "nmf": {"two_d_array", "sparse", "positive_only"},
}


@pytest.mark.parametrize("kind", ZOO)
def test_tags_say_what_data_are_taken(kind):
    inputs = get_tags(ZOO[kind][0]).input_tags
    known = {each.name for each in fields(inputs) if getattr(inputs, each.name) is True}
    assert known == TAGS[kind]


def test_tags_follow_the_parameters():
    def tags(model):
        return get_tags(model).input_tags

    assert not tags(OnlineCPDictionary(reshape=[(0,), (1, 2)])).two_d_array
    assert tags(atomstream.OnlineNMF(missing=True)).allow_nan
    assert not tags(atomstream.VideoDictionary(nonnegative=False)).positive_only
    assert get_tags(atomstream.OnlineNMF(max_time=1)).non_deterministic
    assert not get_tags(atomstream.OnlineNMF()).non_deterministic
    assert get_tags(OnlineConvexMF(assignment="labels")).target_tags.required
    assert not get_tags(OnlineConvexMF()).target_tags.required


def test_a_model_that_needs_labels_says_so():
    model = OnlineConvexMF(2, n_representatives=6, assignment="labels")
    estimator_checks.check_requires_y_none("OnlineConvexMF", model)


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
