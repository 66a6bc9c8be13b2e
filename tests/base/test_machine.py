"""What does not fit into the memory of this machine is refused before any is taken."""

import tracemalloc

import numpy as np
import pytest
from cases import of_fields

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.base import machine

X = np.random.default_rng(7).random((30, 8))


@pytest.fixture(autouse=True)
def seen_anew():
    """Ask for the memory anew, before and after a test that changes what there is."""
    machine.memory_there.cache_clear()
    yield
    machine.memory_there.cache_clear()


def test_a_model_is_refused_from_one_byte_too_many_on(monkeypatch):
    needed = 8 * 5 * (5 * 5 + 12)
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": needed - 1, "SC_PAGE_SIZE": 1}.get)
    monkeypatch.setattr(machine, "_group_limits", list)
    model = OnlineDictionaryLearning(5, random_state=0)
    with pytest.raises(ValueError, match="5 atoms of 8 features need about"):
        model.fit(X)
    assert not hasattr(model, "components_")
    monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": needed, "SC_PAGE_SIZE": 1}.get)
    machine.memory_there.cache_clear()
    model.fit(X)


def test_the_limit_of_a_group_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "none").write_text("max\n")
    files = [tmp_path / "memory.max", tmp_path / "none", tmp_path / "absent"]
    monkeypatch.setattr(machine, "_group_limits", lambda: files)
    assert machine.memory_there() == 1000
    with pytest.raises(ValueError, match="there are 1e-06 GB; take fewer atoms"):
        OnlineNMF(5, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("kind", "settings", "shape"),
    [
        (OnlineNMF, {}, (8,)),
        (OnlineNMF, {"loss": "kl"}, (8,)),
        (OnlineNMF, {"loss": "l1"}, (8,)),
        *of_fields("too_many_atoms").values(),
    ],
)
def test_nothing_is_taken_for_what_does_not_fit(kind, settings, shape):
    model = kind(10_000_000, random_state=0, **settings)  # 4 PB
    tracemalloc.start()
    with pytest.raises(ValueError, match="10000000 atoms of 8 features need about 4e\\+06 GB"):
        model.fit(X.reshape(30, *shape))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
