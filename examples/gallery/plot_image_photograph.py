"""
Atoms of a photograph
=====================

What small patterns is a photograph made of? You learn 100 patches that add up to all others, in one
pass over a stream of patches. No patch is kept.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from atomstream import OnlineNMF, images, plots, streams

photograph = load_sample_image("china.jpg").mean(axis=2) / 255

# %%
# A stream is any iterable of arrays. This one draws 60,000 patches of 12 x 12 pixels, 256 at a
# time.

patches = streams.patches(photograph, 12, 256, n_samples=60_000, rng=np.random.default_rng(0))
model = OnlineNMF(n_components=100, alpha=0.01, random_state=0).fit_stream(patches)
model.n_samples_seen_, model.components_.shape

# %%
# To rebuild the photograph, each patch is written as a sum of atoms, and patches that overlap are
# averaged.

rebuilt = images.reconstruct(model, photograph, size=12, stride=4)
print(f"{images.psnr(photograph, rebuilt):.1f} dB")
figure = plots.reconstruction(photograph, rebuilt)

# %%
# The atoms are edges and shades. The most important one comes first; below each stands its share of
# all codes. None of their entries is negative: they stay in a
# :class:`atomstream.penalties.NonnegativeBall`. The codes are exact
# (:class:`atomstream.coders.ActiveSet`).

figure = plots.atoms(model, (12, 12))

# sphinx_gallery_thumbnail_number = 2
plt.show()
