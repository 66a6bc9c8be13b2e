"""Every class of models, saved to a file: all verbs that look answer, or refuse in one sentence."""

import json

import numpy as np
import pytest
from cases import of_fields
from commands import refused

import atomstream
from atomstream.cli import main
from atomstream.files.registry import models

SHOWN = sorted(models())


def rows(rng):
    return rng.random((60, 6))


# By their classes: a model that has learned; files that it needs; what it makes codes of, and the
# shape of these; what it rebuilds, and to what kind of file; the word for its atoms, and what their
# shares add up to at most.
MODELS = {
    "BatchNMF": {
        "learned": lambda rng: atomstream.BatchNMF(2, 1, random_state=0).fit(rows(rng)),
        "codes": "x.csv",
    },
    "OnlineDictionaryLearning": {
        "learned": lambda rng: atomstream.OnlineDictionaryLearning(3, random_state=0).fit(
            rows(rng) - 0.5
        ),
        "codes": "x.csv",
    },
    "OnlineNMF": {
        "learned": lambda rng: atomstream.OnlineNMF(3, random_state=0).fit(rows(rng)),
        "codes": "x.csv",
    },
    **of_fields("every_model"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from PIL import Image

    folder = tmp_path_factory.mktemp("models")
    np.savetxt(folder / "x.csv", np.random.default_rng(1).random((8, 6)), delimiter=",")
    np.save(folder / "frames.npy", np.random.default_rng(1).random((8, 4, 5)))
    Image.fromarray(np.full((9, 9, 3), 200, np.uint8)).save(folder / "picture.png")
    for name, case in MODELS.items():
        atomstream.save(case["learned"](np.random.default_rng(0)), folder / f"{name}.atoms")
        case.get("writes", lambda folder: None)(folder)
    return folder


def test_all_classes_of_models_are_here(folder):
    assert sorted(path.stem for path in folder.glob("*.atoms")) == SHOWN
    assert len(MODELS) - len(of_fields("every_model")) == 3


@pytest.mark.parametrize("name", SHOWN)
def test_inspect_shows_the_model_and_its_atoms(folder, capsys, name):
    path = folder / f"{name}.atoms"
    assert main(["inspect", str(path)]) == 0
    screen = capsys.readouterr().out.splitlines()
    assert name in screen[1]
    assert max(map(len, screen)) <= 120
    assert main(["inspect", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == name
    assert found["complete"] is None
    assert {"components", "features", "samples", "steps", "objective"} <= set(found)
    table = found[MODELS[name].get("atoms", "atoms")]
    most = MODELS[name].get("most", 1)
    if most is not None:
        shares = [row["code_share"] for row in table]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= most + 1e-9


@pytest.mark.cover(6)
@pytest.mark.parametrize("name", SHOWN)
def test_report_and_plot_write_their_files(folder, capsys, name):
    path = folder / f"{name}.atoms"
    assert main(["report", str(path)]) == 0
    page = (folder / f"{name}-report/report.html").read_text(encoding="utf-8")
    assert "What was learned" in page
    assert ">How<" in page
    assert main(["plot", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert bool(told["figures"]) == ("<img" in page)


@pytest.mark.parametrize("name", SHOWN)
def test_encode_writes_codes_or_refuses(folder, tmp_path, capsys, name):
    arguments = ("encode", folder / f"{name}.atoms", folder / MODELS[name].get("codes", "x.csv"))
    if "codes" not in MODELS[name]:
        assert "has learned from" in refused(capsys, *arguments, "--out", tmp_path / "codes.csv")
        return
    assert main([*map(str, arguments), "--out", str(tmp_path / "codes.csv")]) == 0
    codes = np.loadtxt(tmp_path / "codes.csv", delimiter=",", skiprows=1)
    assert codes.shape == MODELS[name].get("shape", (8, 3))


@pytest.mark.parametrize("name", SHOWN)
def test_reconstruct_writes_a_file_or_refuses(folder, tmp_path, capsys, name):
    out = tmp_path / f"out.{MODELS[name].get('kind', 'png')}"
    arguments = (
        "reconstruct",
        folder / f"{name}.atoms",
        folder / MODELS[name].get("rebuilds", "picture.png"),
    )
    if "rebuilds" not in MODELS[name]:
        sentence = refused(capsys, *arguments, "--out", out)
        assert (
            "has learned from" in sentence or "is no run that has learned from images" in sentence
        )
        return
    assert main([*map(str, arguments), "--out", str(out)]) == 0
    assert out.stat().st_size
