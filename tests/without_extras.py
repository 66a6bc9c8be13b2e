"""What a user of the core alone meets: run by test_extras.py in a process of its own.

``python without_extras.py FOLDER`` hides all optional libraries, imports and calls everything, and
prints ``{what was done: error that came, or null}`` as JSON. Messages of commands are their
lines on standard error.
"""

import contextlib
import importlib
import io
import json
import pkgutil
import sys
import traceback
from pathlib import Path

HIDDEN = [
    "PIL",
    "h5py",
    "imageio",
    "jinja2",
    "matplotlib",
    "networkx",
    "polars",
    "pyarrow",
    "sktime",
    "torch",
    "xarray",
    "zarr",
]


class Hidden:
    """Finds none of the hidden libraries, as if they were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden())

import numpy as np  # noqa: E402
from cases import of_fields  # noqa: E402

import atomstream  # noqa: E402
from atomstream.cli import main  # noqa: E402

FOLDER, found = Path(sys.argv[1]), {}


def attempt(what, call):
    """Note what a call of Python raises."""
    try:
        call()
        found[what] = None
    except Exception as error:
        found[what] = f"{type(error).__name__}: {error}"


def command(line):
    """Note what a command prints on standard error, if it ends with another code than 0."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main([part.replace("@", f"{FOLDER}/") for part in line.split()])
        except Exception:
            code, told = 1, io.StringIO(traceback.format_exc())
    found[line] = f"{code} {told.getvalue().strip().splitlines()[-1]}" if code else None


for module in pkgutil.walk_packages(atomstream.__path__, "atomstream."):
    if "__main__" not in module.name:
        attempt(f"import {module.name}", lambda: importlib.import_module(module.name))  # noqa: B023
for name in atomstream.__all__:
    attempt(f"atomstream.{name}", lambda: getattr(atomstream, name))  # noqa: B023

X = np.random.default_rng(0).random((60, 5))
np.save(FOLDER / "x.npy", X)
np.savetxt(FOLDER / "x.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
for name in ("photo.png", "table.parquet", "cube.h5"):
    (FOLDER / name).write_bytes(b"anything")
(FOLDER / "cube.zarr").mkdir()
FIELDS = of_fields("bare").values()
for case in FIELDS:
    case.get("prepare", lambda folder: None)(FOLDER)

for line in (
    "learn @x.npy --atoms 3 --out @rows",
    "learn @x.csv --atoms 3 --out @table",
    "learn @table.parquet --atoms 3 --out @parquet",
    "learn @photo.png --atoms 3 --out @patches",
    "learn @cube.zarr --atoms 3 --out @store",
    "learn @cube.h5 --atoms 3 --out @stored",
    "encode @rows @x.npy --out @codes.csv",
    "encode @rows @x.npy --out @codes.parquet",
    "inspect @rows",
    "report @rows",
    "plot @rows",
    *(line for case in FIELDS for line in (*case["works"], *case["asks"])),
):
    command(line)

model = atomstream.OnlineNMF(3, random_state=0).fit(X)
attempt("plots.atoms", lambda: atomstream.plots.atoms(model, (1, 5)))
attempt("plots.bars", lambda: atomstream.plots.bars(model))
for case in FIELDS:
    for name, call in case.get("calls", {}).items():
        attempt(name, call)
print(json.dumps(found))
