"""A second learner that forgets fast, and takes over where it explains new batches better."""

import math
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from atomstream.base import moved, summed
from atomstream.base.saved_fields import array, count, part
from atomstream.loop.online import Algorithm
from atomstream.memory import Delta, State
from atomstream.problem import Batch, Clock
from atomstream.schedules import Constant

FRESH = Constant(weight=0.5)  # of the newest batch in the memory of the second learner
BATCHES = 2.0  # that the first learner stands for once it has taken the second one's memory
MIN_BATCHES = 10  # batches before anything is judged
LEVEL = 5.0  # of the sum of gains, in standard deviations of a gain
JUMP, MIN_JUMP = 5.0, 0.4  # of the logarithm of a loss: standard deviations, and at least so much
GAIN_WEIGHT = 0.02  # weight of the newest gain in their spread
MIN_LOSS_WEIGHT = 0.03  # least weight of the newest loss in the level of losses
MAX_GAIN = 3.0  # standard deviations beyond which a gain tells nothing of the spread
MIN_SPREAD = 0.01  # of a gain: losses that differ by less are equal


class Reactive:
    r"""A twin of a model whose memory is the newest batches alone.

    Both code each batch before they learn from it. With the gain :math:`g_t`, the logarithm of the
    first one's mean objective over the second one's, and s the root mean square of gains, clipped
    at 3 s,

    .. math:: S_t = \max(0, S_{t-1} + g_t / s - \tfrac14).

    Where S exceeds 5, or the logarithm of the first one's objective lies more than 5 standard
    deviations and more than 0.4 above its level, the first one takes the dictionary and the memory
    of the second, and stands for two batches from then on.

    Parameters
    ----------
    state : State
        From which both begin.
    clock : Clock
        Of the first one.

    Attributes
    ----------
    state : State
    clock : Clock
        Those of the twin.
    n_taken : int
        How often its memory was taken over.

    References
    ----------
    Bach and Maloof (2008), "Paired learners for concept drift", ICDM: a stable and a reactive
    learner. The sums of gains and the jump are ours.
    """

    SAVED: ClassVar = (
        *(part("state", State), part("clock", Clock), count("n_taken")),
        array("numbers", "6", finite=True),
    )

    def __init__(self, state: State, clock: Clock) -> None:
        self.state = deepcopy(state)
        self.clock = Clock(FRESH, clock.accuracy, step=clock.step, mass=clock.mass)
        self.n_taken = 0
        # Sum, mean square and number of gains; level, variance and number of logarithms of losses.
        self.numbers = np.zeros(6)

    def check_saved(self, **sizes: int) -> None:
        """Refuse what cannot be squares, sums of them, or counts: all but the level of losses."""
        if (np.delete(self.numbers, 3) < 0).any():
            raise ValueError("squares or counts of a second learner below 0")

    def follow(
        self, batch: Batch, delta: Delta, state: State, algorithm: Algorithm, clock: Clock, rng: Any
    ) -> bool:
        """Learn from a batch that the first one has learned from; return whether it took over.

        Parameters
        ----------
        batch : Batch
        delta : Delta
            What the first one has made of it, with its objective before the update.
        state, clock : State, Clock
            Those of the first one, which change where it takes over the memory of this one.
        algorithm : Algorithm
        rng : Generator
        """
        self.clock.accuracy = clock.accuracy
        codes, own = algorithm.step(batch, self.state, self.clock, rng)
        algorithm.reseed(batch, codes, self.state, rng)
        mass, losses = delta.mass, (delta.objective, own.objective)
        # Logarithms follow: an exact fit, or an objective that overflows, is no measure.
        if mass <= 0 or not all(0 < loss < math.inf for loss in losses):
            return False
        if not self._judge(math.log(losses[0] / mass), math.log(losses[0] / losses[1])):
            return False
        self.n_taken += 1
        vars(state).update(vars(deepcopy(self.state)))
        # As early in a run, so that the next batches move the atoms again.
        clock.mass = min(clock.mass, BATCHES * mass)
        return True

    def _judge(self, loss: float, gain: float) -> bool:
        """Take in the logarithm of a loss and a gain; return whether to change over."""
        total, square, n_gains, level, variance, n_losses = self.numbers.tolist()
        jump = max(JUMP * math.sqrt(variance), MIN_JUMP)
        if n_losses > MIN_BATCHES and loss - level > jump:
            self.numbers = np.array([0.0, square, n_gains, 0.0, 0.0, 0.0])  # the level is another
            return True
        if n_gains > MIN_BATCHES:
            # Not from their mean: what counts is that the second learner is better at all.
            total = summed(total, gain / math.sqrt(square))
        if total > LEVEL:
            self.numbers = np.array([0.0, square, n_gains, level, variance, n_losses])
            return True
        n_gains, n_losses = n_gains + 1, n_losses + 1
        # The plain mean at first, one that forgets from 1 / GAIN_WEIGHT gains on.
        near = max(GAIN_WEIGHT, 1 / n_gains)
        # One huge gain would widen the scale and hide the change that follows.
        known = min(gain**2, MAX_GAIN**2 * square) if n_gains > MIN_BATCHES else gain**2
        square = max(square + near * (known - square), MIN_SPREAD**2)
        level, variance = moved(level, variance, loss, max(MIN_LOSS_WEIGHT, 1 / n_losses))
        self.numbers = np.array([total, square, n_gains, level, variance, n_losses])
        return False
