"""Trips and walks on the command line: cells, partitions, maps, reports, and bad input."""

import csv
import json
import re
import shutil

import numpy as np
import pytest
from commands import refused, run
from decimal_commas import text_of
from kept_runs import KEPT, copied
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

import atomstream
from atomstream import RandomWalkFactorization, plots
from atomstream.cli import main
from atomstream.fields.walks import trips
from atomstream.files.codec import read_model, write_model


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def city(n=6000, seed=0):
    """Trips between 8 x 8 cells; nine of ten stay in the left or in the right half."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, 8, (2, n))
    stays = rng.random(n) < 0.9
    there = np.where(stays == (columns < 4), rng.integers(0, 4, n), rng.integers(4, 8, n))
    other = rng.integers(0, 8, n)
    # A river between the halves.
    east = [np.where(c < 4, 0, 0.05) for c in (columns, there)]
    places = zip((rows, other), (columns, there), east, strict=True)
    ends = [np.column_stack([-70 + 0.01 * c + e, -33 + 0.01 * r]) for r, c, e in places]
    return np.hstack(ends) + 0.001 * rng.random((n, 4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    rows = city()
    rows[5] = 0
    rows[6, 2] = np.nan
    np.save(folder / "trips.npy", rows)
    names = "a_lon,a_lat,b_lon,b_lat"
    lines = [
        ",".join("" if value != value else repr(float(value)) for value in row) for row in rows
    ]
    (folder / "trips.csv").write_text("\n".join([names, *lines]))
    walk = np.cumsum(np.random.default_rng(0).integers(-1, 2, 5000)) % 12
    np.save(folder / "walk.npy", walk)
    (folder / "walk.txt").write_text("\n".join(f"room {state}" for state in walk))
    ends = ("--origin", "1,2", "--destination", "3,4")
    common = ("--cell", "0.8km", "--rank", 3, "--clusters", 2, "--min-count", 5, "--passes", 2)
    run("walk", "partition", folder / "trips.npy", *ends, *common, "--out", folder / "run")
    return folder


@pytest.mark.slow
def test_the_two_halves_of_a_city_are_found(folder, room):
    rows = table(folder / "run/partition.csv")
    west = np.array([float(row["west"]) for row in rows]) < -69.94
    assert len(rows) > 60
    room.share(adjusted_rand_score(west, [int(row["cluster"]) for row in rows]), at_least=0.6)
    shapes = json.loads((folder / "run/partition.geojson").read_text())
    assert shapes["type"] == "FeatureCollection"
    assert len(shapes["features"]) == len(rows)
    square = shapes["features"][0]["geometry"]["coordinates"][0]
    assert square[0] == square[-1]
    assert len(square) == 5
    assert_allclose(square[0], [float(rows[0]["west"]), float(rows[0]["south"])], atol=1e-6)


def test_the_scaled_law_is_factorized_on_demand(folder, tmp_path, room):
    common = ("--rank", 3, "--clusters", 2, "--scaling", "stationary")
    run("walk", "partition", folder / "walk.npy", "--states", *common, "--out", tmp_path / "run")
    model = atomstream.load(tmp_path / "run/model.atoms")
    assert model.scaling == "stationary"
    room.between(model.singular_values_[0], 0.6, 1.4)  # of the law itself it is below 0.2


def test_columns_by_name_do_the_same(folder, tmp_path, capsys):
    ends = ("--origin", "a_lon,a_lat", "--destination", "b_lon, b_lat")
    common = ("--cell", "800m", "--rank", 3, "--clusters", 2, "--min-count", 5, "--passes", 2)
    run(
        "walk",
        "partition",
        folder / "trips.csv",
        *ends,
        *common,
        "--out",
        tmp_path / "run",
        "--json",
    )
    told = json.loads(capsys.readouterr().out)
    ours = atomstream.load(folder / "run")
    assert told["states"] == len(ours.states_)
    assert told["dropped"] >= 2
    labels = [
        [row["cluster"] for row in table(place / "partition.csv")]
        for place in (folder / "run", tmp_path / "run")
    ]
    assert adjusted_rand_score(*labels) == 1
    run("walk", "partition", "--config", folder / "run/run.toml", "--out", tmp_path / "again")
    assert_array_equal(atomstream.load(tmp_path / "again").right_, ours.right_)


def test_walks_of_numbers_and_of_names(folder, tmp_path):
    for name in ("walk.npy", "walk.txt"):
        out = tmp_path / name.partition(".")[2]
        run(
            "walk",
            "partition",
            folder / name,
            "--states",
            "--rank",
            4,
            "--clusters",
            3,
            "--out",
            out,
        )
    numbers, named = (atomstream.load(tmp_path / kind) for kind in ("npy", "txt"))
    assert named.states_ == [f"room {state}" for state in numbers.states_]
    assert_array_equal(named.right_, numbers.right_)
    model = RandomWalkFactorization(4, random_state=0).fit(np.load(folder / "walk.npy"))
    assert_array_equal(numbers.right_, model.right_)
    assert table(tmp_path / "txt/partition.csv")[0]["state"].startswith("room ")


def test_inspect_and_report(folder, capsys, room):
    run("inspect", folder / "run")
    told = capsys.readouterr().out
    assert "lumpability" in told
    assert len(told.splitlines()) == 13
    run("inspect", folder / "run", "--json")
    found = json.loads(capsys.readouterr().out)["clusters"]
    assert_allclose(sum(row["visits_share"] for row in found), 1)
    room.share(min(row["stays"] for row in found), at_least=0.75)
    run("report", folder / "run")
    page = (folder / "run/report.html").read_text()
    assert page.count("<figure>") == 2
    assert "800 m" in page
    assert "Partition of trips.npy" in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_a_run_on_a_walk_is_complete_and_can_make_more_passes(folder, tmp_path, capsys):
    run("resume", folder / "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    assert main(["encode", str(folder / "run"), "x.npy", "--out", "c.csv"]) == 2
    assert "codes no rows" in capsys.readouterr().err
    shutil.copytree(folder / "run", tmp_path / "run")
    run("resume", tmp_path / "run", "--passes", 3)
    settings = ("--config", folder / "run/run.toml", "--passes", 3)
    run("walk", "partition", *settings, "--out", tmp_path / "once")
    again, once = (atomstream.load(tmp_path / name) for name in ("run", "once"))
    assert_array_equal(again.right_, once.right_)
    assert table(tmp_path / "run/partition.csv") == table(tmp_path / "once/partition.csv")


def test_cells_are_squares_of_their_size():
    rng = np.random.default_rng(0)
    latitude, longitude = 52 + rng.random(500), 13 + rng.random(500)
    cells, grid = trips.grid_cells(latitude, longitude, 1000.0)
    south, west = grid.corners(cells).T
    down, across = grid.steps
    assert ((south <= latitude + 1e-9) & (latitude < south + down + 1e-9)).all()
    assert ((west <= longitude + 1e-9) & (longitude < west + across + 1e-9)).all()
    assert_allclose(down * 111_320, 1000)
    assert_allclose(across * 111_320 * np.cos(np.radians(grid.latitude + 0.5)), 1000)
    again, _ = trips.grid_cells(latitude, longitude, grid=grid)
    assert_array_equal(again, cells)
    often, _ = trips.grid_cells(latitude, longitude, grid=grid, min_count=2)
    values, counts = np.unique(cells, return_counts=True)
    assert_array_equal(np.unique(often[often >= 0]), values[counts >= 2])
    assert_array_equal(
        trips.grid_cells([np.nan, 91, 52], [13, 13, 999], grid=grid)[0], [-1, -1, -1]
    )
    for arguments, told in [
        (([0.0], [0.0]), "No position"),
        (([1.0, 2], [1.0], 250.0), "of the same length"),
        (([1.0], [1.0], -5.0), "at least 0.1 metres"),
        (([89.0], [1.0]), "within 85"),
    ]:
        with pytest.raises(ValueError, match=told):
            trips.grid_cells(*arguments)


def test_maps_draw_their_data(folder):
    model = atomstream.load(folder / "run")
    grid = trips.Grid(-33, -70, 800)
    labels = model.partition_.copy()
    labels[0] = -1
    corners, clusters = plots.partition_map_data(grid, model.states_, labels)
    assert len(corners) == len(clusters) == (labels >= 0).sum()
    figure = plots.partition_map(grid, model.states_, labels, visits=model.visits_.sum(axis=0))
    assert len(figure.axes[0].collections[0].get_paths()) == len(corners)
    chances, shares = [[0.9, 0.1], [0.2, 0.8]], [0.6, 0.4]
    assert_array_equal(plots.reduced_chain(chances, shares).axes[0].images[0].get_array(), chances)


def test_trips_may_have_decimal_commas(tmp_path):
    for name, decimal in (("commas", ","), ("points", ".")):
        lines = text_of(";", decimal, dates=True).splitlines()
        (tmp_path / f"{name}.csv").write_text("\n".join([lines[0], *lines[7:]]))
        ends = ("--origin", "a,b", "--destination", "b,c", "--cell", "20km", "--min-count", 1)
        few = ("--rank", 2, "--clusters", 2, "--decimal", decimal)
        run("walk", "partition", tmp_path / f"{name}.csv", *ends, *few, "--out", tmp_path / name)
    one, other = (table(tmp_path / f"{name}/partition.csv") for name in ("commas", "points"))
    assert one == other


@pytest.mark.parametrize("verb", ["inspect", "report", "plot", "resume"])
def test_a_checkpoint_of_this_model_is_refused_in_a_run_of_rows(
    tmp_path, capsys, monkeypatch, verb
):
    copied(tmp_path)
    monkeypatch.chdir(tmp_path)  # inputs are named from there
    run = tmp_path / "rows-nmf-unfinished"
    (other,) = (KEPT["walk-trips"] / "checkpoints").iterdir()
    (path,) = (run / "checkpoints").iterdir()
    model, notes = read_model(other)[0], read_model(path)[1]
    (run / "model.atoms").unlink()
    path.unlink()
    write_model(path, model, notes)
    assert "RandomWalkFactorization" in refused(capsys, verb, run)
