"""
A loss of your own
==================

What if no loss in the library fits your noise? A loss is a value and a gradient, entry by entry.
With these two functions it works in every model that takes a loss. A third one, a majoriser, makes
it fast. Here the loss is log cosh, which is squared for small errors and absolute for large ones.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

from atomstream import OnlineNMF, align
from atomstream.losses import Entrywise


@dataclass(frozen=True)
class LogCosh(Entrywise):
    """Nearly squared for small errors, nearly absolute for large ones."""

    def entries(self, x, y):
        """Return the loss of each entry."""
        return np.logaddexp(x - y, y - x) - np.log(2)

    def gradient(self, X, Y):
        """Return the derivative with respect to the reconstruction Y."""
        return np.tanh(Y - X)

    # The majoriser: a quadratic with the weights tanh(e) / e lies above the loss and touches it.
    exponents: ClassVar[tuple[float, float]] = (2.0, 1.0)

    def split(self, X, Y):
        """Return the two sums of which the slope of the majoriser is the difference."""
        error = np.maximum(np.abs(Y - X), 1e-12)
        weights = np.tanh(error) / error
        return weights * Y, weights * X


# %%
# Four shapes, and a twentieth of the entries is far off.

rng = np.random.default_rng(0)
places = np.arange(80)
shapes = 10 * np.stack([np.exp(-(((places - centre) / 6) ** 2)) for centre in (12, 30, 48, 66)])
X = rng.exponential(size=(2000, 4)) @ shapes + 0.3 * rng.random((2000, 80))
X[rng.random(X.shape) < 0.05] += 60

models = {
    "squared": OnlineNMF(4, random_state=0, n_epochs=10).fit(X),
    "log cosh": OnlineNMF(4, loss=LogCosh(), random_state=0, n_epochs=10).fit(X),
}

# %%
# The squared loss (:class:`atomstream.losses.Squared`) bends the atoms towards the outliers, and
# yours does not.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained", sharey=True)
for axis, (title, model) in zip(axes, models.items(), strict=True):
    for atom in model.components_[align(shapes, model.components_).order]:
        axis.plot(places, atom / np.linalg.norm(atom))
    for shape in shapes:
        axis.plot(places, shape / np.linalg.norm(shape), "k--", linewidth=0.8)
    axis.set(title=f"{title} (dashed: truth)", xlabel="feature", yticks=[])

plt.show()
