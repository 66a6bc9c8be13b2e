"""Births, deaths, splits, merges and drift of atoms that were planted are found, and no others."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.looks.report import became
from atomstream.watch.callbacks import History
from atomstream.watch.history import Snapshots
from atomstream.watch.lives import atoms_over_time

PARTS = np.kron(np.eye(6), np.ones(4))  # atoms with nothing in common


def of(*dictionaries, usage=None):
    """Return a history with these snapshots, 100 samples apart."""
    history = History()
    for number, atoms in enumerate(dictionaries, 1):
        history.snapshots.take(np.asarray(atoms, float), number, 100 * number)
        for name, values in history.points.items():
            values.append(number if name == "step" else 0.0)
        r = len(atoms)
        history.points["usage"][-1] = [1 / r] * r if usage is None else usage[number - 1]
    return history


def events(history, **known):
    found = atoms_over_time(history, **known).events
    return [(event.n_samples, event.kind, event.life, event.other) for event in found]


a, b, c, d, e, f = PARTS


def test_nothing_happens_to_atoms_that_stay_or_change_places():
    assert events(of([a, b, c], [a, b, c])) == []
    moved = atoms_over_time(of([a, b, c], [c, a, b]))
    assert moved.events == []
    assert [moment.life for moment in moved.moments[3:]] == [2, 0, 1]
    assert events(of([a, b, c], [a + 0.2 * b, b, c + 0.2 * d])) == []


def test_a_new_atom_is_born_where_an_old_one_dies():
    assert events(of([a, b, c], [a, b, d])) == [(200, "birth", 3, None), (200, "death", 2, None)]


def test_the_beginning_ends_where_few_atoms_are_new():
    turned = [[a, b, c, d], [e, f, c, d], [e, f, a, b], [e, f, a, c], [e, f, b, d]]
    assert atoms_over_time(of(*turned[:1])).formed == 0
    assert atoms_over_time(of(*turned[:3])).formed == 300  # half are new, each time
    assert atoms_over_time(of(*turned[:3], turned[2], turned[4])).formed == 300
    assert atoms_over_time(of(turned[0], turned[0], turned[1])).formed == 0


def test_the_report_lists_what_follows_the_beginning_and_the_latest_first():
    turned = [[a, b, c, d], [e, f, c, d], [e, f, c, d], [e, f, c, b], [e, f, a, b]]
    (section,) = became(SimpleNamespace(history=of(*turned), notes={}), "rows")
    place = section.columns.index("rows by then")
    assert [row[place] for row in section.rows] == ["500", "500", "400", "400"]
    assert "4 events found" in section.caption
    assert "The first 200 rows, after which the atoms had formed, are left out" in section.caption
    (section,) = became(SimpleNamespace(history=of(*turned[1:]), notes={}), "rows")
    assert "left out" not in section.caption


def test_a_part_that_gets_an_atom_of_its_own_is_a_split():
    history = of([a + b, c, d], [a, c, b])  # d is given up for b
    assert events(history) == [(200, "split", 3, 0), (200, "death", 2, None)]


def test_two_atoms_that_become_one_are_a_merge():
    assert events(of([a, b, c], [a + b, d, c])) == [(200, "birth", 3, None), (200, "merge", 1, 0)]


def test_dense_atoms_are_not_the_same_because_they_are_alike():
    rng = np.random.default_rng(0)
    dense = rng.random((4, 200))  # cosines of 0.75
    other = np.vstack([dense[:3], rng.random(200)])
    assert events(of(dense, other)) == [(200, "birth", 4, None), (200, "death", 3, None)]


def test_signs_are_free_where_atoms_have_both():
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((4, 50))
    assert events(of(atoms, -atoms)) == []


def test_an_atom_that_is_not_used_rests_and_may_return():
    usage = [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    history = of(*[[a, b]] * 5, usage=usage)
    assert events(history) == [(300, "rest", 1, None), (500, "return", 1, None)]


def test_dates_and_drift():
    history = of([a, b], [a + 0.5 * c, b], [a + c, b])
    dates = np.datetime64("2020-01-01") + np.arange(300)
    found = atoms_over_time(history, dates)
    assert found.moments[2].when == dates[199]
    cosines = [1 / np.sqrt(1.25), 1.5 / np.sqrt(2.5)]
    assert found.drift[0] == pytest.approx(2 - sum(cosines), abs=1e-4)
    assert found.drift[1] == pytest.approx(0, abs=1e-4)
    rows = list(found.rows())
    assert len(rows) == 6
    assert rows[2][:4] == (200, dates[199], 0, 0)


def test_too_few_snapshots_tell_nothing():
    assert atoms_over_time(History()).moments == []
    assert atoms_over_time(of([a, b])).moments == []


def test_a_learner_that_meets_a_new_part_bears_an_atom():
    rng = np.random.default_rng(0)
    first = rng.exponential(size=(2000, 3)) @ PARTS[:3]
    second = rng.exponential(size=(2000, 3)) @ PARTS[[0, 1, 3]]
    X = np.vstack([first, second]) + 0.01 * rng.random((4000, 24))
    history = History()
    model = OnlineNMF(3, schedule="power", random_state=0)
    model.set_callbacks(history).fit_stream(np.split(X, 200))
    found = atoms_over_time(history)
    late = [event for event in found.events if event.n_samples > 1000]
    assert {event.kind for event in late} >= {"birth", "death"}
    assert all(event.n_samples > 2000 for event in late)
    (new,) = {event.life for event in late if event.kind == "birth"}
    last = [m for m in found.moments if m.n_samples == found.moments[-1].n_samples]
    assert new in {moment.life for moment in last}


def test_snapshots_thin_themselves_and_survive_being_saved():
    shots = Snapshots(4)
    rng = np.random.default_rng(0)
    kept = {}
    for step in range(1, 40):
        if shots.due(step):
            kept[step] = rng.standard_normal((3, 5))
            shots.take(kept[step], step, 10 * step)
        other = Snapshots(4)
        other.restore(shots.saved())
        assert other.saved()["every"] == shots.every
        np.testing.assert_array_equal(other.saved()["atoms"], shots.saved()["atoms"])
    assert len(shots) <= 4
    assert set(np.diff(shots.steps)) == {shots.every}
    for step, atoms in zip(shots.steps, shots.atoms, strict=True):
        wanted = kept[step] / np.abs(kept[step]).max(axis=1, keepdims=True)
        np.testing.assert_allclose(atoms, wanted, atol=2e-5)
    shots.take(rng.random((2, 7)), 41, 410)
    assert [atoms.shape for atoms in shots.atoms] == [(2, 7)]
    large = Snapshots()
    large.take(np.ones((2, 1 << 20)), 1, 1)
    assert len(large) == 0
    with pytest.raises(ValueError, match="snapshots of"):
        large.restore(shots.saved() | {"steps": np.zeros(3)})


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_the_report_writes_the_table(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((500, 6)))
    words = ["learn", str(tmp_path / "x.npy"), "--atoms", "3", "--batch-size", "50"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert main(["report", str(tmp_path / "run")]) == 0
    with (tmp_path / "run/atoms_over_time.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["atom"] for row in rows} == {"0", "1", "2"}
    assert "What became of the atoms" in (tmp_path / "run/report.html").read_text(encoding="utf-8")
