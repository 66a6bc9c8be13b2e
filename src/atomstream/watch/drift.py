"""Has the stream changed? A cumulative sum over a scalar, with a known rate of false alarms."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atomstream.base import SLACK, moved

CLIP = 2.0  # standard deviations beyond which a value counts no more: laws with heavy tails
FIRST = 30  # values that each of the two stages learns from before it judges
OVERSHOOT = 1.166  # twice the mean excess of a random walk over a level, in standard deviations
POWER = 3  # the value at place s of n weighs as s^2
UNDER_WAY = 0.25  # share of the level from which on a change may be under way
PERSISTENT = 0.999  # the largest correlation of neighbours that is reckoned with
DOUBT = 0.75  # standard errors of the correlation that are added to it
SKEW_SHARE = 0.75  # of the slack that a skewed law would need: all of it hides changes
PRIOR_VALUES = 60  # values that the normal law stands for in the learned moment
MAX_SCORE = 3.0  # standard deviations beyond which a score adds nothing to the moment
SETTLING = 20  # values after an alarm from which the new level is learned before it is judged
FROZEN = 60  # values after an alarm during which spread and correlation are kept
# Of a value, in standard deviations, and values before one that may be a leap.
LEAP, LEAP_SPREADS, FIRST_LEAP = math.log(100), 6.0, 9
REMEMBERED = 200  # values that the spread and the correlation stand for after an alarm


class _Law(NamedTuple):
    """How values scatter about their level, whatever that is."""

    variance: float = 0.0
    covariance: float = 0.0  # of neighbours
    middle: float = 0.0  # mean of the clipped innovations
    wide: float = 0.0  # their variance
    moment: float = math.exp(1 / 8)  # mean of exp(z / 2): that of the normal law, at first


class DriftDetector:
    r"""A detector of upward changes in the mean of a scalar, such as the loss of batches.

    It is a cumulative sum (Page's test) of innovations: each value minus what its predecessor
    predicts, so that dependence along the stream is no change. With the mean, the spread and the
    correlation of neighbours learned from the values before, :math:`z_t` the innovation in
    standard deviations, clipped at 2 and freed of its own mean and spread,

    .. math:: S_t = \max(0, S_{t-1} + z_t - k),

    and the alarm is given where :math:`S_t` exceeds the h for which Siegmund's formula gives
    ``false_alarm_every`` values between two alarms without any change,

    .. math:: \text{false\_alarm\_every} = 8 (e^{b/2} - b/2 - 1), \qquad b = h + 1.166.

    The slack k is 1/4 for normal values: then :math:`E\, e^{(z - k)/2} = 1`, on which the formula
    rests. Where the law learned needs more, as skewed ones do, k goes three quarters of the way
    there. The correlation is taken three quarters of a standard error above what was found, for a
    correlation that is too low makes a change of every excursion. After an alarm the level is
    learned anew, from 20 values; spread, correlation and moment stay as they were before the change
    began, so that a second change is found as soon as the first. Until 60 values have come, and
    until 20 have after an alarm, no sum is kept: from the tenth on only two values in a row
    that are more than log 100 and six standard deviations above the mean give the alarm, a
    hundredfold of a loss that comes as its logarithm.

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
        self._count = self._known = self._n_judged = self.since = 0
        self._mean = self._last = self._sum = 0.0
        self._law = self._calm = _Law()

    @property
    def state(self) -> tuple[float, ...]:
        """All that it has learned, as seventeen numbers."""
        counts = (self._count, self.since, self._known, self._n_judged)
        return (*counts, self._mean, self._last, self._sum, *self._law, *self._calm)

    @state.setter
    def state(self, numbers: Sequence[float]) -> None:
        """Go on from what another detector has learned; earlier releases kept nine numbers."""
        if len(numbers) not in (9, 17) or not all(map(math.isfinite, numbers)):
            raise ValueError(f"the state of a detector is 17 numbers, got {numbers!r:.80}.")
        if len(numbers) == 9:
            count, since, mean, variance, covariance, middle, wide, last, total = numbers
            law = _Law(variance, covariance, middle, wide)
            judged = max(count - FIRST, 0)
            numbers = (count, since, count, judged, mean, last, total, *law, *law)
        self._count, self.since, self._known, self._n_judged = map(int, numbers[:4])
        self._mean, self._last, self._sum = numbers[4:7]
        self._law, self._calm = _Law(*numbers[7:12]), _Law(*numbers[12:])

    @property
    def statistic(self) -> float:
        """The sum as a share of the level of an alarm."""
        return self._sum / self._level

    @property
    def is_blind(self) -> bool:
        """Whether too few values have come to judge the next one by the sum."""
        few = self._count < (FIRST if self._count == self._known else SETTLING)
        return few or self._n_judged < FIRST

    @property
    def correlation(self) -> float:
        """Correlation of neighbouring values, without the bias of few values, and some doubt."""
        n = max(min(self._count, self.reach), 1)
        law = self._calm  # a change that may be under way would look like correlation
        found = law.covariance / law.variance if law.variance > 0 else 0.0
        found = min(max(found + (1 + 3 * found) / n, 0.0), 1.0)
        # Where neighbours do not depend on each other, there is nothing to doubt.
        return min(found + DOUBT * found * math.sqrt((1 - found**2) / n), PERSISTENT)

    def update(self, value: float) -> bool:
        """Take in the next value; return whether it gives the alarm: the next is a new level's.

        Parameters
        ----------
        value : float
            Values that are not finite are left out.
        """
        if not math.isfinite(value):
            return False
        if self.statistic > 1:
            self._begin_level()
        if self.is_blind:
            self.since = self.since + 1 if self._leaps(value) else 0
            if self.since:  # one alone may be an outlier, which nothing is learned from
                self._sum = 2 * self._level * (self.since > 1)
                return self.since > 1
        if self._count >= (FIRST if self._count == self._known else SETTLING):
            self._judge(value)
        self._learn(value)
        if self.since == 0:
            self._calm = self._law
        return self.statistic > 1

    def _leaps(self, value: float) -> bool:
        """Return whether a value is far above all that is known."""
        least = max(LEAP, LEAP_SPREADS * math.sqrt(self._law.variance))
        return self._count >= FIRST_LEAP and value - self._mean > least

    def _begin_level(self) -> None:
        """Forget the level, and what was learned of the law since the change began."""
        self._law = self._calm
        self._count = self.since = 0
        self._sum = 0.0
        self._known, self._n_judged = (min(n, REMEMBERED) for n in (self._known, self._n_judged))

    def _judge(self, value: float) -> None:
        """Add the innovation of a value to the sum."""
        law, again = self._law, self.correlation
        # Of innovations: what neighbours predict of each other is taken off.
        spread = math.sqrt(max(self._calm.variance * (1 - again**2), 1e-300))
        innovation = ((value - self._mean) - again * (self._last - self._mean)) / spread
        innovation = min(max(innovation, -CLIP), CLIP)
        self._n_judged += 1
        n_scored, moment = self._n_judged - FIRST, law.moment
        if n_scored > 0:
            # Clipping moves the mean and narrows the law: the score is freed of both.
            score = (innovation - law.middle) / math.sqrt(max(law.wide, 1e-12))
            self._sum = max(0.0, self._sum + score - self._slack)
            # Counted while a change may be under way, so that its beginning can be told afterwards.
            self.since = self.since + 1 if self.statistic > UNDER_WAY else 0
            weight = max(1 / (n_scored + PRIOR_VALUES), 1 / self.reach)
            moment += weight * (math.exp(min(score, MAX_SCORE) / 2) - moment)
        weight = self._weight(self._n_judged)
        middle, wide = moved(law.middle, law.wide, innovation, weight)
        self._law = law._replace(middle=middle, wide=wide, moment=moment)

    @property
    def _slack(self) -> float:
        """What the sum loses with each value: by the law before a change that may be under way."""
        # The k at which E exp((z - k) / 2) = 1.
        needed = 2 * math.log(self._calm.moment)
        return SLACK + SKEW_SHARE * max(needed - SLACK, 0.0)

    def _learn(self, value: float) -> None:
        """Take a value into the level, and into the spread about it where the level is known."""
        law, anew = self._law, self._count == 0
        off, before = (0.0, 0.0) if anew else (value - self._mean, self._last - self._mean)
        self._count, self._known = self._count + 1, self._known + 1
        self._mean = value if anew else self._mean + self._weight(self._count) * off
        self._last = value
        # About a level of few values all spread is small, and neighbours seem independent.
        if self._count == self._known or self._count >= FROZEN:
            weight = self._weight(self._known)
            variance = (1 - weight) * (law.variance + weight * off * off)
            covariance = (1 - weight) * (law.covariance + weight * off * before)
            self._law = law._replace(variance=variance, covariance=covariance)

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
            # Several values join at once, with the weight of all of them.
            weight = min(self._n_waiting / self._count, 1.0)
            before = mean if self.before is None else self.before
            self.before = before + weight * (mean - before)
            self._waiting, self._n_waiting = 0.0, 0


def _level(false_alarm_every: float) -> float:
    """Return the level of the sum at which the mean time between false alarms is as asked."""
    low, high = 0.0, 1400.0
    for _ in range(100):
        level = (low + high) / 2
        # Siegmund's b = 2 k (h + overshoot); the exponential is cut where it would overflow.
        twice = 2 * SLACK * (level + OVERSHOOT)
        time = (math.exp(min(twice, 700.0)) - twice - 1) / (2 * SLACK**2)
        low, high = (level, high) if time < false_alarm_every else (low, level)
    return high
