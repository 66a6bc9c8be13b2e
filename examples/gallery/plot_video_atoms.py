"""
What moves in a video
=====================

Which parts of the picture light up together? Frames arrive one after another and none is kept. An
atom is a picture, and its code says how much of it is in each frame. The video is a made recording
of cells that flash.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import VideoDictionary

rng = np.random.default_rng(0)
side, n_cells, n_frames = 48, 6, 600
y, x = np.mgrid[:side, :side]
centres = np.array([(10, 12), (14, 34), (26, 22), (36, 9), (38, 38), (22, 42)])
cells = np.exp(-((y - centres[:, :1, None]) ** 2 + (x - centres[:, 1:, None]) ** 2) / 14)
flashes = rng.random((n_frames, n_cells)) < 0.02
decay = np.exp(-np.arange(40) / 10)
activity = np.stack([np.convolve(each, decay)[:n_frames] for each in flashes.T], axis=1)
video = np.tensordot(activity, cells, 1) + 0.1 * rng.random((n_frames, side, side))

# %%
# One more atom than cells: the last one is the background.

model = VideoDictionary(n_cells + 1, random_state=0).fit(video)
codes = model.transform(video)
order = np.argsort(model.components_.std(axis=(1, 2)))[::-1][:n_cells]

# %%
# On the left a frame, then the cells that were found, and below when each of them flashes.

figure = plt.figure(figsize=(9, 5), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.6))
axes = top.subplots(1, n_cells + 1)
axes[0].imshow(video[flashes.sum(axis=1).argmax()], cmap="gray")
axes[0].set_title("one frame")
curves = bottom.subplots()
for place, atom in enumerate(order):
    axes[place + 1].imshow(model.components_[atom], cmap="magma")
    axes[place + 1].set_title(f"atom {atom}", color=f"C{place}")
    curves.plot(codes[:, atom] / codes[:, atom].max() - 1.1 * place, color=f"C{place}", linewidth=1)
for axis in axes:
    axis.axis("off")
curves.set(xlabel="frame", ylabel="codes", yticks=[], xlim=(0, n_frames))

plt.show()
