"""
Remove noise from a photograph
==============================

How do you clean a picture when you have nothing but the noisy picture? You learn the atoms from
it. Noise is not made of few atoms, the picture is; so you keep what few atoms explain.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import camera

from atomstream import ImageDictionary, images

picture = camera()[::2, ::2] / 255
noisy = picture + 0.1 * np.random.default_rng(0).standard_normal(picture.shape)

# %%
# You do not have to know how strong the noise is: it is estimated from the picture.

model = ImageDictionary(128, patch_size=8, n_patches=30_000, random_state=0).fit(noisy)
clean = model.denoise(noisy)
print(f"noise: {images.noise_level(noisy):.3f}")

# %%
# The usual measure is the peak signal-to-noise ratio, in decibels. Higher is better.

titles = {"original": picture, "noisy": noisy, "cleaned": clean}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for axis, (title, image) in zip(axes, titles.items(), strict=True):
    quality = "" if image is picture else f", {images.psnr(picture, image):.1f} dB"
    axis.imshow(image, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title + quality)
    axis.axis("off")

plt.show()
