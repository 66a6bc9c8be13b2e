"""
Atoms with both signs
=====================

What is left of a picture when its brightness is gone? Edges and textures. They are darker and
brighter than their surroundings, so atoms and codes need both signs, and every patch may use five
atoms at most.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from atomstream import OnlineDictionaryLearning, streams
from atomstream.penalties import TopK

photograph = load_sample_image("china.jpg")[:420, :636].mean(axis=2) / 255
rng = np.random.default_rng(0)


def centred(batches):
    """Yield batches of patches without their mean."""
    for X in batches:
        yield X - X.mean(axis=1, keepdims=True)


# %%
# The set of codes is :class:`atomstream.penalties.TopK`: at most five entries that are not zero.
# They are found by :class:`atomstream.coders.MatchingPursuit`.

patches = centred(streams.patches(photograph, 12, 256, n_samples=40_000, rng=rng))
model = OnlineDictionaryLearning(64, codes=TopK(5), alpha=0, random_state=0).fit_stream(patches)

# %%
# Five atoms and the mean of each patch explain most of a photograph.

X = np.concatenate(list(streams.patches(photograph, 12, stride=12)))
means = X.mean(axis=1, keepdims=True)
codes = model.transform(X - means)
rebuilt = model.inverse_transform(codes) + means
error = np.linalg.norm(rebuilt - X) / np.linalg.norm(X - X.mean())
print(f"entries of a code that are not zero: {(codes != 0).sum(axis=1).max()}")
print(f"unexplained: {error**2:.1%} of the variance")

# %%
# Edges of many directions, in red where they add light and in blue where they take it away.

atoms = model.components_[model.importance_.argsort()[::-1]].reshape(64, 12, 12)
tiles = atoms / np.abs(atoms).max(axis=(1, 2), keepdims=True)
tiles = np.pad(tiles, ((0, 0), (0, 1), (0, 1))).reshape(8, 8, 13, 13).swapaxes(1, 2)
rows, columns = (n // 12 for n in photograph.shape)
picture = rebuilt.reshape(rows, columns, 12, 12).swapaxes(1, 2).reshape(12 * rows, 12 * columns)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(1, 1.5)
)
left.imshow(tiles.reshape(104, 104), cmap="RdBu_r", vmin=-1, vmax=1)
left.set_title("64 atoms")
right.imshow(picture, cmap="gray", vmin=0, vmax=1)
right.set_title("five atoms for each patch")
for axis in (left, right):
    axis.axis("off")

plt.show()
