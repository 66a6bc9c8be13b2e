"""The subgradient of the newest batch, and what it is scaled by."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, number
from atomstream.coders import Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss
from atomstream.memory.base import Delta, Memory, Statistics
from atomstream.problem import Batch, Objective
from atomstream.problem.products import products


@dataclass(frozen=True, kw_only=True)
class SubgradientDelta(Delta):
    """Sums over the samples i of a batch, each with its weight w_i.

    Attributes
    ----------
    slope : ndarray of shape (n_components, n_features)
        Sum of w_i h_i' g_i, with g_i a subgradient of the loss with respect to the reconstruction.
    pulls, errors : ndarray of shape (n_features,)
        Sums of w_i |g_i| and of w_i |x_i - h_i D|: their ratio is the mean curvature from the data
        to the reconstruction.
    energy : ndarray of shape (n_components,)
        Sum of w_i h_i^2.
    usage, objective, mass
        As in `Delta`.
    """

    slope: NDArray
    pulls: NDArray
    errors: NDArray
    energy: NDArray

    def gradient(self, dictionary: Dictionary) -> NDArray:
        """Return the subgradient of the mean loss with respect to the atoms."""
        return self.slope / self.mass

    def smoothness(self) -> float:
        """Return the largest curvature of a feature."""
        return float(_curvature(self.energy / self.mass, self.pulls, self.errors).max())


class Subgradient(Memory[SubgradientDelta]):
    """The newest batch's subgradient, and running averages of what it is scaled and judged by.

    Attributes
    ----------
    slope : ndarray of shape (n_components, n_features)
        Subgradient of the mean loss of the newest batch.
    pulls, errors : ndarray of shape (n_features,)
        Running averages of absolute gradients and absolute errors.
    energy : ndarray of shape (n_components,)
        Running average of squared codes.
    constant : float
        Running average of the objective of batches at the dictionaries they were coded with.
    """

    SAVED = (
        *(array("slope", "r d"), array("pulls", "d"), array("errors", "d"), array("energy", "r")),
        number("constant"),
    )

    def __init__(self, n_components: int, n_features: int) -> None:
        self.slope = np.zeros((n_components, n_features))
        self.pulls, self.errors = np.zeros((2, n_features))
        self.energy = np.zeros(n_components)
        self.constant = 0.0

    def absorb(self, delta: SubgradientDelta, weight: float) -> None:
        """Keep the subgradient, and move the averages towards the batch's by its weight."""
        share = weight / delta.mass
        vars(self).update(
            # The slope is that of the newest batch alone, as in the paper; only the step size is
            # averaged.
            slope=delta.slope / delta.mass,
            pulls=(1 - weight) * self.pulls + share * delta.pulls,
            errors=(1 - weight) * self.errors + share * delta.errors,
            energy=(1 - weight) * self.energy + share * delta.energy,
            constant=(1 - weight) * self.constant + share * delta.objective,
        )

    def atom_energy(self, dictionary: Dictionary) -> NDArray:
        """Return the mean energy of each atom's part."""
        return self.energy * dictionary.gram().diagonal()

    @property
    def curvature(self) -> NDArray:
        """Curvature of each feature's problem in its atoms, (n_features,)."""
        return _curvature(self.energy, self.pulls, self.errors)

    def forget(self, atoms: NDArray) -> None:
        """Clear what is known of these atoms."""
        slope, energy = self.slope.copy(), self.energy.copy()
        slope[atoms] = energy[atoms] = 0
        vars(self).update(slope=slope, energy=energy)

    def value(self, dictionary: Dictionary) -> float:
        """Return the smoothed objective: no bound, but what falls along the stream."""
        return self.constant

    def merge(self, other: Self, share: float) -> None:
        """Refuse: two sequences of steps have no common one."""
        raise ValueError(
            "Runs of projected subgradient steps do not merge; learn with updater='auto' for that."
        )


def _curvature(energy: NDArray, pulls: NDArray, errors: NDArray) -> NDArray:
    """Return the trace of the Gram matrix of codes times each feature's secant curvature."""
    tiny = np.finfo(np.float64).tiny
    # Slope per error is the curvature that the steps have met. A feature without errors takes the
    # mean over all.
    secant = np.divide(pulls, errors, out=np.zeros_like(pulls), where=errors > tiny)
    mean = max(float(pulls.sum() / max(errors.sum(), tiny)), tiny)
    return energy.sum() * np.where(secant > 0, secant, mean)


@dataclass(frozen=True)
class Subgradients(Statistics[SubgradientDelta, Subgradient]):
    """Measures a subgradient of the loss of the newest batch, and how much it can change.

    References
    ----------
    Zhao, Tan, Xu (2017), Algorithm 1: the G of a batch.
    """

    def start(self, n_components: int, n_features: int, loss: Loss) -> Subgradient:
        """Return an empty memory."""
        return Subgradient(n_components, n_features)

    def measure(
        self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective
    ) -> SubgradientDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large or too small for their type.
        """
        h = codes.values.astype(np.float64)
        weights = batch.row_weights
        block = products(batch, dictionary.atoms().astype(np.float64), objective.loss)(slice(None))
        plus, minus, _ = block.split_entries(h)
        weighted = h * weights[:, None]
        slope = block.atom_gradient(weighted, plus) - block.atom_gradient(weighted, minus)
        pulls, errors = block.secant(h, weights)
        total = float((block.losses(h) + objective.codes.elastic_net(h)) @ weights)
        if not np.isfinite(total + slope.sum()):
            raise ValueError(
                f"Sums over the batch are not finite in {codes.values.dtype}; rescale the data."
            )
        return SubgradientDelta(
            slope=slope,
            pulls=pulls,
            errors=errors,
            energy=weights @ h**2,
            usage=weights @ np.abs(h),
            objective=total,
            mass=batch.mass,
        )
