"""
Video of calcium: where are the cells?
======================================

A movie of fluorescence shows cells that flash, on a background that glows and bleaches. Which
pixels flash together? The course of each pixel over all frames is one sample, an atom is a course
that many pixels share, and the codes are an image for each atom: a cell.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import VideoDictionary

SIZE, N_FRAMES, N_CELLS = 64, 1000, 20
y, x = np.mgrid[:SIZE, :SIZE]


def simulated(seed):
    """A movie of 20 cells with neuropil, drift and noise, and the images of the cells."""
    rng, places = np.random.default_rng(seed), []
    while len(places) < N_CELLS:
        place = rng.uniform(5, SIZE - 5, 2)
        if all(np.hypot(*(place - other)) > 7 for other in places):
            places.append(place)
    widths = rng.uniform(2, 2.8, N_CELLS)
    distances = [np.hypot(y - row, x - column) for row, column in places]
    cells = np.array([np.exp(-0.5 * (d / w) ** 2) for d, w in zip(distances, widths, strict=True)])
    cells[cells < 0.05] = 0
    spikes = (rng.random((N_CELLS, N_FRAMES)) < 0.01) * rng.uniform(0.5, 1.5, (N_CELLS, N_FRAMES))
    flashes = np.array([np.convolve(row, np.exp(-np.arange(60) / 15))[:N_FRAMES] for row in spikes])
    slow = np.convolve(np.cumsum(rng.normal(size=N_FRAMES)), np.ones(50) / 50, "same")
    neuropil = (slow - slow.min()) / np.ptp(slow)
    glow = np.exp(-((y - 30) ** 2 + (x - 36) ** 2) / 1250)
    bleaching = np.linspace(1, 0.8, N_FRAMES)
    movie = np.multiply.outer(bleaching, 1 + 0.5 * cells.sum(axis=0))
    movie += 0.5 * np.multiply.outer(neuropil, glow) + np.tensordot(flashes.T, cells, 1)
    return np.maximum(movie + 0.2 * rng.normal(size=movie.shape), 0), cells


def cosines(images, cells):
    """Cosine of each cell with the image that is most like it."""
    images, cells = (part.reshape(len(part), -1) for part in (np.abs(images), cells))
    images = images / np.maximum(np.linalg.norm(images, axis=1, keepdims=True), 1e-12)
    return (cells / np.linalg.norm(cells, axis=1, keepdims=True) @ images.T).max(axis=1)


# %%
# Some more atoms than cells leave room for the background. A
# :class:`atomstream.VideoDictionary` of the pixels takes the movie as it was recorded; one of the
# frames sees less. Scikit-learn's FastICA finds still more of such cells.

movie, cells = simulated(seed=0)
pixels = VideoDictionary(22, mode="pixels", random_state=0).fit(movie)
images = np.moveaxis(pixels.transform(movie), -1, 0)
frames = VideoDictionary(22, random_state=0).fit(movie)
for name, found in (("pixels", images), ("frames", frames.components_)):
    print(f"{name}: {np.sum(cosines(found, cells) > 0.7)} of {N_CELLS} cells found")

# %%
# The true cells, the images of the atoms nearest to them, and the courses of the first four.

flat = images.reshape(len(images), -1)
flat = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12)
nearest = (cells.reshape(N_CELLS, -1) @ flat.T).argmax(axis=1)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
shown = (cells, flat[nearest].reshape(-1, SIZE, SIZE))
for axis, part, title in zip(axes[:2], shown, ("cells", "atoms"), strict=True):
    axis.imshow((part / part.max(axis=(1, 2), keepdims=True)).max(axis=0), cmap="magma")
    axis.set(title=title, xticks=[], yticks=[])
for number, atom in enumerate(nearest[:4]):
    axes[2].plot(pixels.components_[atom] / pixels.components_[atom].max() + number, linewidth=0.8)
axes[2].set(title="their courses", xlabel="frame", yticks=[])

plt.show()
