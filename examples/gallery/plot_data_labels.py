"""
Atoms that tell classes apart
=============================

Which atoms explain the rows, and also say which label a row has? One number, ``weight``, decides
how much the labels count. Here ten atoms explain handwritten digits, without labels and with them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from atomstream import SupervisedDictionary

digits = load_digits()
X, X_other, y, y_other = train_test_split(digits.data / 16, digits.target, random_state=0)
models = {
    weight: SupervisedDictionary(10, weight=weight, random_state=0).fit(X, y)
    for weight in (0.0, 0.3)
}

# %%
# With labels fewer digits that nobody learned from are mistaken, and all are explained worse.

for weight, model in models.items():
    wrong, error = 1 - model.score(X_other, y_other), model.losses(X_other).mean()
    print(f"weight {weight}: {wrong:.1%} wrong, mean loss of a digit {error:.2f}")

# %%
# Atoms above, and below them what a unit of each adds to the score of each digit
# (:attr:`atomstream.SupervisedDictionary.coef_`): without labels an atom speaks for many digits,
# with them for few.

figure, axes = plt.subplots(4, 10, figsize=(8, 4.4), layout="constrained")
for place, weight in enumerate((0.0, 0.3)):
    model = models[weight]
    order = model.coef_.argmax(axis=0).argsort(kind="stable")
    for atom, (picture, bars) in zip(order, axes[2 * place : 2 * place + 2].T, strict=True):
        picture.imshow(model.components_[atom].reshape(8, 8), cmap="Blues")
        picture.set(xticks=[], yticks=[])
        bars.bar(model.classes_, model.coef_[:, atom], color="#d95f02")
        bars.set(yticks=[], xticks=[0, 5])
        bars.axhline(0, color="black", linewidth=0.5)
    axes[2 * place, 0].set_ylabel(f"weight {weight}")

plt.show()
