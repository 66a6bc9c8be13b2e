"""
Atoms made of your own samples
==============================

What is this atom? "62 % of this row and 38 % of that row" is an answer that you can check. In
convex factorization every atom is a mixture of a few samples, which the model keeps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from atomstream import OnlineConvexMF

digits = load_digits()
X = digits.data / 16
model = OnlineConvexMF(10, n_representatives=200, n_epochs=5, random_state=0).fit(X)

# %%
# ``explain`` lists the samples of an atom, the largest share first. Atoms stay in the
# :class:`atomstream.dictionaries.Hulls` of their samples.

for part in model.explain(0, top=3):
    print(f"{part.share:.0%} of row {part.id}, a {digits.target[part.index]}")

# %%
# On the left stands an atom, on the right the samples that it is made of, with their shares.

order = np.argsort(-model.importance_)[:6]
figure, axes = plt.subplots(6, 6, figsize=(6.4, 7), layout="constrained")
for line, atom in zip(axes, order, strict=True):
    line[0].imshow(model.components_[atom].reshape(8, 8), cmap="Blues")
    line[0].set_title(f"atom {atom}")
    parts = model.explain(atom, top=5)
    for axis, part in zip(line[1:], parts, strict=False):
        axis.imshow(part.sample.reshape(8, 8), cmap="Greys")
        axis.set_title(f"{part.share:.0%}")
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])

plt.show()
