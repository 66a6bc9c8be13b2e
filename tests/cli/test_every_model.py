"""Every class of models, saved to a file: all verbs that look answer, or refuse in one sentence."""

import json

import networkx as nx
import numpy as np
import pytest
from commands import refused

import atomstream
from atomstream.cli import main
from atomstream.files.registry import models

SHOWN = sorted(models())
ROWS = ("OnlineNMF", "OnlineDictionaryLearning", "OnlineConvexMF")
CODES = {
    **dict.fromkeys((*ROWS, "BatchNMF", "ConsensusNMF", "SupervisedDictionary"), "x.csv"),
    **dict.fromkeys(("OnlineCPDictionary", "VideoDictionary"), "frames.npy"),
    "TopicModel": "docs.txt",
}
SHAPES = {"SupervisedDictionary": (8, 4), "TopicModel": (20, 2), "VideoDictionary": (8, 2)}
REBUILDS = {"ImageDictionary": "picture.png", "NetworkDictionary": "edges.txt"}
DOCUMENTS = ["cat dog horse", "stock bond market", "dog mouse cat", "bond trade stock"] * 5


def models():
    rng = np.random.default_rng(0)
    X, pictures = (
        rng.random((60, 6)),
        {"grass": rng.random((16, 16, 3)), "sky": np.ones((16, 16, 3))},
    )
    seeded = dict(random_state=0)
    return {
        "BatchNMF": atomstream.BatchNMF(2, 1, **seeded).fit(X),
        "ColorRestorer": atomstream.ColorRestorer(2, 4, n_patches=50, **seeded).fit(pictures),
        "ConsensusNMF": atomstream.ConsensusNMF([3], n_replicates=3, n_epochs=2, **seeded).fit(X),
        "ImageDictionary": atomstream.ImageDictionary(4, 4, n_patches=60, **seeded).fit(
            pictures["grass"]
        ),
        "NetworkDictionary": atomstream.NetworkDictionary(
            "path:3", 3, n_batches=3, batch_size=40, **seeded
        ).fit(nx.karate_club_graph()),
        "OnlineCPDictionary": atomstream.OnlineCPDictionary(3, **seeded).fit(
            rng.random((30, 4, 5))
        ),
        "OnlineConvexMF": atomstream.OnlineConvexMF(3, n_representatives=12, **seeded).fit(X),
        "OnlineDictionaryLearning": atomstream.OnlineDictionaryLearning(3, **seeded).fit(X - 0.5),
        "OnlineNMF": atomstream.OnlineNMF(3, **seeded).fit(X),
        "RandomWalkFactorization": atomstream.RandomWalkFactorization(3, **seeded).fit(
            np.cumsum(rng.integers(-1, 2, 500)) % 9
        ),
        "SeriesDictionary": atomstream.SeriesDictionary(3, 5, **seeded).fit(X),
        "SupervisedDictionary": atomstream.SupervisedDictionary(3, n_epochs=2, **seeded).fit(
            X, np.arange(len(X)) % 3
        ),
        "TopicModel": atomstream.TopicModel(2, n_features=64, n_epochs=2, **seeded).fit(DOCUMENTS),
        "VideoDictionary": atomstream.VideoDictionary(2, **seeded).fit(rng.random((9, 4, 5))),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from PIL import Image

    folder = tmp_path_factory.mktemp("models")
    for name, model in models().items():
        atomstream.save(model, folder / f"{name}.atoms")
    np.savetxt(folder / "x.csv", np.random.default_rng(1).random((8, 6)), delimiter=",")
    np.save(folder / "frames.npy", np.random.default_rng(1).random((8, 4, 5)))
    (folder / "docs.txt").write_text("\n".join(DOCUMENTS))
    nx.write_edgelist(nx.karate_club_graph(), folder / "edges.txt", data=False)
    Image.fromarray(np.full((9, 9, 3), 200, np.uint8)).save(folder / "picture.png")
    return folder


def test_all_classes_of_models_are_here(folder):
    assert sorted(models()) == sorted(path.stem for path in folder.glob("*.atoms"))
    assert len(models()) == 14


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
    keys = {"RandomWalkFactorization": "clusters", "TopicModel": "topics"}
    rows = found[keys.get(name, "atoms")]
    if name != "RandomWalkFactorization":  # its clusters are made by `partition`
        shares = [row["code_share"] for row in rows]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-9 or name == "ColorRestorer"


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
    arguments = ("encode", folder / f"{name}.atoms", folder / CODES.get(name, "x.csv"))
    if name not in CODES:
        assert "has learned from" in refused(capsys, *arguments, "--out", tmp_path / "codes.csv")
        return
    assert main([*map(str, arguments), "--out", str(tmp_path / "codes.csv")]) == 0
    codes = np.loadtxt(tmp_path / "codes.csv", delimiter=",", skiprows=1)
    assert codes.shape == SHAPES.get(name, (8, 3))


@pytest.mark.parametrize("name", SHOWN)
def test_reconstruct_writes_a_file_or_refuses(folder, tmp_path, capsys, name):
    out = tmp_path / ("out.csv" if name == "NetworkDictionary" else "out.png")
    arguments = (
        "reconstruct",
        folder / f"{name}.atoms",
        folder / REBUILDS.get(name, "picture.png"),
    )
    if name not in REBUILDS:
        sentence = refused(capsys, *arguments, "--out", out)
        assert (
            "has learned from" in sentence or "is no run that has learned from images" in sentence
        )
        return
    assert main([*map(str, arguments), "--out", str(out)]) == 0
    assert out.stat().st_size
