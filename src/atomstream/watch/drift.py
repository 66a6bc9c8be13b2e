"""Has the stream changed? A cumulative sum over a scalar, with a known rate of false alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atomstream.base.cusum import SLACK, moved, summed

CLIP = 2.0  # standard deviations beyond which a value counts no more: laws with heavy tails
FIRST = 30  # values that each of the two stages learns from before it judges
OVERSHOOT = 1.166  # twice the mean excess of a random walk over a level, in standard deviations
POWER = 3  # the value at place s of n weighs as s^2
UNDER_WAY = 0.25  # share of the level from which on a change may be under way
PERSISTENT = 0.999  # the largest correlation of neighbours that is reckoned with


class DriftDetector:
    r"""A detector of upward changes in the mean of a scalar, such as the loss of batches.

    It is a cumulative sum (Page's test) of innovations: each value minus what its predecessor
    predicts, so that dependence along the stream is no change. With the mean, the spread and the
    correlation of neighbours learned from the values before, :math:`z_t` the innovation in
    standard deviations, clipped at 2 and freed of its own mean and spread,

    .. math:: S_t = \max(0, S_{t-1} + z_t - \tfrac14),

    and the alarm is given where :math:`S_t` exceeds the h for which Siegmund's formula gives
    ``false_alarm_every`` values between two alarms without any change,

    .. math:: \text{false\_alarm\_every} = 8 (e^{b/2} - b/2 - 1), \qquad b = h + 1.166.

    Parameters
    ----------
    false_alarm_every : float, default=10_000
        Mean number of values between two false alarms; at least 10.
    reach : int, default=500
        Values that count as the near past: what changes more slowly is no alarm. At least 50.

    Attributes
    ----------
    statistic : float
        :math:`S_t / h`, from 0 to 1; above 1 there is an alarm.
    since : int
        Number of values since the statistic was last below a quarter: how long ago a change began,
        should there be one.
    correlation : float
        Of neighbouring values, as learned so far.

    Raises
    ------
    ValueError
        For parameters out of range.

    References
    ----------
    Page (1954), "Continuous inspection schemes"; Siegmund (1985), "Sequential analysis", section
    2.3; Hawkins (1987), "Self-starting CUSUM charts for location and scale".

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.watch.drift import DriftDetector
    >>> values = np.random.default_rng(0).standard_normal(2000)
    >>> values[1000:] += 1
    >>> detector = DriftDetector()
    >>> [t for t, value in enumerate(values) if detector.update(value)]
    [1016]
    """

    def __init__(self, false_alarm_every: float = 10_000, reach: int = 500) -> None:
        if not 10 <= false_alarm_every < math.inf:
            raise ValueError(
                f"false_alarm_every must be a number of at least 10, got {false_alarm_every!r}."
            )
        if isinstance(reach, bool) or not isinstance(reach, int) or reach < FIRST:
            raise ValueError(f"reach must be a whole number of at least {FIRST}, got {reach!r}.")
        self.false_alarm_every, self.reach = false_alarm_every, reach
        self._level = _level(false_alarm_every)
        self.restart()

    def restart(self) -> None:
        """Forget all values: what comes next is the new normal."""
        self._count = self.since = 0
        self._sums = (0.0, 0.0, 0.0)  # mean, variance, covariance of neighbours
        self._innovation = (0.0, 0.0)  # mean, variance
        self._last = self._sum = 0.0

    @property
    def state(self) -> tuple[float, ...]:
        """All that it has learned, as nine numbers."""
        counts = (self._count, self.since)
        return (*counts, *self._sums, *self._innovation, self._last, self._sum)

    @state.setter
    def state(self, numbers: Sequence[float]) -> None:
        """Go on from what another detector has learned."""
        if len(numbers) != 9 or not all(map(math.isfinite, numbers)):
            raise ValueError(f"the state of a detector is nine numbers, got {numbers!r:.80}.")
        self._count, self.since = int(numbers[0]), int(numbers[1])
        self._sums = (numbers[2], numbers[3], numbers[4])
        self._innovation = (numbers[5], numbers[6])
        self._last, self._sum = numbers[7:]

    @property
    def statistic(self) -> float:
        """The sum as a share of the level of an alarm."""
        return self._sum / self._level

    @property
    def correlation(self) -> float:
        """Correlation of neighbouring values, without the bias that few values have."""
        _, variance, covariance = self._sums
        n = max(min(self._count, self.reach), 1)
        found = covariance / variance if variance > 0 else 0.0
        return min(max(found + (1 + 3 * found) / n, 0.0), PERSISTENT)

    def update(self, value: float) -> bool:
        """Take in the next value; return whether it gives the alarm: the next one starts anew.

        Parameters
        ----------
        value : float
            Values that are not finite are left out.
        """
        if not math.isfinite(value):
            return False
        if self.statistic > 1:
            self.restart()
        if self._count >= FIRST:
            self._judge(value)
        self._learn(value)
        return self.statistic > 1

    def _judge(self, value: float) -> None:
        """Add the innovation of a value to the sum."""
        (mean, variance, _), again = self._sums, self.correlation
        spread = math.sqrt(max(variance * (1 - again**2), 1e-300))
        innovation = ((value - mean) - again * (self._last - mean)) / spread
        innovation = min(max(innovation, -CLIP), CLIP)
        n, (middle, wide) = self._count - FIRST + 1, self._innovation
        if n > FIRST:
            scaled = (innovation - middle) / math.sqrt(max(wide, 1e-12))
            self._sum = summed(self._sum, scaled)
            self.since = self.since + 1 if self.statistic > UNDER_WAY else 0
        self._innovation = moved(middle, wide, innovation, self._weight(n))

    def _learn(self, value: float) -> None:
        mean, variance, covariance = self._sums
        self._count += 1
        weight, off = self._weight(self._count), value - mean
        before = self._last - mean if self._count > 1 else 0.0
        covariance = (1 - weight) * (covariance + weight * off * before)
        self._sums, self._last = (*moved(mean, variance, value, weight), covariance), value

    def _weight(self, n: int) -> float:
        """Return the weight of value number n: at first the latest count more, as models learn."""
        return max(POWER / (n + POWER - 1), 1 / self.reach)


def loss_of(objective: float) -> float:
    """Return what a detector judges of a mean loss: its logarithm, for losses change by factors."""
    return math.log(objective) if objective > 0 else math.nan


class Shares:
    """Means of several quantities before a change that may be under way, and since.

    Parameters
    ----------
    reach : int
        Values that count as the near past.

    Attributes
    ----------
    before, after : ndarray or None
        Mean of what came before the sum of a detector left zero, and of what came since; None
        where nothing did.
    """

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self.before: NDArray | None = None
        self._count = self._n_waiting = 0
        self._waiting: NDArray | float = 0.0

    @property
    def after(self) -> NDArray | None:
        """Mean of what came since the sum left zero."""
        return np.asarray(self._waiting) / self._n_waiting if self._n_waiting else None

    def update(self, values: NDArray, *, normal: bool) -> None:
        """Take in the next values; while all is normal, what has waited joins the past."""
        self._waiting, self._n_waiting = self._waiting + values, self._n_waiting + 1
        if normal:
            mean = np.asarray(self._waiting) / self._n_waiting
            self._count = min(self._count + self._n_waiting, self.reach)
            weight = min(self._n_waiting / self._count, 1.0)
            before = mean if self.before is None else self.before
            self.before = before + weight * (mean - before)
            self._waiting, self._n_waiting = 0.0, 0


def _level(false_alarm_every: float) -> float:
    """Return the level of the sum at which the mean time between false alarms is as asked."""

    def time(level: float) -> float:
        twice = 2 * SLACK * (level + OVERSHOOT)
        return (math.exp(min(twice, 700.0)) - twice - 1) / (2 * SLACK**2)

    low, high = 0.0, 1400.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if time(middle) < false_alarm_every else (low, middle)
    return high
