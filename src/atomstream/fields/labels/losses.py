"""Losses of labels as functions of scores: what a dictionary that predicts is judged by.

Targets are tables of one row a sample and one column an output; a score is a linear function of the
code.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy  # what is in it is loaded at its first use
from numpy.typing import NDArray

MAX_ROUNDS = 500  # of a head on the codes of all rows
MAX_SCORE = 30.0  # of counts, whose mean is its exponential
MIN_DIFFERENCE = 1e-6  # of scores: below it the curvature is that of two equal ones


class LabelLoss(ABC):
    """The loss of labels at scores, row by row, with a parabola above it at each score."""

    @abstractmethod
    def value(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the loss of each row, (n_samples,)."""

    @abstractmethod
    def slope(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the gradient with respect to the scores, (n_samples, n_outputs)."""

    @abstractmethod
    def curvature(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the curvature of a parabola that touches the loss and lies above it, (n_samples,).

        Of counts, which have none, of one whose minimum is no further than the label.
        """

    def hessian(self, scores: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return d and r, (n_samples, n_outputs): the second derivative is diag(d) - r'r."""
        return np.ones_like(scores), np.zeros_like(scores)

    @abstractmethod
    def mean(self, scores: NDArray) -> NDArray:
        """Return what is expected of the targets at these scores, (n_samples, n_outputs)."""


@dataclass(frozen=True)
class Logistic(LabelLoss):
    r"""Classes: :math:`\log \sum_c e^{s_c} - s_y`, times the sum of the row of the target.

    A target has its weight in the column of its class and zeros elsewhere.
    """

    def value(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the negative logarithms of the probabilities of the classes."""
        whole = targets.sum(axis=1) * scipy.special.logsumexp(scores, axis=1)
        return np.asarray(whole - (scores * targets).sum(axis=1))

    def slope(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return probabilities less targets."""
        return targets.sum(axis=1, keepdims=True) * scipy.special.softmax(scores, axis=1) - targets

    def curvature(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the curvature of Jaakkola and Jordan's parabola for the two largest scores.

        With a difference of m it is tanh(m / 2) / m, exact for two classes and at most one half;
        for more classes it is widened by the class of the row.
        """
        two = np.partition(scores, -2, axis=1)[:, -2:]
        own = (scores * targets).sum(axis=1) / np.maximum(targets.sum(axis=1), MIN_DIFFERENCE)
        # Where the own class is far below the largest, the loss is nearly linear on the way.
        m = np.maximum(
            np.where(own < two[:, 1], two[:, 1] - own, two[:, 1] - two[:, 0]), MIN_DIFFERENCE
        )
        return np.asarray(targets.sum(axis=1) * np.tanh(m / 2) / m)

    def hessian(self, scores: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return the probabilities, by the weight of the row and by its root."""
        whole, shares = targets.sum(axis=1, keepdims=True), scipy.special.softmax(scores, axis=1)
        return whole * shares, np.sqrt(whole) * shares

    def mean(self, scores: NDArray) -> NDArray:
        """Return the probabilities of the classes."""
        return np.asarray(scipy.special.softmax(scores, axis=1))


@dataclass(frozen=True)
class SquaredError(LabelLoss):
    """Numbers: half the squared difference."""

    def value(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return half the squared lengths of the differences."""
        return np.asarray(0.5 * ((scores - targets) ** 2).sum(axis=1))

    def slope(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the differences."""
        return scores - targets

    def curvature(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return ones: the loss is the parabola."""
        return np.ones(len(scores))

    def mean(self, scores: NDArray) -> NDArray:
        """Return the scores."""
        return scores


@dataclass(frozen=True)
class Poisson(LabelLoss):
    r"""Counts with the mean :math:`e^s`: :math:`e^s - y s`."""

    def value(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the negative log likelihoods, without what the counts alone add."""
        return np.asarray((self.mean(scores) - targets * scores).sum(axis=1))

    def slope(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return means less counts."""
        return self.mean(scores) - targets

    def curvature(self, scores: NDArray, targets: NDArray) -> NDArray:
        """Return the larger one of mean and count: no step is then longer than one."""
        return np.asarray(np.maximum(self.mean(scores), targets).max(axis=1))

    def hessian(self, scores: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return the means."""
        return self.mean(scores), np.zeros_like(scores)

    def mean(self, scores: NDArray) -> NDArray:
        """Return the means."""
        return np.asarray(np.exp(np.minimum(scores, MAX_SCORE)))


def best_head(
    loss: LabelLoss,
    inputs: NDArray,
    targets: NDArray,
    weights: NDArray,
    penalties: NDArray,
    start: NDArray,
) -> NDArray:
    """Return the head C that minimises the mean loss at inputs @ C and half of penalties |C|^2.

    Parameters
    ----------
    loss : LabelLoss
    inputs : ndarray of shape (n_samples, n_inputs)
    targets : ndarray of shape (n_samples, n_outputs)
    weights : ndarray of shape (n_samples,)
    penalties : ndarray of shape (n_inputs,)
        Strength of the penalty on each row of the head.
    start : ndarray of shape (n_inputs, n_outputs)
    """
    from scipy.optimize import minimize  # takes a while to load, and streams never ask for it

    share = weights / weights.sum()
    # In units in which all inputs are alike in size, which a quasi-Newton method needs.
    sizes = np.sqrt(share @ inputs**2)
    sizes[sizes == 0] = 1.0
    inputs, penalties = inputs / sizes, penalties / sizes**2

    def cost(flat: NDArray) -> tuple[float, NDArray]:
        """Return the mean loss with its penalty, and its gradient."""
        head = flat.reshape(start.shape)
        scores = inputs @ head
        value = share @ loss.value(scores, targets) + 0.5 * penalties @ (head**2).sum(axis=1)
        slope = (
            inputs.T @ (share[:, None] * loss.slope(scores, targets)) + penalties[:, None] * head
        )
        return float(value), slope.ravel()

    first = (start * sizes[:, None]).ravel()
    found = minimize(cost, first, jac=True, method="L-BFGS-B", options={"maxiter": MAX_ROUNDS})
    return np.asarray(found.x.reshape(start.shape) / sizes[:, None])


LABELS: dict[str, LabelLoss] = {
    "classes": Logistic(),
    "numbers": SquaredError(),
    "counts": Poisson(),
}
