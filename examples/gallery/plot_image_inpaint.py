"""
Fill in missing pixels
======================

Three quarters of the pixels of a picture are lost. What did they show? A patch is coded by the
pixels that are left, and its atoms say what the others were.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage.data import brick

from atomstream import ImageDictionary, images

picture = brick()[:256, :256] / 255
missing = np.random.default_rng(0).random(picture.shape) < 0.75
holes = np.where(missing, np.nan, picture)

# %%
# There is no other picture to learn from. So you learn from this one, its holes filled with the
# means of their neighbours.

guess = images.first_guess(holes)
model = ImageDictionary(128, patch_size=8, n_patches=20_000, random_state=0).fit(guess)
filled = model.inpaint(holes)

# %%
# The pictures in the middle and on the right have only the pixels on the left to go by.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
shown = {
    "a quarter of the pixels": np.nan_to_num(holes, nan=1.0),
    f"means of neighbours, {images.psnr(picture, guess):.1f} dB": guess,
    f"atoms, {images.psnr(picture, filled):.1f} dB": filled,
}
for axis, (title, image) in zip(axes, shown.items(), strict=True):
    axis.imshow(image, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title)
    axis.axis("off")

plt.show()
