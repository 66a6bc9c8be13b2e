"""Runs of videos that are stopped after every step, and what they need."""

import numpy as np


def prepare(folder, monkeypatch):
    np.save(folder / "cubes.npy", np.random.default_rng(0).random((40, 4, 5)))


COMMANDS = {
    "video": ("video learn cubes.npy --atoms 2 --batch-size 10", 3),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
