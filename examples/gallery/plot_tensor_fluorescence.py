"""
A tensor of fluorescence
========================

Which dyes are in the mixtures? Each sample is a table: how much light comes out at one wavelength
when light of another goes in. A dye is an excitation spectrum times an emission spectrum, so a
dictionary of such products finds the dyes, one by one. The measurements are made by the script.
"""

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineCPDictionary

rng = np.random.default_rng(0)
going_in, coming_out = np.linspace(250, 450, 50), np.linspace(280, 560, 70)
DYES = ((280, 350, 18), (330, 430, 22), (390, 480, 20))


def hump(places, centre, width):
    """Return a spectrum with one maximum."""
    return np.exp(-(((places - centre) / width) ** 2))


dyes = [np.outer(hump(going_in, a, w), hump(coming_out, b, 1.4 * w)) for a, b, w in DYES]
samples = np.tensordot(rng.gamma(1.0, 1.0, (300, 3)), dyes, 1)
samples += 0.1 * rng.random(samples.shape)
samples.shape

# %%
# Three atoms, and one more for the background.

model = OnlineCPDictionary(4, random_state=0).fit(samples)
order = np.argsort(-model.components_.max(axis=(1, 2)))[:3]
excitation, emission = model.loadings_

# %%
# Each atom is the product of two curves, the columns of :class:`atomstream.dictionaries.Loadings`.

figure, axes = plt.subplots(1, 4, figsize=(9.5, 3), layout="constrained")
axes[0].imshow(samples[0], origin="lower", extent=(280, 560, 250, 450), aspect="auto")
axes[0].set(title="one sample", xlabel="emission, nm", ylabel="excitation, nm")
axes[1].set(title="three atoms", xlabel="emission, nm", yticks=[])
shown = np.stack([model.components_[atom] / model.components_[atom].max() for atom in order], 2)
axes[1].imshow(shown, origin="lower", extent=(280, 560, 250, 450), aspect="auto")
for color, atom in zip(("red", "green", "blue"), order, strict=True):
    axes[2].plot(going_in, excitation[:, atom] / excitation[:, atom].max(), color=color)
    axes[3].plot(coming_out, emission[:, atom] / emission[:, atom].max(), color=color)
axes[2].set(title="excitation", xlabel="nm", yticks=[])
axes[3].set(title="emission", xlabel="nm", yticks=[])

plt.show()
