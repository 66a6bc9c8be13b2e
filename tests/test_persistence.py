"""Law 4 and law 10: files that go on to the bit, and files that are refused."""

import copy
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import atomstream
from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.coders import ActiveSet
from atomstream.penalties import Box
from atomstream.schedules import Constant, Polynomial
from atomstream.tolerances import LogTolerance

RNG = np.random.default_rng(0)
X = RNG.random((90, 8))

MODELS = {
    "plain": lambda: OnlineNMF(4, random_state=0),
    "signed": lambda: OnlineDictionaryLearning(4, alpha=0.1, random_state=np.random.default_rng(3)),
    "parts": lambda: OnlineNMF(
        4,
        codes=Box(0.0, 2.0, l1=0.1),
        coder=ActiveSet(max_rounds=50),
        schedule=Constant(half_life=100.0),
        tol=LogTolerance(),
        random_state=np.random.RandomState(2),
    ),
    "array": lambda: OnlineNMF(
        4, init=RNG.random((4, 8)), fixed_components=2, schedule=Polynomial(0.6), max_time=9.0
    ),
    "missing": lambda: OnlineNMF(4, missing=True, random_state=np.random.Generator(np.random.MT19937(1))),
    "float32": lambda: OnlineNMF(4, random_state=0),
}


@pytest.fixture(params=MODELS)
def model(request):
    rows = X.astype(np.float32) if request.param == "float32" else X
    return MODELS[request.param]().partial_fit(rows[:30])


def test_law_4_save_load_go_on_is_never_stopped(model, tmp_path):
    atomstream.save(model, tmp_path / "model.atoms")
    other = atomstream.load(tmp_path / "model.atoms")
    rows = X.astype(model.components_.dtype)
    for start in (30, 50, 70):
        model.partial_fit(rows[start : start + 20])
        other.partial_fit(rows[start : start + 20])
    assert_array_equal(model.components_, other.components_)
    assert_array_equal(model.memory_.gram, other.memory_.gram)
    assert_array_equal(model.importance_, other.importance_)
    assert vars(model.clock_) == vars(other.clock_)
    assert repr(model.get_params()) == repr(other.get_params()) or isinstance(model.init, np.ndarray)
    assert_array_equal(model.fit(rows).components_, other.fit(rows).components_)


def test_an_unfitted_model_and_names_of_features_are_kept(tmp_path):
    import pandas as pd

    atomstream.save(OnlineNMF(7, alpha=0.25), tmp_path / "new.atoms")
    assert repr(atomstream.load(tmp_path / "new.atoms")) == repr(OnlineNMF(7, alpha=0.25))
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "<ü>"])
    atomstream.save(OnlineNMF(2).fit(frame), tmp_path / "named.atoms")
    assert list(atomstream.load(tmp_path / "named.atoms").feature_names_in_) == ["a", "b", "<ü>"]


def test_what_is_no_part_of_ours_is_not_saved(tmp_path):
    model = OnlineNMF(2, schedule=lambda step, mass, total: 1.0).fit(X)
    with pytest.raises(TypeError, match=r"schedule.*cannot be saved"):
        atomstream.save(model, tmp_path / "model.atoms")
    assert not list(tmp_path.iterdir())


def test_a_snapshot_codes_in_another_thread_while_the_model_learns():
    model, seen, stop = OnlineNMF(4, random_state=0).partial_fit(X), [], threading.Event()

    def code():
        while not stop.is_set():
            twin = copy.copy(model)
            codes = twin.transform(X[:5])
            seen.append(np.array_equal(codes, twin.transform(X[:5])))

    thread = threading.Thread(target=code)
    thread.start()
    model.fit_stream(X for _ in range(100))
    stop.set()
    thread.join()
    assert seen
    assert all(seen)
    assert_array_equal(model.components_, OnlineNMF(4, random_state=0).fit_stream(X for _ in range(101)).components_)
