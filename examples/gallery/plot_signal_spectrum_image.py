"""
A spectrum image with few counts
================================

Which materials are in a specimen, and where? A detector counts photons at each place and energy.
There are few, so most channels are empty. Counts have Poisson noise, and the loss that belongs to
it is Kullback-Leibler.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

from atomstream import OnlineNMF, align

rng = np.random.default_rng(0)
side, energies = 64, np.linspace(0, 10, 200)
lines = {"iron": (6.4, 7.1, 0.7), "silicon": (1.7, 0.5, 3.0), "copper": (8.0, 8.9, 0.9)}
spectra = np.stack(
    [sum(np.exp(-(((energies - peak) / 0.12) ** 2)) for peak in peaks) for peaks in lines.values()]
)
spectra = spectra + 0.05 * np.exp(-energies / 3)
spectra /= spectra.sum(axis=1, keepdims=True)
fields = gaussian_filter(rng.standard_normal((3, side, side)), (0, 6, 6))
where = np.exp(80 * fields) / np.exp(80 * fields).sum(axis=0)
counts = rng.poisson(25 * np.einsum("kij,ke->ije", where, spectra)).reshape(-1, 200).astype(float)
photons, empty = counts.sum(axis=1).mean(), (counts == 0).mean()
print(f"{photons:.0f} photons a pixel, {empty:.0%} of the channels are empty")

# %%
# Pixels stream by, 256 at a time. Ten passes are the default. The loss is
# :class:`atomstream.losses.KullbackLeibler`.

model = OnlineNMF(3, loss="kl", random_state=0).fit(counts)
found = align(spectra, model.components_)
maps = model.transform(counts)[:, found.order].reshape(side, side, 3)
learned = model.components_[found.order]

# %%
# Above: the spectra that were found, dashed the truth. Below: where they are.

figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
for number, name in enumerate(lines):
    top, bottom = axes[:, number]
    top.plot(energies, learned[number] / learned[number].sum())
    top.plot(energies, spectra[number], "k--", linewidth=0.8)
    top.set(title=name, xlabel="energy, keV", yticks=[])
    bottom.imshow(maps[:, :, number], cmap="viridis")
    bottom.axis("off")

plt.show()
