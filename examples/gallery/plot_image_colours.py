"""
Colours for a grey picture
==========================

Half of your photograph is grey. Can the other half lend it its colours? A grey patch does not have
one, but the material that it shows does: a flower is orange and leaves are green. You give examples
of both, and each gets a dictionary in colour. (On two paintings the mean colour of the nearest grey
patches of the examples did better; try it, too.)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from atomstream import ColorRestorer

photograph = load_sample_image("flower.jpg")[60:420, 120:520]
half = 200
known, lost = photograph[:, :half], photograph[:, half:]
grey = np.rint(lost @ [0.2989, 0.5870, 0.1140]).astype(np.uint8)

# %%
# Two pieces of the half in colour say what flowers and what leaves look like.

examples = {"flower": known[60:200, 90:], "leaves": [known[:, :40], known[:40, 40:]]}
model = ColorRestorer(5, 8, n_patches=4000, random_state=0).fit(examples)
restored, materials = model.restore(grey)
print({name: f"{(materials == n).mean():.0%}" for n, name in enumerate(model.materials_)})

# %%
# What is given, what the model makes of it, what it took each pixel for, and the truth.

given = np.hstack([known, np.repeat(grey[:, :, None], 3, axis=2)])
pictures = {
    "given": given,
    "restored": np.hstack([known, restored]),
    "flower (light), leaves": np.hstack([np.full(known.shape[:2], np.nan), materials]),
    "truth": photograph,
}
figure, axes = plt.subplots(1, 4, figsize=(9, 2.5), layout="constrained")
for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
    axis.imshow(picture, cmap="Greens", vmin=-0.5)
    axis.set_title(title)
    axis.axis("off")

plt.show()
