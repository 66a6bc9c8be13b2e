"""
Pictures with outliers
======================

One pixel in seven of your pictures was overwritten: it is black or white. Can you still learn what
they are made of? The squared loss believes every pixel. The Huber loss stops believing a pixel
whose error is large.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from atomstream import OnlineNMF

digits = load_digits().data[:300] / 16  # 8 x 8 pixels each, in [0, 1]
rng = np.random.default_rng(0)
wrong = rng.random(digits.shape) < 0.15
damaged = np.where(wrong, rng.integers(0, 2, digits.shape), digits)

# %%
# ``"huber:0.1"`` says that an error of more than 0.1, on a scale where white is 1, is suspicious.
# It is short for :class:`atomstream.losses.Huber`.

plain = OnlineNMF(16, batch_size=50, n_epochs=20, random_state=0).fit(damaged)
robust = OnlineNMF(16, loss="huber:0.1", batch_size=50, n_epochs=20, random_state=0).fit(damaged)
rebuilt = {
    "squared loss": plain.inverse_transform(plain.transform(damaged)),
    "Huber loss": robust.clean(damaged),
}
for name, rows in rebuilt.items():
    print(f"{name}: error {np.linalg.norm(rows - digits) / np.linalg.norm(digits):.3f}")

# %%
# Each column is a picture. Neither model has seen the top row.

rows = {"truth": digits, "what you have": damaged} | rebuilt
figure, axes = plt.subplots(4, 7, figsize=(8, 5), layout="constrained")
for line, (title, pictures) in zip(axes, rows.items(), strict=True):
    for axis, picture in zip(line, pictures[::40], strict=False):
        axis.imshow(picture.reshape(8, 8), cmap="gray", vmin=0, vmax=1)
        axis.set(xticks=[], yticks=[])
    line[0].set_ylabel(title)

plt.show()
