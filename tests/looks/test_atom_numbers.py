"""Atoms have one number, counted from 0, in tables, pictures, columns of codes and reports."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from atomstream import (
    NetworkDictionary,
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineNMF,
    SeriesDictionary,
    TopicModel,
    VideoDictionary,
    plots,
    save,
)
from atomstream.cli import main
from atomstream.looks import look_of
from atomstream.runs.record import open_record

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(200, 4)) * [1, 3, 1, 2] @ RNG.random((4, 9))
TABLE = RNG.random((60, 2)) + np.sin(np.arange(60))[:, None] + 1
RING = np.roll(np.eye(20), 1, axis=1) + np.eye(20)[::-1]
WORDS = ["cat dog mouse", "stock bond market", "goal team match", "rain snow wind"]


def rows():
    return OnlineNMF(4, n_epochs=3, random_state=0).fit(X)


def network():
    return NetworkDictionary("path:3", 4, n_batches=4, random_state=0).fit(RING + RING.T)


def series():
    return SeriesDictionary(4, window=5, random_state=0).fit(TABLE, init=TABLE)


def topics():
    texts = [WORDS[i] for i in RNG.integers(0, 4, 100)]
    return TopicModel(4, vectorizer="counts", n_epochs=2, random_state=0).fit(texts)


def video():
    frames = RNG.random((30, 6, 6))
    return VideoDictionary(4, mode="pixels", n_epochs=2, random_state=0).fit(frames)


PICTURES = {
    "patches": (rows, lambda model: plots.atoms(model, (3, 3))),
    "curves": (rows, plots.curves),
    "bars": (rows, plots.bars),
    "loadings": (
        lambda: OnlineCPDictionary(4, random_state=0).fit(X.reshape(200, 3, 3)),
        plots.loadings,
    ),
    "network": (network, plots.network_atoms),
    "series": (series, plots.series_atoms),
    "topics": (topics, plots.topics),
    "video": (video, plots.temporal_atoms),
}


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", PICTURES)
def test_a_number_in_a_picture_is_the_place_in_components(name):
    make, draw = PICTURES[name]
    model = make()
    shares = model.importance_
    texts = [text for axes in draw(model).axes for text in (axes.get_title(), axes.get_ylabel())]
    found = [re.match(r"(?:atom |topic )?(\d+): ([\d.]+) %", text) for text in texts]
    told = {int(each[1]): float(each[2]) for each in found if each}
    assert sorted(told) == [0, 1, 2, 3]
    assert len(set(told.values())) > 1, "shares that differ tell atoms apart"
    assert_allclose([told[atom] for atom in range(4)], 100 * shares, atol=0.051)


def test_changes_and_parts_name_the_same_atoms():
    model = series()
    moved = [
        re.match(r"atom (\d+): (\d+) %", a.get_title()) for a in plots.series_change(model).axes
    ]
    told = {int(each[1]): int(each[2]) for each in moved if each}
    before, after = (part.reshape(4, -1) for part in (model.initial_atoms_, model.atoms_))
    cosines = (
        (before * after).sum(1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    )
    assert_allclose([told[atom] for atom in range(4)], 100 * (1 - cosines), atol=0.51)
    model = OnlineConvexMF(3, n_representatives=30, alpha=0.05, random_state=0).fit(X)
    for axes in plots.parts(model).axes:
        atom = int(re.match(r"atom (\d+)", axes.get_title())[1])
        ids = [label.get_text() for label in axes.get_yticklabels()]
        assert ids == [str(part.id) for part in model.explain(atom, 5)]


def test_a_number_in_a_table_is_that_of_a_column_of_codes(tmp_path):
    model = rows()
    save(model, tmp_path / "m.atoms")
    np.save(tmp_path / "x.npy", X)
    codes = str(tmp_path / "codes.csv")
    assert main(["encode", str(tmp_path / "m.atoms"), str(tmp_path / "x.npy"), "--out", codes]) == 0
    with open(codes, encoding="utf-8") as file:
        assert file.readline().strip().split(",") == [f"atom_{atom}" for atom in range(4)]
    written = np.loadtxt(codes, delimiter=",", skiprows=1)
    assert_allclose(written, model.transform(X))
    record = open_record(tmp_path / "m.atoms")
    for atom, share, _, _ in look_of(record.model).table(record, 4).rows:
        assert share == model.importance_[atom]
