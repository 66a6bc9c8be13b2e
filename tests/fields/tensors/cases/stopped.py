"""Runs of tensors that are stopped after every step, and what they need."""

import numpy as np


def prepare(folder, monkeypatch):
    np.save(folder / "cubes.npy", np.random.default_rng(0).random((40, 4, 5)))


COMMANDS = {
    "tensor": ("tensor learn cubes.npy --atoms 2 --batch-size 10 --epochs 2", 6),
    "tensor, settled": (
        "tensor learn cubes.npy --atoms 2 --batch-size 10 --epochs 1 --settle 2",
        10,
    ),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
