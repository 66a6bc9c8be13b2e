"""Models shared: pickled, across processes and threads, through joblib, skops and MLflow."""

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import joblib
import numpy as np
import pandas as pd
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal
from served import served
from sklearn.base import clone
from zoo import ZOO, rows, use, used_elsewhere

import atomstream
from atomstream import OnlineNMF

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ONLINE = ["nmf", "dictionary learning", *of_fields("rounds")]


@pytest.fixture(scope="module")
def fitted():
    """All models of the zoo, learned."""
    return {name: clone(model).fit(data()) for name, (model, data, _) in ZOO.items()}


@pytest.fixture(scope="module")
def expected(fitted):
    return {name: use(name, model, ZOO[name][1]()) for name, model in fitted.items()}


def by_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib", compress=3)
    return joblib.load(folder / "model.joblib")


COPIES = {
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "oldest protocol": lambda model, _: pickle.loads(pickle.dumps(model, protocol=2)),
    "deepcopy": lambda model, _: deepcopy(model),
    "joblib": by_joblib,
}


@pytest.mark.cover(2)
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", ZOO)
def test_copies_do_the_same(kind, way, fitted, expected, tmp_path):
    again = COPIES[way](fitted[kind], tmp_path)
    assert_array_equal(use(kind, again, ZOO[kind][1]()), expected[kind])
    assert not hasattr(clone(again), "__sklearn_is_fitted__") or not (
        clone(again).__sklearn_is_fitted__()
    )


@pytest.mark.parametrize("kind", ONLINE)
def test_a_pickled_model_goes_on_learning_to_the_bit(kind, fitted):
    model, data = deepcopy(fitted[kind]), ZOO[kind][1]()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(
        again.partial_fit(data[::2]).components_, model.partial_fit(data[::2]).components_
    )


@pytest.mark.parametrize("kind", ONLINE)
def test_a_pickle_holds_no_method(kind, fitted):
    # The parameters stand for it; bound to the model it would be a circle.
    assert b"atomstream.loop.online" not in pickle.dumps(fitted[kind])


@pytest.mark.slow
# The parent has threads of numba by now, about which newer releases of Python warn.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_other_processes_get_the_same_bits(how, fitted, expected):
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {how}")
    OnlineNMF(3, n_jobs=2, random_state=0).fit(rows())  # starts threads before the fork
    pickles = {name: pickle.dumps(model) for name, model in fitted.items()}
    with multiprocessing.get_context(how).Pool(1) as pool:
        found = pool.apply(used_elsewhere, [pickles])
    for name, values in expected.items():
        assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("kind", ZOO)
def test_one_model_used_by_four_threads_at_once(kind, fitted, expected):
    data = ZOO[kind][1]()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: use(kind, fitted[kind], data), range(8)))
    for values in found:
        assert_array_equal(values, expected[kind])


def test_four_models_that_learn_at_once(expected):
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: clone(ZOO["nmf"][0]).fit(rows()), range(4)))
    for model in models:
        assert_array_equal(model.transform(rows()), expected["nmf"])


# -- skops


def test_trusted_types_are_those_of_the_library():
    names = atomstream.trusted_types()
    assert names == sorted(set(names))
    assert len(names) > 60
    assert all(name.startswith("atomstream.") for name in names)


@pytest.mark.parametrize("kind", ZOO)
def test_skops_opens_models_with_the_trusted_types(kind, fitted, expected):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    data = skops.dumps(fitted[kind])
    assert set(skops.get_untrusted_types(data=data)) <= set(atomstream.trusted_types())
    again = skops.loads(data, trusted=atomstream.trusted_types())
    assert_array_equal(use(kind, again, ZOO[kind][1]()), expected[kind])


# -- MLflow


def test_a_served_model_codes_rows(fitted, expected, tmp_path):
    model = served(fitted["nmf"], tmp_path)
    assert_array_equal(model.predict(rows()), expected["nmf"])
    frame = pd.DataFrame(rows(), index=range(100, 160))
    codes = model.predict(frame)
    assert list(codes.index) == list(range(100, 160))
    assert_array_equal(codes, expected["nmf"])


def test_mlflow_serves_a_model(fitted, expected, tmp_path):
    pyfunc = pytest.importorskip("mlflow.pyfunc", reason="mlflow is not installed")
    atomstream.save(fitted["nmf"], tmp_path / "model.atoms")
    pyfunc.save_model(
        path=str(tmp_path / "served"),
        loader_module="atomstream.files.pyfunc",
        data_path=str(tmp_path / "model.atoms"),
        pip_requirements=["atomstream"],
    )
    codes = pyfunc.load_model(str(tmp_path / "served")).predict(rows())
    assert_array_equal(np.asarray(codes), expected["nmf"])
