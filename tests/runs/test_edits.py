"""Edits of atoms: what they do to tables and codes, and lists that make no sense."""

import json

import numpy as np
import pytest

import atomstream
from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.looks.pages import cards_of, edits_of
from atomstream.looks.record import read_edits
from atomstream.runs.record import open_record

X = np.random.default_rng(0).random((300, 6))


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits")
    np.save(folder / "x.npy", X)
    model = OnlineNMF(5, random_state=0).fit(X)
    atomstream.save(model, folder / "m.atoms")
    return folder


def written(path, *edits, **facts):
    path.write_text(json.dumps({"format": 1, "atoms": 5, "edits": edits} | facts))
    return path


@pytest.fixture
def edited(learned, tmp_path):
    """A model file whose atoms 1 and 4 are one, called rain, without 0, with 2 hidden."""
    (tmp_path / "m.atoms").write_bytes((learned / "m.atoms").read_bytes())
    edits = written(
        tmp_path / "e.json",
        {"atom": 1, "name": "rain", "state": "accepted"},
        {"atom": 0, "state": "rejected"},
        {"atom": 4, "into": 3},
        {"atom": 3, "into": 1},
        {"atom": 2, "hidden": True},
    )
    assert main(["edit", str(tmp_path / "m.atoms"), str(edits)]) == 0
    return tmp_path / "m.atoms"


def test_codes_of_one_atom_are_added_and_rejected_ones_left_out(edited, learned, tmp_path):
    before = edited.read_bytes()
    out = tmp_path / "codes.csv"
    assert main(["encode", str(edited), str(learned / "x.npy"), "--out", str(out)]) == 0
    assert out.read_text().splitlines()[0] == "rain,atom_2"
    codes = atomstream.load(edited).transform(X)
    wanted = np.column_stack([codes[:, [1, 3, 4]].sum(axis=1), codes[:, 2]])
    np.testing.assert_allclose(np.loadtxt(out, delimiter=",", skiprows=1), wanted, rtol=1e-12)
    assert edited.read_bytes() == before


def test_tables_show_names_and_shares_of_what_was_merged(edited, capsys):
    capsys.readouterr()
    assert main(["inspect", str(edited), "--json"]) == 0
    atoms = json.loads(capsys.readouterr().out)["atoms"]
    shares = atomstream.load(edited).importance_
    assert [atom["atom"] for atom in atoms] == [1]
    assert atoms[0]["code_share"] == pytest.approx(shares[[1, 3, 4]].sum())
    assert atoms[0]["features"].startswith("rain")
    assert main(["inspect", str(edited)]) == 0
    assert "rain" in capsys.readouterr().out


def test_what_is_written_is_what_was_read(edited):
    record = open_record(edited)
    assert read_edits(record.results / "edits.json", 5) == edits_of(record)
    cards = cards_of(record)
    assert len(cards.cards) == 5
    assert cards.saved["edits"] == edits_of(record).as_dict()["edits"]


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ([{"atom": 5}], "5 is no atom; they go from 0 to 4"),
        ([{"atom": -1}], "-1 is no atom"),
        ([{"atom": True}], "True is no atom"),
        ([{"atom": None}], "None is no atom"),
        ([{"atom": 1.0}], "1.0 is no atom"),
        ([{"atom": 1, "into": 9}], "9 is no atom"),
        ([{"atom": 1, "into": 1}], "atom 1 is merged into itself"),
        ([{"atom": 1, "into": 2}, {"atom": 2, "into": 1}], "atom 1 is merged into itself"),
        ([{"atom": 1}, {"atom": 1}], "atom 1 was edited before"),
        ([{"atom": 1, "colour": "red"}], "an edit has an atom"),
        (["rain"], "an edit has an atom"),
        ([{"atom": 1, "name": "a\nb"}], "name must be a line of at most 120 characters"),
        ([{"atom": 1, "name": "x" * 121}], "name must be a line"),
        ([{"atom": 1, "state": "perhaps"}], "state is accepted, rejected or empty"),
        ([{"atom": 1, "hidden": 1}], "hidden true or false"),
        ([{"atom": 1, "name": "a"}, {"atom": 2, "name": "a"}], "several atoms are called 'a'"),
    ],
)
def test_edits_that_make_no_sense_are_refused(learned, tmp_path, capsys, edits, sentence):
    path = written(tmp_path / "e.json", *edits)
    assert main(["edit", str(learned / "m.atoms"), str(path)]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (learned / "m-report/edits.json").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is no list of edits"),
        ("[" * 100_000, "is no list of edits"),
        ("[]", "save one from the report"),
        ('{"edits": {}}', "save one from the report"),
        ('{"format": 2, "edits": []}', "format 2, this release reads 1"),
        ('{"format": 1, "atoms": 4, "edits": []}', "model with 4 atoms, this one has 5"),
    ],
)
def test_files_that_are_no_edits_are_refused(learned, tmp_path, capsys, text, sentence):
    path = tmp_path / "e.json"
    path.write_text(text)
    assert main(["edit", str(learned / "m.atoms"), str(path)]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_run_is_edited_too_and_the_edits_of_another_are_refused(learned, tmp_path, capsys):
    for name in ("one", "two"):
        words = ["learn", str(learned / "x.npy"), "--atoms", "5", "--out", str(tmp_path / name)]
        assert main(words) == 0
    record = open_record(tmp_path / "one")
    origin = {"run": record.notes["run"], "step": record.learner.n_steps_}
    path = written(tmp_path / "e.json", {"atom": 1, "name": "rain"}, **origin)
    assert main(["edit", str(tmp_path / "two"), str(path)]) == 2
    assert "another run" in capsys.readouterr().err
    assert main(["edit", str(tmp_path / "one"), str(path)]) == 0
    assert capsys.readouterr().err == ""
    assert main(["watch", str(tmp_path / "one"), "--once"]) == 0
    assert "rain" in capsys.readouterr().out
    written(path, {"atom": 1, "name": "rain"}, run=origin["run"], step=origin["step"] - 1)
    assert main(["edit", str(tmp_path / "one"), str(path)]) == 0
    assert "look whether" in " ".join(capsys.readouterr().err.split())


def test_a_name_that_is_the_number_of_another_atom_is_refused_in_codes(learned, tmp_path, capsys):
    (tmp_path / "m.atoms").write_bytes((learned / "m.atoms").read_bytes())
    path = written(tmp_path / "e.json", {"atom": 1, "name": "atom_2"})
    assert main(["edit", str(tmp_path / "m.atoms"), str(path)]) == 0
    words = ["encode", str(tmp_path / "m.atoms"), str(learned / "x.npy")]
    assert main([*words, "--out", str(tmp_path / "c.csv")]) == 2
    assert "Two columns would be called 'atom_2'" in capsys.readouterr().err
