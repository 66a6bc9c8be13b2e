"""What is kept of the stream: the only thing besides the dictionary that changes.

Every change builds new arrays and puts them in place in one stroke, so whoever holds the old ones (a snapshot, a call
that must be undone) holds them unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.schedules import Harmonic

if TYPE_CHECKING:
    from atomstream.dictionaries import Dictionary
    from atomstream.learner import Clock
    from atomstream.statistics import Delta, GramDelta

__all__ = ["Aggregates", "Memory", "Usage"]

UNUSED = 1e-6  # an atom whose strength is below this share of the strongest counts as unused


class Memory(Protocol):
    """What the loop knows of a memory."""

    def absorb(self, delta: Any, weight: float) -> None:
        """Take in what a batch adds, by its weight."""
        ...

    def strength(self) -> NDArray:
        """Return how much the memory holds of each atom, (n_components,); 0 where nothing."""
        ...

    def forget(self, atoms: NDArray) -> None:
        """Drop what is known of these atoms."""
        ...

    def value(self, dictionary: Any) -> float:
        """Return the surrogate: the average objective of past samples at their stored codes."""
        ...


class Aggregates:
    r"""Weighted averages of code and data products over the stream, in float64.

    After batch t of mass n_t, with :math:`w_1 = 1` (averaged over the batch, not summed; the harmonic schedule
    gives :math:`w_t = n_t / (n_1 + ... + n_t)`, so that each sample weighs the same),

    .. math:: A_t = (1 - w_t) A_{t-1} + w_t H_t^\top H_t / n_t, \quad
              B_t = (1 - w_t) B_{t-1} + w_t H_t^\top X_t / n_t.

    Attributes
    ----------
    gram : ndarray of shape (n_components, n_components)
        A.
    cross : ndarray of shape (n_components, n_features)
        B.
    constant : float
        The same average of |x|^2 / 2 + penalty of the code.

    References
    ----------
    .. [1] Mairal, Bach, Ponce, Sapiro (2010), Online learning for matrix factorization and sparse coding, JMLR 11,
       Algorithm 1. Ours is the transpose and is averaged.
    """

    def __init__(self, n_components: int, n_features: int) -> None:
        self.gram = np.zeros((n_components, n_components))
        self.cross = np.zeros((n_components, n_features))
        self.constant = 0.0

    def absorb(self, delta: GramDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        self._move(weight, delta.gram, delta.cross, delta.constant, delta.mass)

    def strength(self) -> NDArray:
        """Return the diagonal of A: the mean squared coefficient of each atom."""
        return np.diag(self.gram)

    def forget(self, atoms: NDArray) -> None:
        """Clear rows and columns of A and rows of B."""
        gram, cross = self.gram.copy(), self.cross.copy()
        gram[atoms, :] = 0
        gram[:, atoms] = 0
        cross[atoms] = 0
        vars(self).update(gram=gram, cross=cross)

    def value(self, dictionary: Dictionary) -> float:
        r"""Return the average objective of past samples at their stored codes, :math:`\hat f_t(D)`.

        References
        ----------
        Lyu, Needell, Balzano, eq. (17), halved; an upper bound of the loss at optimal codes.
        """
        atoms = dictionary.atoms().astype(np.float64)
        return float(self.constant + 0.5 * np.vdot(self.gram, atoms @ atoms.T) - np.vdot(self.cross, atoms))

    def merge(self, other: Self, clock: Clock, other_clock: Clock) -> None:
        """Take in the memory of another part of the stream that was coded with the same dictionary.

        Raises
        ------
        ValueError
            Unless both memories were made with the harmonic schedule: under any other the weight of a sample depends
            on what came after it.
        """
        for schedule in (clock.schedule, other_clock.schedule):
            if schedule != Harmonic():
                raise ValueError(f"Memories merge only under the harmonic schedule, got {schedule!r}.")
        share = other_clock.mass / (clock.mass + other_clock.mass)
        self._move(share, other.gram, other.cross, other.constant, 1.0)
        clock.mass += other_clock.mass
        clock.step += other_clock.step
        clock.n_samples += other_clock.n_samples

    def _move(self, weight: float, gram: NDArray, cross: NDArray, constant: float, mass: float) -> None:
        share = weight / mass
        vars(self).update(
            gram=(1 - weight) * self.gram + share * gram,
            cross=(1 - weight) * self.cross + share * cross,
            constant=(1 - weight) * self.constant + share * constant,
        )


class Usage:
    """How much each atom has been used, whatever the memory forgets.

    Attributes
    ----------
    total : ndarray of shape (n_components,)
        Sum over the run of absolute codes times sample weights.
    idle : ndarray of shape (n_components,)
        Mass of the samples that came since an atom was last of use.
    """

    def __init__(self, n_components: int) -> None:
        self.total = np.zeros(n_components)
        self.idle = np.zeros(n_components)

    def absorb(self, delta: Delta, strength: NDArray) -> None:
        """Count a batch; ``strength`` is the memory's, after it took the batch in."""
        idle = np.where(strength > UNUSED * strength.max(), 0.0, self.idle + delta.mass)
        vars(self).update(total=self.total + delta.usage, idle=idle)

    def forget(self, atoms: NDArray) -> None:
        """Start the idle time of these atoms anew."""
        idle = self.idle.copy()
        idle[atoms] = 0
        self.idle = idle
