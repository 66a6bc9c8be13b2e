"""Runs of signatures that are stopped after every step, and what they need."""

import numpy as np


def prepare(folder, monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 200, (8, 2)) @ rng.gamma(1, 1, (2, 20))).astype(str)
    channels = [["MutationType", *(f"sample {i}" for i in range(20))]]
    channels += [[f"channel {i}", *row] for i, row in enumerate(counts.tolist())]
    (folder / "counts.txt").write_text("".join("\t".join(row) + "\n" for row in channels))


COMMANDS = {
    "signatures": ("signatures counts.txt --signatures 2-4 --replicates 3", 2),
}
CASES = {name: (*case, prepare) for name, case in COMMANDS.items()}
