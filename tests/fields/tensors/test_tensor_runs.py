"""Tensor runs on the command line: kinds of files, stops, and how they are looked at."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import xarray as xr
import zarr
from commands import plotted, refused, run
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import OnlineCPDictionary
from atomstream.cli import main
from atomstream.fields.tensors.run import TensorSettings, TensorTask
from atomstream.looks import look_of
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import open_record
from atomstream.runs.run import Run
from atomstream.updates import LoadingSweep
from atomstream.watch.callbacks import History

DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]


def tensor(n_samples=40, n_modes=2):
    """Sums of three outer products, a third of the entries zero."""
    rng = np.random.default_rng(0)
    sizes = (7, 9, 4)[:n_modes]
    loadings = [rng.random((size, 3)) ** 3 for size in sizes]
    letters = "ijk"[:n_modes]
    X = np.einsum(
        f"nr,{','.join(f'{letter}r' for letter in letters)}->n{letters}",
        rng.random((n_samples, 3)),
        *loadings,
    )
    X[rng.random(X.shape) < 1 / 3] = 0
    return X


X = tensor()
SETTINGS = ("--atoms", 3, "--epochs", 3, "--batch-size", 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tensors")
    np.save(folder / "x.npy", X)
    np.save(folder / "moved.npy", np.moveaxis(X, 0, 1))
    np.savez(folder / "x.npz", x=X)
    np.savez_compressed(folder / "two.npz", x=X, y=2 * X)
    np.savez(folder / "moved.npz", x=np.moveaxis(X, 0, 2))
    places = np.nonzero(X)
    stored = {"coords": np.array(places), "data": X[places], "shape": np.array(X.shape)}
    np.savez(folder / "coo.npz", **stored, fill_value=0.0)
    zarr.save(str(folder / "x.zarr"), X)
    zarr.save(str(folder / "two.zarr"), x=X, y=2 * X)
    labels = {"day": DAYS, "hour": np.arange(9)}
    data = xr.Dataset({"trips": (("date", "day", "hour"), X), "mean": X.mean()}, labels)
    data["date"] = np.datetime64("2024-01-01", "ns") + np.arange(40) * np.timedelta64(1, "D")
    data.to_netcdf(folder / "x.nc", engine="scipy")
    data.to_zarr(folder / "labelled.zarr", zarr_format=2)
    n, i, j = places
    columns = {"date": data["date"].values[n], "day": [f"{i} {DAYS[i]}" for i in i], "hour": j}
    table = pa.table({"trips": X[places], **columns})
    pq.write_table(table, folder / "x.parquet")
    run("tensor", "learn", folder / "x.nc", *SETTINGS, "--out", folder / "run")
    atomstream.save(model_of(X), folder / "model.atoms")
    return folder


def model_of(array, **more):
    """The model that a run must make: samples in their order."""
    model = OnlineCPDictionary(3, batch_size=16, n_epochs=3, shuffle=False, random_state=0, **more)
    return model.fit(array)


KINDS = {
    "x.npy": (),
    "moved.npy": ("--axis", 1),
    "x.npz": (),
    "two.npz": ("--key", "x"),
    "moved.npz": ("--axis", 2),
    "coo.npz": (),
    "x.zarr": (),
    "two.zarr": ("--key", "x"),
    "labelled.zarr": (),
    "x.nc": ("--axis", "date"),
    "x.parquet": ("--columns", "date,day,hour,trips"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_model_of_the_array(folder, kind, tmp_path):
    run("tensor", "learn", folder / kind, *KINDS[kind], *SETTINGS, "--out", tmp_path / "run")
    model, whole = atomstream.load(tmp_path / "run/model.atoms"), model_of(X)
    for found, wanted in zip(model.loadings_, whole.loadings_, strict=True):
        assert_allclose(found, wanted, atol=1e-12)


def test_names_and_labels_come_from_the_file(folder):
    model = atomstream.load(folder / "run/model.atoms")
    assert model.axes_.names == ("day", "hour")
    assert model.axes_.labels[0].tolist() == DAYS
    day, hour = model.labelled_loadings()
    assert day.dims == ("day", "atom")
    assert hour.coords["hour"].values.tolist() == [*range(9)]


def test_tensors_of_three_modes_signed_ones_and_missing_entries(tmp_path, capsys):
    np.save(tmp_path / "x.npy", tensor(30, 3))
    run("tensor", "learn", tmp_path / "x.npy", *SETTINGS, "--out", tmp_path / "three")
    assert atomstream.load(tmp_path / "three/model.atoms").shape_in_ == (7, 9, 4)
    np.save(tmp_path / "signed.npy", X - 1)
    signed = ("tensor", "learn", tmp_path / "signed.npy", "--signed", "--radius", "none", *SETTINGS)
    run(*signed, "--out", tmp_path / "signed")
    wanted = model_of(X - 1, codes="free", atoms="unit_ball", updater=LoadingSweep(radius=None))
    assert_array_equal(
        atomstream.load(tmp_path / "signed/model.atoms").components_, wanted.components_
    )
    run(*signed[:3], *SETTINGS, "--out", tmp_path / "nonnegative")
    assert atomstream.load(tmp_path / "nonnegative/model.atoms").components_.min() >= 0
    told = capsys.readouterr().err
    assert "Negative entries have" in told
    assert "for data of both signs say --signed" in told
    holes = X.copy()
    holes[30, 1, 1] = np.nan
    np.save(tmp_path / "nan.npy", holes)
    run("tensor", "learn", tmp_path / "nan.npy", "--missing", *SETTINGS, "--out", tmp_path / "nan")
    figures = open_record(tmp_path / "nan").notes["figures"]
    assert 0 < figures["unexplained share of the energy"] < 1


def stopped_at_every_checkpoint(settings, path):
    """Run session after session, each stopped by its first checkpoint, to the end."""
    folder = RunFolder(path)
    save = folder.save
    for _ in range(100):
        session = Run(folder, TensorTask(settings))
        if not (folder.path / "run.toml").exists():
            path.mkdir()
            folder.begin(settings, session.task.sources)
        elif (found := folder.load()) is not None:
            session.restore(*found[:2])
        folder.save = lambda *a, now=session: (save(*a), now.stop("test"))
        if session.run(lambda text: History()).complete:
            return session
    raise AssertionError("the run does not end")


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", ["x.npy", "x.npz", "coo.npz", "x.nc"])
def test_a_run_that_was_stopped_goes_on_to_the_bit(folder, name, tmp_path):
    settings = TensorSettings(
        (str(folder / name),), atoms=3, epochs=3, batch_size=16, checkpoint_every=0.0
    )
    session = stopped_at_every_checkpoint(settings, tmp_path / "cut")
    run("tensor", "learn", folder / name, *SETTINGS, "--out", tmp_path / "whole")
    whole, cut = open_record(tmp_path / "whole"), open_record(tmp_path / "cut")
    assert cut.model.n_steps_ == whole.model.n_steps_ == 9
    assert_array_equal(cut.model.components_, whole.model.components_)
    assert_array_equal(session.history.objective, whole.history.objective)


def test_more_passes_replace_what_the_first_measured(folder, tmp_path, capsys):
    shorter = ("--atoms", 3, "--epochs", 1, "--batch-size", 16)
    run("tensor", "learn", folder / "x.npy", *shorter, "--out", tmp_path / "run")
    run("resume", tmp_path / "run", "--epochs", 3, "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["position"] == [3, 0, 0]
    again = atomstream.load(tmp_path / "run/model.atoms")
    assert_array_equal(again.components_, model_of(X).components_)


def test_inspect_report_and_plot(folder, capsys, monkeypatch):
    for path, page in (("run", "run"), ("model.atoms", "model-report")):
        run("inspect", folder / path)
        told = capsys.readouterr().out
        assert "3 atoms of 7 x 9" in told
        assert max(map(len, told.splitlines())) <= 118
        run("inspect", folder / path, "--json")
        assert len(json.loads(capsys.readouterr().out)["atoms"]) == 3
        run("report", folder / path)
        text = (folder / page / "report.html").read_text()
        assert "outer product" in text
        assert not re.search(r"https?://(?!www\.w3\.org)", text)
        assert (folder / page / "figures/atoms.png").exists()
        plotted(monkeypatch, folder / path)
        capsys.readouterr()
    text = (folder / "run/report.html").read_text()
    for words in ("day: 0 Mo, 1 Tu", "unexplained share", "40, along axis 0", "day (7), hour (9)"):
        assert words in text


def test_the_table_names_the_largest_labels(folder):
    record = open_record(folder / "run")
    table = look_of(record.model).table(record, 3)
    model = record.model
    assert [row[0] for row in table.rows] == np.argsort(-model.importance_).tolist()
    atom, *shares, text = table.rows[0]
    assert_allclose(shares[0], model.importance_[atom])
    day, hour = (matrix[:, atom].argmax() for matrix in model.loadings_)
    assert text.split(" | ")[0].startswith(DAYS[day])
    assert text.split(" | ")[1].startswith(str(hour))


def test_codes_are_those_of_the_model(folder, tmp_path):
    model = model_of(X)
    for source, name in (("model.atoms", "x.npy"), ("run", "x.nc"), ("model.atoms", "coo.npz")):
        run("encode", folder / source, folder / name, "--out", tmp_path / "codes.npz")
        codes = sp.load_npz(tmp_path / "codes.npz").toarray()
        assert_allclose(codes, model.transform(X), atol=1e-8)


def test_labels_of_a_table_find_their_places(folder, tmp_path):
    wanted = ("--columns", "date,day,hour,trips", *SETTINGS)
    run("tensor", "learn", folder / "x.parquet", *wanted, "--out", tmp_path / "run")
    table = pq.read_table(folder / "x.parquet")
    few = table.filter(pa.compute.less(table["hour"], 5))  # not all labels occur
    pq.write_table(few, tmp_path / "few.parquet")
    run("encode", tmp_path / "run", tmp_path / "few.parquet", "--out", tmp_path / "codes.npz")
    part = X.copy()
    part[:, :, 5:] = 0
    model = atomstream.load(tmp_path / "run/model.atoms")
    codes = sp.load_npz(tmp_path / "codes.npz").toarray()
    assert_allclose(codes, model.transform(part), atol=1e-8)


def test_netcdf_4_says_what_to_install(folder, capsys, monkeypatch):
    monkeypatch.setattr("atomstream.fields.tensors.files.find_spec", lambda name: None)
    (folder / "hdf.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert main(["tensor", "learn", str(folder / "hdf.nc"), "--out", str(folder / "new")]) == 2
    assert "pip install h5netcdf" in capsys.readouterr().err


def test_defaults_are_those_of_the_estimator():
    settings = TensorSettings(("x.npy",))
    given = settings.new_model().get_params()
    usual = OnlineCPDictionary().get_params()
    assert {name for name in usual if given[name] != usual[name]} == {
        "random_state",
        "n_jobs",
        "updater",
    }


def test_labels_of_axes_are_found_by_name(folder, tmp_path, capsys):
    straight = xr.open_dataset(folder / "x.nc", engine="scipy").load()
    turned = straight.isel(day=[3, 1, 0, 2, 6, 5, 4], hour=slice(None, None, -1))
    codes = {}
    for name, data in (("straight", straight), ("turned", turned)):
        data.to_netcdf(tmp_path / f"{name}.nc", engine="scipy")
        run("encode", folder / "run", tmp_path / f"{name}.nc", "--out", tmp_path / f"{name}.csv")
        codes[name] = np.loadtxt(tmp_path / f"{name}.csv", delimiter=",", skiprows=1)
    assert_allclose(codes["turned"], codes["straight"], rtol=1e-9, atol=1e-12)
    other = straight.assign_coords(day=[*DAYS[:-1], "Xx"])
    other.to_netcdf(tmp_path / "other.nc", engine="scipy")
    words = ("encode", folder / "run", tmp_path / "other.nc", "--out", tmp_path / "none.csv")
    told = refused(capsys, *words)
    assert "The axis 'day' of X has other labels than were learned: missing is 'Su'" in told


def test_a_pattern_is_taken_where_one_file_is_learned_from(tmp_path, capsys):
    for number in range(2):
        np.save(tmp_path / f"cube{number}.npy", np.random.default_rng(0).random((9, 3, 4)))
    settings = ["--atoms", 2, "--epochs", 1, "--out", tmp_path / "run"]
    run("tensor", "learn", tmp_path / "*0.npy", *settings)
    told = refused(capsys, "tensor", "learn", tmp_path / "*.npy", *settings)
    assert "stands for 2 files, and one is learned from" in told
