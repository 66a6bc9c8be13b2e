"""
Learn from files, stop, and go on
=================================

What if the machine stops after three days? A run is a folder with checkpoints, and a run that was
stopped goes on as if nothing had happened: its atoms are those of a run that never stopped, to the
bit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import atomstream
from atomstream.cli import main
from atomstream.watch.history import read_history

folder = Path(tempfile.mkdtemp())
table, stopped, whole = (str(folder / name) for name in ("digits.npy", "stopped", "whole"))
np.save(table, load_digits().data / 16)

# %%
# In a terminal you write ``atomstream learn digits.npy --atoms 16 --epochs 10 --out stopped``, and
# press Ctrl-C when you have to leave. Here the first part makes three passes.

settings = [table, "--atoms", "16", "--batch-size", "64"]
main(["learn", *settings, "--epochs", "3", "--out", stopped])
leave = read_history(f"{stopped}/history.jsonl").points["n_samples"][-1]

# %%
# ``atomstream resume stopped`` goes on from the newest checkpoint.

main(["resume", stopped, "--epochs", "10"])
main(["learn", *settings, "--epochs", "10", "--out", whole])
models = [atomstream.load(f"{run}/model.atoms") for run in (stopped, whole)]
print("the same atoms:", np.array_equal(models[0].components_, models[1].components_))

# %%
# The objective falls on after the break as it would have done without it.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(1.6, 1)
)
thick = {"color": "0.8", "linewidth": 5}
for run, label, style in ((whole, "never stopped", thick), (stopped, "stopped, resumed", {})):
    points = read_history(f"{run}/history.jsonl").points
    left.semilogy(points["n_samples"], points["objective"], label=label, **style)
left.axvline(leave, color="black", linestyle="--", label="the break")
left.set(xlabel="rows", ylabel="objective of the batch")
left.legend()
atoms = models[0].components_.reshape(4, 4, 8, 8)
tiles = np.pad(atoms / atoms.max(), ((0, 0), (0, 0), (0, 1), (0, 1))).swapaxes(1, 2)
right.imshow(tiles.reshape(36, 36), cmap="gray_r")
right.set_title("atoms, the same in both")
right.axis("off")

plt.show()
