"""Network runs: what they write, that they can be stopped, and their report."""

import csv
import json
import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from commands import plotted, run
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import NetworkDictionary, plots
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.run import NetworkSettings, NetworkTask
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import open_record
from atomstream.runs.run import Run

GRAPH = nx.Graph(
    nx.relabel_nodes(nx.planted_partition_graph(3, 20, 0.5, 0.05, seed=0), "node {}".format).edges
)


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    nx.write_graphml(GRAPH, folder / "graph.graphml")
    nx.write_gml(GRAPH, folder / "graph.gml")
    sp.save_npz(folder / "graph.npz", nx.to_scipy_sparse_array(GRAPH))
    lines = [f"{u.split()[1]} {v.split()[1]}" for u, v in GRAPH.edges]
    (folder / "edges.txt").write_text("# a comment\n" + "\n".join(lines) + "\n")
    np.save(folder / "x.npy", np.random.default_rng(0).random((30, 4)))
    common = ("--motif", "path:5", "--atoms", 6, "--batches", 8, "--batch-size", 100)
    run("network", "learn", folder / "edges.txt", *common, "--out", folder / "run")
    run("learn", folder / "x.npy", "--atoms", 2, "--out", folder / "rows")
    (folder / "named.csv").write_text("\n".join(f"{u},{v}" for u, v in GRAPH.edges))
    return folder


def test_a_run_holds_what_the_class_learns(folder):
    model = NetworkDictionary("path:5", 6, n_batches=8, batch_size=100, random_state=0).fit(
        folder / "edges.txt"
    )
    again = atomstream.load(folder / "run")
    assert_array_equal(again.components_, model.components_)
    assert_array_equal(again.importance_, model.importance_)


@pytest.mark.parametrize("ending", ["graphml", "gml", "npz"])
def test_networks_are_read_from_other_files(folder, ending, tmp_path):
    run(
        "network",
        "learn",
        folder / f"graph.{ending}",
        "--motif",
        "path:5",
        "--atoms",
        3,
        "--batches",
        2,
        "--out",
        tmp_path / "run",
    )
    model = NetworkDictionary("path:5", 3, n_batches=2, random_state=0).fit(GRAPH)
    assert_array_equal(atomstream.load(tmp_path / "run").components_, model.components_)


def test_a_reconstruction_worse_than_no_network_is_told_wherever_it_is_shown(tmp_path, capsys):
    graph, rng = nx.barabasi_albert_graph(200, 3, seed=1), np.random.default_rng(0)
    lines = [f"{u} {v} {rng.pareto(1.0) + 0.1:.4f}" for u, v in graph.edges]
    (tmp_path / "heavy.txt").write_text("\n".join(lines) + "\n")
    common = ("--motif", "path:9", "--atoms", 9, "--batches", 20, "--batch-size", 500)
    run("network", "learn", tmp_path / "heavy.txt", *common, "--out", tmp_path / "run")
    told = r"The\s+reconstruction\s+is\s+off\s+by\s+\d+\.\d\d\s+of\s+the\s+norm"
    capsys.readouterr()
    run("inspect", tmp_path / "run")
    assert re.search(told, capsys.readouterr().out)
    run("network", "reconstruct", tmp_path / "run", "--steps", 50_000)
    assert re.search(told, capsys.readouterr().err)
    run("report", tmp_path / "run")
    assert re.search(told, (tmp_path / "run/report.html").read_text())


def test_a_run_that_says_more_than_nothing_has_no_remark(folder, capsys):
    capsys.readouterr()
    run("inspect", folder / "run")
    assert "remark" not in capsys.readouterr().out


