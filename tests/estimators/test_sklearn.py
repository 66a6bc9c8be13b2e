"""The estimators as scikit-learn's users expect them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from atomstream import OnlineDictionaryLearning, OnlineNMF

BOTH = [OnlineNMF, OnlineDictionaryLearning]
ESTIMATORS = [cls(n_components=3, random_state=0) for cls in BOTH]


@pytest.mark.cover(4)
@pytest.mark.filterwarnings("ignore::atomstream.NotConvergedWarning")
@parametrize_with_checks(ESTIMATORS)
def test_estimator_checks(estimator, check):
    check(estimator)


# Checks that scikit-learn ships and leaves out of its own list.
EXTRA = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_n_features_in_after_fitting",
]


@pytest.mark.filterwarnings("ignore::atomstream.NotConvergedWarning")
# These checks hand frames to one call and arrays to the next on purpose.
@pytest.mark.cover(2)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", EXTRA)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_checks_left_out_of_the_list(estimator, name):
    getattr(estimator_checks, name)(type(estimator).__name__, clone(estimator))


def test_the_extra_checks_exist():
    assert len(EXTRA) == 9
    assert all(hasattr(estimator_checks, name) for name in EXTRA)


@pytest.mark.filterwarnings("ignore::atomstream.NotConvergedWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_check_of_names_fails_where_columns_in_another_order_are_taken_by_name(estimator):
    """All that comes before passes: names are learned, and seen again without a warning."""
    with pytest.raises(AssertionError, match="did not raise"):
        estimator_checks.check_dataframe_column_names_consistency("model", clone(estimator))


@pytest.fixture
def X():  # noqa: N802 - the data's name
    rng = np.random.default_rng(0)
    return rng.random((90, 4)) @ rng.random((4, 8))


@pytest.mark.parametrize("cls", BOTH)
def test_pipeline_grid_search_and_frames(cls, X):
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(8)])
    pipeline = make_pipeline(MinMaxScaler(), cls(n_components=3, random_state=0)).set_output(
        transform="pandas"
    )
    codes = pipeline.fit_transform(frame)
    assert list(codes.columns) == [f"{cls.__name__.lower()}{i}" for i in range(3)]
    assert_array_equal(pipeline[-1].feature_names_in_, frame.columns)
    search = GridSearchCV(cls(random_state=0), {"n_components": [1, 4]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 4}


@pytest.mark.parametrize("cls", BOTH)
def test_polars_in_polars_out(cls, X):
    frame = pl.DataFrame(X, schema=[f"gene{i}" for i in range(8)])
    model = cls(n_components=3, random_state=0).set_output(transform="polars").fit(frame)
    assert isinstance(model.transform(frame), pl.DataFrame)
    assert_array_equal(model.components_, cls(n_components=3, random_state=0).fit(X).components_)


@pytest.mark.parametrize("cls", BOTH)
def test_column_names_that_change_are_refused(cls, X):
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = cls(n_components=3, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("layout", ["readonly", "fortran", "strided", "memmap"])
def test_any_layout_in_memory_gives_the_same(cls, X, layout, tmp_path):
    if layout == "readonly":
        other = X.copy()
        other.flags.writeable = False
    elif layout == "fortran":
        other = np.asfortranarray(X)
    elif layout == "strided":
        other = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    else:
        np.save(tmp_path / "x.npy", X)
        other = np.load(tmp_path / "x.npy", mmap_mode="r")
    model, twin = (cls(n_components=3, batch_size=30, random_state=0).fit(Y) for Y in (other, X))
    assert_allclose(model.components_, twin.components_, rtol=1e-8)
    assert_allclose(model.transform(other), twin.transform(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_integers_are_converted(cls):
    X = np.random.default_rng(0).integers(0, 9, (50, 6))
    assert cls(n_components=2, random_state=0).fit(X).components_.dtype == np.float64


def test_sample_weight_moves_the_dictionary_and_the_score(X, room):
    weights = np.zeros(90)
    weights[:10] = 1
    model = OnlineNMF(n_components=2, random_state=0, n_epochs=30).fit(X, sample_weight=weights)
    assert model.score(X[:10]) == pytest.approx(model.score(X, sample_weight=weights))
    everything = OnlineNMF(n_components=2, random_state=0, n_epochs=30).fit(X)
    room.fall(-model.score(X[:10]), -everything.score(X[:10]), at_least=0.03)
