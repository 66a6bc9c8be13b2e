"""
A large map of X-ray counts, with a faint phase
===============================================

A microscope counts X-rays at each place of a specimen, and the file is larger than the memory. One
phase gives 200 counts a pixel, another one 50, and a faint one gives 12. Is the spectrum of the
faint phase found, and does the loss matter?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineNMF, align, streams

energies = np.linspace(0, 10, 300)
lines = {"strong": (1.7, 4.2), "middle": (2.4, 6.8), "faint": (3.4, 8.1)}
spectra = np.stack(
    [sum(np.exp(-(((energies - peak) / 0.15) ** 2)) for peak in peaks) for peaks in lines.values()]
)
spectra = spectra + 0.05 * np.exp(-energies / 3)
spectra /= spectra.sum(axis=1, keepdims=True)

# %%
# The map is written line by line, and read back in batches of random pixels: pass
# :class:`atomstream.streams.OnDisk` to ``fit``. Here the file has 60 MB; it may have any size.

height, width = 400, 500
across = np.linspace(0, 1, width)
rng = np.random.default_rng(0)
path = Path(tempfile.mkdtemp()) / "counts.dat"
counts = np.memmap(path, np.uint8, "w+", shape=(height * width, len(energies)))
for number in range(height):
    down = number / height
    shares = np.array([across < 0.5, (across > 0.3) & (down < 0.6), (across > 0.6) & (down > 0.4)])
    shares = shares / np.maximum(shares.sum(axis=0), 1)
    rate = (shares * np.array([[200], [50], [12]])).T @ spectra
    counts[number * width : (number + 1) * width] = np.minimum(rng.poisson(rate), 255)
counts.flush()

found = {}
for loss in ("kl", "squared"):
    model = OnlineNMF(3, loss=loss, n_epochs=2, random_state=0).fit(streams.OnDisk(counts))
    found[loss] = model.components_[align(spectra, model.components_).order]

# %%
# Counts have Poisson noise: where there are many, the noise is large. The squared loss spends its
# atoms on the noise of the strong phase. Dashed is the truth, and the numbers are cosines with it.
# If the faint phase gives 3 counts and not 12, ``"kl"`` still finds it.


def cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout="constrained", sharex=True)
for row, (loss, atoms) in zip(axes, found.items(), strict=True):
    for axis, name, atom, truth in zip(row, lines, atoms, spectra, strict=True):
        axis.plot(energies, atom / atom.sum())
        axis.plot(energies, truth, "k--", linewidth=0.8)
        axis.set(title=f"{name}, {loss}: {cosine(atom, truth):.2f}", yticks=[])
axes[-1][1].set_xlabel("energy, keV")

plt.show()
