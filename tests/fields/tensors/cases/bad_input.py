"""Bad input to runs of tensors: what is wrong, the command, and what is said of it."""

import numpy as np
from commands import run
from numpy.random import default_rng


def prepare(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    import xarray as xr
    import zarr

    X = default_rng(0).random((40, 7, 9))
    X[default_rng(1).random(X.shape) < 1 / 3] = 0
    labels = {"day": ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"], "hour": np.arange(9)}
    data = xr.Dataset({"trips": (("date", "day", "hour"), X)}, labels)
    data.to_netcdf(folder / "x.nc", engine="scipy")
    np.save(folder / "x.npy", X)
    np.save(folder / "moved.npy", np.moveaxis(X, 0, 1))
    np.savez(folder / "two.npz", x=X, y=2 * X)
    zarr.save(str(folder / "two.zarr"), x=X, y=2 * X)
    n, i, j = np.nonzero(X)
    columns = {"date": n, "day": [labels["day"][k] for k in i], "hour": j}
    pq.write_table(pa.table({"trips": X[n, i, j], **columns}), folder / "x.parquet")
    few = ("--atoms", 3, "--batch-size", 16)
    run("tensor", "learn", folder / "x.nc", *few, "--out", folder / "run")
    for name in ("empty.npy", "empty.nc", "empty.parquet", "x.txt"):
        (folder / name).touch()
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:500])
    holes = X.copy()
    holes[30, 1, 1] = np.nan
    for name, array in {"nan": holes, "flat": X[0], "none": X[:0]}.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "texts.npy", X.astype(str))
    outside = {"coords": np.array([[0], [0], [9]]), "data": np.ones(1), "shape": np.full(3, 2)}
    np.savez(folder / "outside.npz", **outside)
    np.savez(folder / "fill.npz", **outside, fill_value=1.0)
    pq.write_table(pa.table({"a": [1, 2], "v": [1.0, 2.0]}), folder / "two.parquet")
    holes = {"a": [1, None], "b": [1, 2], "c": [1, 2], "v": [1.0, 2.0]}
    pq.write_table(pa.table(holes), folder / "holes.parquet")
    strange = {"date": [0, 1], "day": ["Mo", "Sunday"], "hour": [1, 2], "trips": [1.0, 2.0]}
    pq.write_table(pa.table(strange), folder / "strange.parquet")


BAD = {
    "no file": ("tensor learn --out new", "learned from one file, got 0"),
    "no such file": ("tensor learn gone.npy --out new", "There is no .*gone.npy"),
    "an empty file": ("tensor learn empty.npy --out new", "empty.npy cannot be read"),
    "an empty NetCDF": ("tensor learn empty.nc --out new", "empty.nc is no NetCDF file"),
    "an empty table": ("tensor learn empty.parquet --out new", "empty.parquet cannot be read"),
    "a cut file": ("tensor learn cut.npy --out new", "cut.npy cannot be read"),
    "another ending": ("tensor learn x.txt --out new", "ends like no tensor; known endings are"),
    "a table": ("tensor learn flat.npy --out new", r"has shape \(7, 9\), needed are three axes"),
    "no samples": ("tensor learn none.npy --out new", "none.npy is empty"),
    "texts": ("tensor learn texts.npy --out new", "needed are numbers"),
    "NaN": ("tensor learn nan.npy --out new", "NaN .first in sample 30 of .*say --missing"),
    "two arrays": ("tensor learn two.npz --out new", "choose one with --key"),
    "no such array": ("tensor learn two.zarr --key z --out new", "no array called 'z'; it has x"),
    "an entry outside": ("tensor learn outside.npz --out new", r"entry at \(0, 0, 9\), outside"),
    "another fill value": ("tensor learn fill.npz --out new", "entries of 1.0 that it does not"),
    "few columns": ("tensor learn two.parquet --out new", "has the columns a, v; needed are one"),
    "labels missing": ("tensor learn holes.parquet --out new", "Column 'a' .*has empty fields"),
    "no such column": ("tensor learn x.parquet --columns a,b --out new", "has no column 'a'"),
    "columns of arrays": ("tensor learn x.npy --columns a --out new", "columns of Parquet files"),
    "no such axis": ("tensor learn x.npy --axis 3 --out new", "no axis '3'; choose 0 to 2"),
    "no such name": ("tensor learn x.nc --axis town --out new", "0 to 2 or date, day, hour"),
    "a bad radius": ("tensor learn x.npy --radius far --out new", "radius is 'far', needed is"),
    "no radius": ("tensor learn x.npy --radius 0 --out new", "radius is '0', needed is"),
    "no atoms": (
        "tensor learn x.npy --atoms 0 --out new",
        "atoms is 0, needed is a whole number from 1",
    ),
    "other samples": ("encode run moved.npy --out c.csv", r"samples of shape \(40, 9\), run has"),
    "NaN in codes": ("encode run nan.npy --out c.csv", "first in sample 30 .*fill such entries.$"),
    "strange labels": ("encode run strange.parquet --out c.csv", "'day' .*not learned: Sunday"),
    "a picture": ("reconstruct run x.npy", "has learned from a tensor and rebuilds no files"),
}

assert len(BAD) == 28
CASES = {"tensors": (prepare, BAD)}
