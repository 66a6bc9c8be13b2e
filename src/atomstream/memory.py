"""What is kept of the stream: the only thing besides the dictionary that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from atomstream.schedules import Harmonic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from atomstream.dictionaries import Rows
    from atomstream.learner import Clock
    from atomstream.statistics import GramDelta

__all__ = ["Aggregates"]

UNUSED = 1e-6  # an atom whose share of the gram's diagonal is below this (relative to the largest) counts as unused


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
    usage : ndarray of shape (n_components,)
        Sum (not faded) of |code| over the run.
    idle : ndarray of shape (n_components,)
        Mass of the samples since an atom was last of use.

    References
    ----------
    .. [1] Mairal, Bach, Ponce, Sapiro (2010), Online learning for matrix factorization and sparse coding, JMLR 11,
       Algorithm 1. Ours is the transpose and is averaged.
    """

    def __init__(self, n_components: int, n_features: int) -> None:
        self.gram = np.zeros((n_components, n_components))
        self.cross = np.zeros((n_components, n_features))
        self.constant = 0.0
        self.usage = np.zeros(n_components)
        self.idle = np.zeros(n_components)

    def absorb(self, delta: GramDelta, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        share = weight / delta.mass
        self.gram *= 1 - weight
        self.gram += share * delta.gram
        self.cross *= 1 - weight
        self.cross += share * delta.cross
        self.constant += share * delta.constant - weight * self.constant
        self.usage += delta.usage
        diagonal = np.diag(self.gram)
        self.idle = np.where(diagonal > UNUSED * diagonal.max(), 0.0, self.idle + delta.mass)

    def value(self, dictionary: Rows) -> float:
        r"""Return the average objective of past samples at their stored codes, :math:`\hat f_t(D)`.

        References
        ----------
        Lyu, Needell, Balzano, eq. (17), halved; an upper bound of the loss at optimal codes.
        """
        atoms = dictionary.atoms().astype(np.float64)
        return float(self.constant + 0.5 * np.vdot(self.gram, atoms @ atoms.T) - np.vdot(self.cross, atoms))

    def forget(self, atom: int | NDArray) -> None:
        """Drop what is known of these atoms."""
        self.gram[atom, :] = 0
        self.gram[:, atom] = 0
        self.cross[atom] = 0
        self.idle[atom] = 0

    def merge(self, other: Aggregates, clock: Clock, other_clock: Clock) -> None:
        """Take in the memory of another part of the stream that was coded with the same dictionary.

        Raises
        ------
        ValueError
            Unless both memories were made with the harmonic schedule: under any other the weight of a sample depends
            on what came after it.
        """
        for name in (clock.schedule, other_clock.schedule):
            if name != Harmonic():
                raise ValueError(f"Memories merge only under the harmonic schedule, got {name!r}.")
        share = other_clock.mass / (clock.mass + other_clock.mass)
        self.gram += share * (other.gram - self.gram)
        self.cross += share * (other.cross - self.cross)
        self.constant += share * (other.constant - self.constant)
        self.usage += other.usage
        self.idle = np.minimum(self.idle, other.idle)
        clock.mass += other_clock.mass
        clock.step += other_clock.step
        clock.n_samples += other_clock.n_samples