def test_a_run_that_was_stopped_goes_on_to_the_bit(folder, tmp_path, capsys):
    settings = NetworkSettings(
        (str(folder / "edges.txt"),),
        motif="path:5",
        atoms=6,
        batches=8,
        batch_size=100,
        checkpoint_every=0.0,
    )
    begun = RunFolder(tmp_path / "run")
    with begun.writing():
        session = Run(begun, NetworkTask(settings))
        begun.begin(settings, session.task.sources)
        saves = []
        save, begun.save = (
            begun.save,
            lambda *a: (save(*a), saves.append(1), len(saves) == 3 and session.stop("test")),
        )
        outcome = session.run(lambda text: atomstream.watch.callbacks.History())
    assert not outcome.complete
    assert outcome.reason == "test"
    assert atomstream.load(tmp_path / "run").n_steps_ == 3
    run("resume", tmp_path / "run", "--json")
    assert json.loads(capsys.readouterr().out)["batches"] == 8
    assert_array_equal(
        atomstream.load(tmp_path / "run").components_, atomstream.load(folder / "run").components_
    )
    run("resume", tmp_path / "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    run("resume", tmp_path / "run", "--batches", 9)
    assert atomstream.load(tmp_path / "run").n_steps_ == 9


def test_all_copies_as_a_run_can_be_stopped_too(folder, tmp_path, capsys):
    settings = ("--chain", "all", "--motif", "path:3", "--atoms", 3, "--batches", 30)
    run("network", "learn", folder / "edges.txt", *settings, "--out", tmp_path / "whole")
    run(
        "network",
        "learn",
        folder / "edges.txt",
        *settings,
        "--max-time",
        "0.001",
        "--out",
        tmp_path / "cut",
        "--json",
    )
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not told["complete"]
    assert told["batches"] < 30
    run("resume", tmp_path / "cut")
    whole, cut = (atomstream.load(tmp_path / name) for name in ("whole", "cut"))
    assert whole.n_steps_ == cut.n_steps_ == 30
    assert_array_equal(whole.components_, cut.components_)


def test_a_config_may_name_its_network_relatively(folder, tmp_path, monkeypatch):
    (tmp_path / "my.toml").write_text(
        'domain = "network"\ninputs = ["edges.txt"]\natoms = 3\nbatches = 2\n'
    )
    monkeypatch.chdir(folder)
    run("network", "learn", "--config", tmp_path / "my.toml", "--out", tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    run("resume", "run", "--batches", 3)
    assert atomstream.load("run").n_steps_ == 3


def test_a_config_does_the_same_again(folder, tmp_path):
    run("network", "learn", "--config", folder / "run/run.toml", "--out", tmp_path / "again")
    assert_array_equal(
        atomstream.load(tmp_path / "again").components_, atomstream.load(folder / "run").components_
    )


def test_reconstruction_and_ranking_are_those_of_the_class(folder, tmp_path, capsys):
    model = atomstream.load(folder / "run")
    rebuilt = model.reconstruct(folder / "edges.txt", n_steps=3000)
    run("network", "reconstruct", folder / "run", "--steps", 3000, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["share_of_edges_visited"] == round(rebuilt.coverage, 4)
    rows = table(folder / "run/reconstruction.csv")
    assert len(rows) == len(rebuilt.pairs())
    assert_allclose(
        [float(row["weight"]) for row in rows],
        rebuilt.weights([(r["tail"], r["head"]) for r in rows]),
    )
    run(
        "network",
        "reconstruct",
        folder / "run",
        folder / "edges.txt",
        "--steps",
        3000,
        "--out",
        tmp_path / "r.npz",
    )
    assert_array_equal(sp.load_npz(tmp_path / "r.npz").toarray(), rebuilt.matrix.toarray())
    for pairs in ("edges", "non-edges"):
        ranking = model.denoise(folder / "edges.txt", pairs, n_steps=3000)
        run("network", "denoise", folder / "run", "--pairs", pairs, "--steps", 3000)
        rows = table(folder / f"run/{pairs}.csv")
        assert [(row["tail"], row["head"]) for row in rows] == ranking.pairs
        for name in ("score", "low", "high", "visits"):
            values = getattr(ranking.found, {"score": "scores"}.get(name, name))
            assert_allclose([float(row[name] or "nan") for row in rows], values)
        told = capsys.readouterr().out
        share = "edges" if pairs == "edges" else "non_edges"
        assert f"share_of_{share}_visited: {round(ranking.coverage, 4)}" in told
        assert f"base_rate: {round(ranking.shrinkage.base, 4)}" in told


# -- networks as users have them
# --------------------------------------------------------------------------------------------------

FEW = ("--motif", "path:5", "--atoms", 2, "--batches", 3, "--batch-size", 50)


def one_way(folder):
    """Return a network with directions and two components, and write it in an unusual form."""
    ends = [*nx.gnp_random_graph(20, 0.3, seed=0, directed=True).edges, (20, 21), (21, 22)]
    weights = np.random.default_rng(0).integers(1, 9, len(ends)) / 2
    graph, lines = nx.DiGraph(), ["from:to:n:kind"]
    for (u, v), weight in zip(ends, weights.tolist(), strict=True):
        graph.add_edge(f"node {u}", f"node {v}", weight=weight)
        lines.append(f"node {u}:node {v}:{str(weight).replace('.', ',')}:x")
    path = folder / "edges.txt"
    path.write_text("\n".join(lines))
    return Network.of(graph).largest_component(), path


READ = ("--directed", "--weight", "n", "--delimiter", ":", "--decimal", ",", "--largest-component")


def test_edges_are_read_as_asked_and_in_the_same_way_ever_after(tmp_path, capsys):
    network, path = one_way(tmp_path)
    folder = tmp_path / "run"
    run("network", "learn", path, *FEW, *READ, "--out", folder)
    settings = NetworkDictionary("path:5", 2, n_batches=3, batch_size=50, random_state=0)
    model = settings.fit(network)
    assert_array_equal(atomstream.load(folder).components_, model.components_)
    run("resume", folder, "--batches", 4)
    model.partial_fit(network)
    assert_array_equal(atomstream.load(folder).components_, model.components_)
    ranking, rebuilt = model.denoise(network, n_steps=500), model.reconstruct(network, n_steps=500)
    for edges in ((), (path,)):
        run("network", "denoise", folder, *edges, "--steps", 500, "--out", tmp_path / "edges.csv")
        rows = table(tmp_path / "edges.csv")
        assert [(row["tail"], row["head"]) for row in rows] == ranking.pairs
        assert_allclose([float(row["score"] or "nan") for row in rows], ranking.scores)
        out = tmp_path / "rebuilt.npz"
        run("network", "reconstruct", folder, *edges, "--steps", 500, "--out", out)
        assert_array_equal(sp.load_npz(out).toarray(), rebuilt.matrix.toarray())
    capsys.readouterr()
    run("inspect", folder)
    assert "Warning" not in capsys.readouterr().err


def test_a_model_file_is_told_how_to_read_edges(tmp_path):
    network, path = one_way(tmp_path)
    settings = {"n_batches": 3, "batch_size": 50, "random_state": 0}
    model = NetworkDictionary("path:5", 2, **settings).fit(network)
    atomstream.save(model, tmp_path / "my.atoms")
    out = tmp_path / "rebuilt.npz"
    run("network", "reconstruct", tmp_path / "my.atoms", path, *READ, "--steps", 500, "--out", out)
    rebuilt = model.reconstruct(network, n_steps=500)
    assert_array_equal(sp.load_npz(out).toarray(), rebuilt.matrix.toarray())
    wrong = ("--no-directed", *READ[1:])
    run("network", "reconstruct", tmp_path / "my.atoms", path, *wrong, "--steps", 500, "--out", out)
    assert np.abs(sp.load_npz(out).toarray() - rebuilt.matrix.toarray()).max() > 0.1


def test_lost_directions_and_components_are_warned_of_with_the_option_that_helps(tmp_path, capsys):
    _, path = one_way(tmp_path)
    run("network", "learn", path, *FEW, "--delimiter", ":", "--out", tmp_path / "run")
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Warning")]
    for wanted in ("--directed, --no-directed", "--largest-component"):
        assert sum(wanted in line for line in told) == 1
    run("network", "learn", path, *FEW, *READ, "--no-directed", "--out", tmp_path / "other")
    assert "Warning" not in capsys.readouterr().err


def test_atoms_that_are_single_edges_are_warned_of(folder, tmp_path, capsys):
    settings = ("--motif", "path:5", "--batches", 2, "--batch-size", 50)
    run("network", "learn", folder / "edges.txt", *settings, "--out", tmp_path / "run")
    told = capsys.readouterr().err
    assert "Warning: 25 atoms for a motif of 5 nodes and 6 pairs" in told
    few = ("--batches", 2, "--batch-size", 50)
    run("network", "learn", folder / "edges.txt", *few, "--out", tmp_path / "default")
    assert "Warning" not in capsys.readouterr().err


@pytest.mark.slow
def test_the_report_and_inspect(folder, capsys, monkeypatch):
    run("inspect", folder / "run")
    told = capsys.readouterr().out
    assert "6 atoms of 5 x 5 nodes" in told
    assert "coverage of the edges" in told
    assert max(map(len, told.splitlines())) <= 118
    run("inspect", folder / "run", "--json")
    assert len(json.loads(capsys.readouterr().out)["atoms"]) == 6
    run("report", folder / "run")
    page = (folder / "run/report.html").read_text()
    assert page.count("<figure>") == 3
    for told in ("What was learned", "How well", "From what", "60", "undirected", "relative error"):
        assert told in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    plotted(monkeypatch, folder / "run")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_warnings_are_sentences(folder, tmp_path, capsys):
    (tmp_path / "two.txt").write_text("a b\nb c\nc a\nd e\ne f\nf d\n")
    run(
        "network",
        "learn",
        tmp_path / "two.txt",
        "--motif",
        "path:3",
        "--batches",
        2,
        "--out",
        tmp_path / "run",
    )
    assert capsys.readouterr().err.count("Warning: The network has 2 components") == 1
    run("network", "reconstruct", tmp_path / "run", "--steps", 50)
    told = capsys.readouterr().err
    assert told.startswith("Warning: The network has 2 components")
    assert len(told.splitlines()) == 1
    run("report", tmp_path / "run")
    assert "Warning" not in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_a_report_without_its_network_still_shows_the_atoms(folder, tmp_path):
    (tmp_path / "edges.txt").write_text((folder / "edges.txt").read_text())
    run(
        "network",
        "learn",
        tmp_path / "edges.txt",
        "--atoms",
        3,
        "--batches",
        2,
        "--out",
        tmp_path / "run",
    )
    (tmp_path / "edges.txt").unlink()
    run("report", tmp_path / "run")
    assert "cannot be read any more" in (tmp_path / "run/report.html").read_text()


def test_pictures_draw_their_data(folder):
    record = open_record(folder / "run")
    patches, shares = plots.network_atoms_data(record.model)
    order = np.argsort(-record.model.importance_, kind="stable")
    assert_allclose(
        patches[0], record.model.components_[order[0]] / record.model.components_[order[0]].max()
    )
    assert (np.diff(shares) <= 0).all()
    figure = plots.network_atoms(record.model, n_columns=3)
    shown = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert_allclose(np.array(shown), patches)
    before = nx.to_scipy_sparse_array(GRAPH)
    exact, blocks = plots.adjacency_data(before)[0], plots.adjacency_data(before, before, cells=7)
    assert_allclose(np.sort(exact.sum(axis=0)), np.sort(before.sum(axis=0)))
    assert_array_equal(blocks[0], blocks[1])
    sizes = np.bincount(np.arange(60) * 7 // 60)
    assert_allclose((blocks[0] * np.outer(sizes, sizes)).sum(), before.sum())
    assert len(plots.adjacency(before, before).axes) == 3


def test_pictures_of_spins():
    rng = np.random.default_rng(0)
    model = atomstream.OnlineNMF(9, random_state=0).fit(rng.random((200, 16)))
    image = rng.integers(0, 2, (12, 12))
    ((spin, mosaic, rebuilt),) = plots.spins_data([image], [model], [image / 2], (4, 4))
    assert_array_equal(spin, image)
    best = model.components_[np.argmax(model.importance_)]
    assert_allclose(mosaic[1:5, 1:5], (best / best.max()).reshape(4, 4))
    assert mosaic.shape == (18, 18)
    assert_array_equal(rebuilt, image / 2)
    figure = plots.spins([image] * 2, [model] * 2, [image] * 2, (4, 4), titles=["a", "b"])
    assert [axes.get_title() for axes in figure.axes[:2]] == ["a", "b"]
