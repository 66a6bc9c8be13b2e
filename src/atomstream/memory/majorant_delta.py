"""What a batch adds to sums of power majorisers: for all features, or for those it touches."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries.base import Dictionary
from atomstream.memory.base import Delta


@dataclass(frozen=True, kw_only=True)
class MajorantDelta(Delta):
    """Sums over the samples i of a batch, each with its weight w_i, measured at one dictionary D.

    With :math:`g^+ - g^-` the gradient of the loss of a sample with respect to its reconstruction,
    b the curvature of its majoriser there (`atomstream.losses.majorisers`), and :math:`r_i` the
    mean of :math:`b_i` over features:

    Attributes
    ----------
    plus, minus : ndarray of shape (n_components, n_features)
        Sum of w_i h_i' g_i, of both parts.
    curvature : ndarray of shape (n_features,)
        Sum of w_i b_i: the curvature.
    gram : ndarray of shape (n_components, n_components)
        Sum of w_i r_i h_i' h_i.
    constant : float
        Sum of w_i times the objective of sample i, without what ``plus`` and ``minus`` say of it.
    usage, objective, mass
        As in `Delta`.
    atoms : ndarray of shape (n_components, n_features)
        D.
    features : ndarray of int of shape (n_touched,), optional
        Where samples have entries in few features: these, in ascending order. ``minus``,
        ``curvature`` and ``atoms`` are then known in these alone, the first two being 0 in all
        others, and ``plus``, of shape (n_components,), is that of every feature.
    dictionary : Dictionary, optional
        The one with all features that such a delta was measured at.
    """

    plus: NDArray
    minus: NDArray
    curvature: NDArray
    gram: NDArray
    constant: float
    atoms: NDArray
    features: Any = None
    dictionary: Any = None

    def densified(self) -> Self:
        """Return the sums for all features."""
        if self.features is None:
            return self
        atoms = self.dictionary.atoms().astype(np.float64)
        minus, curvature = np.zeros(atoms.shape), np.zeros(atoms.shape[1])
        minus[:, self.features], curvature[self.features] = self.minus, self.curvature
        plus = np.repeat(self.plus[:, None], len(curvature), axis=1)
        wide = {"plus": plus, "minus": minus, "curvature": curvature, "atoms": atoms}
        return replace(self, **wide, features=None, dictionary=None)

    def __add__(self, other: Self) -> Self:
        names = ["plus", "gram", "constant", "usage", "objective", "mass"]
        if self.features is None or other.features is None:
            # One set of atoms serves both: only deltas made with one dictionary add up.
            first, second, wide = self.densified(), other.densified(), {}
            names += ["minus", "curvature"]
        else:
            first, second, features = self, other, np.union1d(self.features, other.features)
            wide = {
                name: self._on(features, name) + other._on(features, name)
                for name in ("minus", "curvature")
            }
            atoms = self.dictionary.on(features).atoms().astype(np.float64)
            wide |= {"atoms": atoms, "features": features}
        sums = {name: getattr(first, name) + getattr(second, name) for name in names}
        return replace(first, **sums, **wide)

    def _on(self, features: NDArray, name: str) -> NDArray:
        """Return sums for more features, 0 for those that were not touched."""
        sums: NDArray = getattr(self, name)
        wide = np.zeros((*sums.shape[:-1], len(features)))
        wide[..., np.searchsorted(features, self.features)] = sums
        return wide

    @classmethod
    def across(cls, features: Sequence[NDArray], deltas: Sequence[Self], mass: float) -> Self:
        """Return what parts of the features add together, each measured at codes of its own.

        All features share one Gram matrix: the mean of those of the parts.
        """
        # Each feature is in one part: this puts them back into the order of the dictionary.
        order = np.argsort(np.concatenate(features))
        wide = {
            name: np.concatenate([getattr(delta, name) for delta in deltas], axis=-1)[..., order]
            for name in ("plus", "minus", "atoms", "curvature")
        }
        return cls(
            **wide,
            # Every part has codes for all rows, so what goes by codes is a mean, what goes by
            # features a sum.
            gram=np.mean([delta.gram for delta in deltas], axis=0),
            constant=sum(delta.constant for delta in deltas),
            usage=np.mean([delta.usage for delta in deltas], axis=0),
            objective=sum(delta.objective for delta in deltas),
            mass=mass,
        )

    def touching(self, features: NDArray, dictionary: Dictionary) -> Self:
        """Return sums measured with all features but these merged into one, the last.

        Parameters
        ----------
        features : ndarray of int of shape (n_touched,)
        dictionary : Dictionary
            With all features.
        """
        # The Gram matrix has the mean of the curvature over features, which are more than it knew.
        share = self.atoms.shape[1] / dictionary.shape[1]
        return replace(
            self,
            features=features,
            dictionary=copy(dictionary),
            # Where the slope at zero is constant all features have the same P. In the merged one,
            # the last, data are zeros, and so is N.
            plus=self.plus[:, 0],
            **{name: getattr(self, name)[..., :-1] for name in ("minus", "curvature", "atoms")},
            gram=share * self.gram,
        )

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return the gradient of the mean loss in the atoms, where it was measured."""
        whole = self.densified()
        return (whole.plus - whole.minus) / self.mass

    def smoothness(self) -> float:
        """Return the largest eigenvalue of the Gram matrix times the largest relative curvature."""
        curvature = self.densified().curvature
        peak = float(curvature.max()) / max(float(curvature.mean()), np.finfo(float).tiny)
        return float(np.linalg.eigvalsh(self.gram)[-1]) / self.mass * peak
