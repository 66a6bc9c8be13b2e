"""Atoms have one number, counted from 0, in tables, pictures, columns of codes and reports."""

import re

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_allclose

from atomstream import OnlineNMF, plots, save
from atomstream.cli import main
from atomstream.looks import look_of
from atomstream.runs.record import open_record

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(200, 4)) * [1, 3, 1, 2] @ RNG.random((4, 9))


def rows():
    return OnlineNMF(4, n_epochs=3, random_state=0).fit(X)


PICTURES = {
    "patches": (rows, lambda model: plots.atoms(model, (3, 3))),
    "curves": (rows, plots.curves),
    "bars": (rows, plots.bars),
    **of_fields("atom_numbers"),
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
