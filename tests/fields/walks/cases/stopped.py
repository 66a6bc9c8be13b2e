"""Runs of walks that are stopped after every step, and what they need."""

import numpy as np


def prepare(folder, monkeypatch):
    rng = np.random.default_rng(0)
    places = rng.integers(0, 4, (300, 4)) * 0.02 + rng.random((300, 4)) * 0.001
    np.savetxt(folder / "trips.csv", places, delimiter=",", header="a,b,c,d", comments="")
    walk = np.cumsum(rng.integers(-1, 2, 700)) % 9
    np.save(folder / "walk.npy", walk)
    (folder / "walk.txt").write_text("\n".join(f"room {state}" for state in walk))
    monkeypatch.setattr("atomstream.fields.walks.trips.LINES", 200)


COMMANDS = {
    "walk": (
        "walk partition trips.csv --origin a,b --destination c,d --cell 1km --min-count 2 --rank 3 "
        "--clusters 2 --passes 2",
        2,
    ),
    "walk of numbers": (
        "walk partition walk.npy --states --rank 3 --clusters 3 --passes 2 --tau 2",
        6,
    ),
    "walk of names": ("walk partition walk.txt --states --rank 3 --clusters 3 --passes 2", 6),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
