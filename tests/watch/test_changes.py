"""Changes of streams: when, and what."""

import numpy as np
import pytest
import scipy.sparse as sp

from atomstream import OnlineNMF
from atomstream.watch.changes import ChangeWatch

PARTS = np.random.default_rng(0).random((3, 8))


def stream(n_batches, change, rng, other=None):
    other = np.random.default_rng(1).random((3, 8)) if other is None else other
    for t in range(n_batches):
        noise = 0.02 * rng.random((20, 8))
        yield rng.random((20, 3)) @ (PARTS if t < change else other) + noise


def watched(batches, schedule="power", **settings):
    watch = ChangeWatch(**settings)
    model = OnlineNMF(3, schedule=schedule, random_state=0).set_callbacks(watch)
    return model.fit_stream(batches), watch


def test_nothing_is_found_where_nothing_changes():
    _, watch = watched(stream(400, 400, np.random.default_rng(2)))
    assert watch.found == []


def test_the_features_and_atoms_that_changed_are_named_and_so_is_when(room):
    other = PARTS.copy()
    other[:, [2, 5]] = 3 * other[::-1][:, [5, 2]]
    _, watch = watched(stream(400, 300, np.random.default_rng(3), other))
    change = watch.found[0]
    assert change.step > 300
    room.error(change.step - 300, at_most=20)
    room.error(abs(change.began - 6000), at_most=40)
    errors = {part.name: part.after / part.before for part in change.features}
    assert min(errors[2], errors[5]) > 3
    assert sorted(part.name for part in change.atoms) == [0, 1, 2]
    for when in ("before", "after"):
        assert sum(getattr(part, when) for part in change.atoms) == pytest.approx(1, abs=1e-6)


def test_names_of_columns_and_sparse_rows():
    pandas = pytest.importorskip("pandas")
    names = [f"column {j}" for j in range(8)]
    rng = np.random.default_rng(4)
    frames = (pandas.DataFrame(X, columns=names) for X in stream(400, 300, rng))
    assert watched(frames)[1].found[0].features[0].name in names
    batches = (sp.csr_array(X) for X in stream(400, 300, np.random.default_rng(4)))
    assert isinstance(watched(batches)[1].found[0].features[0].name, int)


def test_what_is_not_told_costs_no_bit():
    rng = np.random.default_rng(5)
    batches = list(stream(400, 300, rng))
    plain = OnlineNMF(3, random_state=0).fit_stream(batches)
    np.testing.assert_array_equal(watched(batches)[0].components_, plain.components_)


def test_atoms_that_are_used_more_or_less_are_named_though_the_loss_stays(room):
    rng = np.random.default_rng(8)
    parts = np.kron(np.eye(4), np.ones(3))

    def batches(n, used):
        for _ in range(n):
            yield rng.exponential(size=(20, 4)) * used @ parts + 0.05 * rng.random((20, 12))

    def found(*laws, **settings):
        watch = ChangeWatch(**settings)
        model = OnlineNMF(4, schedule="harmonic", random_state=0).set_callbacks(watch)
        model.fit_stream(X for n, used in laws for X in batches(n, np.array(used)))
        return model, watch.found

    even, other = [1, 1, 1, 1], [0.2, 1, 1.8, 1]
    assert found((400, even), usage=True)[1] == []
    model, changes = found((300, even), (100, other), usage=True)
    by_use = [change for change in changes if change.cause == "usage"]
    atoms = {int(model.components_[x.atoms[0].name].argmax()) // 3: x for x in by_use}
    assert {0, 2} <= set(atoms)
    for place, rises in ((0, False), (2, True)):
        change = atoms[place]
        assert change.cause == "usage"
        assert change.step > 300
        room.error(change.step - 300, at_most=40)
        room.error(abs(change.began - 6000), at_most=100)
        assert (change.atoms[0].after > change.atoms[0].before) == rises
        assert change.features == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"false_alarm_every": 1}, "false_alarm_every must be a number of at least 10"),
        ({"n_rows": 0}, "n_rows must be"),
    ],
)
def test_settings_out_of_range(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        ChangeWatch(**settings)
