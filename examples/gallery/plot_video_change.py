"""
When does a video change?
=========================

At which frame does something new begin, and is it more than chance? Here an atom is not a picture
but a curve over time: the values of a pixel over all frames are one sample. The test looks for a
time at which the curves change, and compares it with surrogates that do not change.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import VideoDictionary

rng = np.random.default_rng(0)
n_frames, turn = 90, 54
y, x = np.mgrid[:20, :30]
smoke = np.exp(-((y - 10) ** 2 + (x - 22) ** 2) / 20)
lamp = np.exp(-((y - 8) ** 2 + (x - 7) ** 2) / 10)
flicker = rng.random(n_frames)
rising = np.where(np.arange(n_frames) < turn, 0.15, 0.6) + 0.2 * rng.random(n_frames)
video = flicker[:, None, None] * lamp + rising[:, None, None] * smoke
video += 0.1 * rng.random(video.shape)

# %%
# The p-value is the share of surrogates whose best split is as good. What comes back is a
# :class:`atomstream.series.ChangePoints`.

model = VideoDictionary(3, mode="pixels", random_state=0).fit(video)
found = model.change_points()
print(found.times, found.p_values)

# %%
# Frames before and after the change, and the curves. The dashed line is where the change was found.

figure = plt.figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1, 1.8))
for axis, frame in zip(left.subplots(2, 1), (turn - 10, turn + 10), strict=True):
    axis.imshow(video[frame], cmap="inferno", vmin=0, vmax=1)
    axis.set_title(f"frame {frame}")
    axis.axis("off")
axis = right.subplots()
for number, curve in enumerate(model.components_):
    axis.plot(curve / curve.max() + 1.1 * number)
for time in found.times:
    axis.axvline(time, color="black", linestyle="--", label=f"change found at frame {time}")
axis.legend(loc="upper left")
axis.set(xlabel="frame", yticks=[], title="temporal atoms", ylim=(0, 4))

plt.show()
