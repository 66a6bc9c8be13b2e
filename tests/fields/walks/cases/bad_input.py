"""Bad input to runs of walks: what is wrong, the command, and what is said of it."""

import numpy as np
from commands import run
from numpy.random import default_rng


def prepare(folder):
    places = np.column_stack([-70 + default_rng(0).random(500), -33 + default_rng(1).random(500)])
    trips = np.hstack([places, places[::-1]])
    np.save(folder / "trips.npy", trips)
    np.save(folder / "far.npy", trips)
    np.savetxt(
        folder / "trips.csv", trips, delimiter=",", header="a_lon,a_lat,b_lon,b_lat", comments=""
    )
    walk = np.cumsum(default_rng(0).integers(-1, 2, 1000)) % 12
    (folder / "walk.txt").write_text("\n".join(f"room {state}" for state in walk))
    (folder / "empty.txt").write_text("\n")
    (folder / "one.txt").write_text("a\n")
    np.save(folder / "floats.npy", np.ones(5))
    (folder / "none.npy").write_bytes(b"")
    settings = ("--states", "--rank", 3, "--clusters", 2)
    run("walk", "partition", folder / "walk.txt", *settings, "--out", folder / "run")


BAD = {
    "no such file": (
        "walk partition gone.csv --origin a,b --destination c,d --out new",
        "There is no .*gone.csv",
    ),
    "no file": ("walk partition --states --out new", "one file, got 0"),
    "no origin": (
        "walk partition trips.csv --destination c,d --out new",
        "Trips need --origin LON,LAT, two columns; the states of a walk need --states",
    ),
    "one column": (
        "walk partition trips.csv --origin a --destination c,d --out new",
        "Trips need --origin LON,LAT, two columns; the states of a walk need --states",
    ),
    "no such column": (
        "walk partition trips.csv --origin x,y --destination a_lon,a_lat --out new",
        "no column 'x'",
    ),
    "no such number": (
        "walk partition trips.npy --origin 1,9 --destination 1,2 --out new",
        "from 1 to 4, got '9'",
    ),
    "too scattered": (
        "walk partition far.npy --origin 1,2 --destination 3,4 --cell 10m --out new",
        "0 cells 20 times or more; choose larger cells",
    ),
    "no length": (
        "walk partition trips.npy --cell wide --out new",
        "'wide' is not a length; use e.g. 250m or 1.5km",
    ),
    "states with columns": (
        "walk partition walk.txt --states --origin a,b --out new",
        "no --origin or --destination",
    ),
    "no states": ("walk partition empty.txt --states --out new", "holds no states"),
    "an empty array": ("walk partition none.npy --states --out new", "none.npy cannot be read"),
    "one state": (
        "walk partition one.txt --states --rank 1 --clusters 1 --out new",
        "no transition",
    ),
    "a column twice": (
        "walk partition trips.npy --origin 1,1 --destination 3,4 --out new",
        "one column twice",
    ),
    "states of fractions": (
        "walk partition floats.npy --states --out new",
        "needed is .* whole numbers",
    ),
    "more clusters than states": (
        "walk partition walk.txt --states --clusters 99 --rank 3 --out new",
        "n_clusters must be",
    ),
    "more dimensions than states": (
        "walk partition walk.txt --states --rank 50 --out new",
        "n_components=50 is more",
    ),
    "run there already": ("walk partition walk.txt --states --out run", "holds a run already"),
}

assert len(BAD) == 17
CASES = {"walks": (prepare, BAD)}
