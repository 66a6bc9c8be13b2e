r"""Weights of the newest batch in the memory: :math:`A_t = (1 - w_t) A_{t-1} + w_t \Delta_t`.

A schedule is a function ``(step, mass, total) -> weight``: the number t of the step (from 1), the
mass n of the batch (number of samples, or the sum of their weights) and the mass N so far, this
batch included. Weights lie in (0, 1] and the first one is 1. Any function with these arguments is a
schedule; those below also know their decay
:math:`w_t \sim c\, t^{-\beta} (\log t)^{-\delta}` for batches of equal mass, which
`check_conditions` reads. Where such a decay breaks condition (A3) of the convergence theorems,
models say so once, when a run begins: a `ScheduleWarning`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from atomstream.base.parameters import NONE, Part, number, parameter

__all__ = [
    "Adaptive",
    "Conditions",
    "Constant",
    "Decay",
    "HalfLife",
    "Harmonic",
    "LogPolynomial",
    "Polynomial",
    "Power",
    "Schedule",
    "check_conditions",
]

Schedule = Callable[[int, float, float], float]

BROKEN = {
    "sum_diverges": "its weights have a finite sum, so the start is never forgotten",
    "squares_converge": (
        "the sum of w_t^2 sqrt(t) is infinite: its weights fall too slowly for noise to average out"
    ),
    "slow_decay": "1/w_t grows by more than 1 in a step: late samples weigh less than early ones",
}


class Decay(NamedTuple):
    r"""The law :math:`w_t \sim c\, t^{-\beta} (\log t)^{-\delta}` for batches of equal mass."""

    constant: float
    beta: float
    delta: float = 0.0


UNIT_INTERVAL = number(0, 1, above=True)


@dataclass(frozen=True)
class Harmonic(Part):
    """Every sample weighs the same: w = n / N, 1/t for equal batches.

    That is eq. (3) of Lyu, Needell and Balzano, the law of one pass. In later passes over the same
    data the clock keeps N at the mass of one pass, so that new codes replace the old ones of the
    same samples.
    """

    decay: ClassVar = Decay(1.0, 1.0)  # 1/t

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return n / N."""
        return mass / total


@dataclass(frozen=True)
class Power(Part):
    """A sample at place s weighs as s^(p-1): w = 1 - (1 - n/N)^p; p = 1 is harmonic.

    Codes made with a poor early dictionary fade, and the weights still meet the papers' conditions
    for p >= 1.

    Parameters
    ----------
    p : float, default=8
        At least 1; larger forgets faster. The default is measured (docs/decisions/002-defaults.md).
    """

    p: float = 8.0
    BOUNDS: ClassVar = {"p": number(1)}

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return 1 - (1 - n/N)^p."""
        share = mass / total
        return 1.0 if share >= 1 else -math.expm1(self.p * math.log1p(-share))

    @property
    def decay(self) -> Decay:
        """p/t."""
        return Decay(self.p, 1.0)


@dataclass(frozen=True)
class Adaptive(Power):
    """Remember all while nothing changes, forget fast after a change.

    The weights are those of `Power` until a second learner, which forgets all but the newest
    batches, explains new batches better (`atomstream.loop.reactive.Reactive`): the model then goes
    on from that one's atoms and memory. Learning takes longer, and its state twice the memory.

    Parameters
    ----------
    p : float, default=8
        As in `Power`.
    """

    paired: ClassVar[bool] = True


@dataclass(frozen=True)
class Polynomial(Part):
    """The weight falls as a power of the step: w = t^-beta.

    Parameters
    ----------
    beta : float, default=0.75
        In (0, 1]. The papers' conditions ask for more than 3/4: the default breaks
        `Conditions.squares_converge`.
    """

    beta: float = 0.75
    BOUNDS: ClassVar = {"beta": UNIT_INTERVAL}

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return t^-beta."""
        return step**-self.beta

    @property
    def decay(self) -> Decay:
        """t^-beta."""
        return Decay(1.0, self.beta)


@dataclass(frozen=True)
class LogPolynomial(Polynomial):
    """The weight falls a little faster than a power of the step: w = min(1, t^-beta / log t).

    Parameters
    ----------
    beta : float, default=0.75
        In (0, 1].
    """

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return t^-beta / log t, capped at 1."""
        return 1.0 if step < 2 else min(1.0, step**-self.beta / math.log(step))

    @property
    def decay(self) -> Decay:
        """t^-beta / log t."""
        return Decay(1.0, self.beta, 1.0)


@dataclass(frozen=True)
class Constant(Part):
    """Forget at a constant rate, for streams whose law drifts.

    Breaks a condition of the convergence theorems (`Conditions.squares_converge`): the noise of the
    newest batches never averages out, so atoms follow the stream and do not settle.

    Parameters
    ----------
    weight : float, optional
        The weight of every batch after the first, in (0, 1].
    half_life : float, optional
        Instead of ``weight``: the mass of samples after which a sample's weight has halved; then
        w = 1 - 2^(-n / half_life), whatever the size of the batches.
    """

    weight: float | None = None
    half_life: float | None = None
    BOUNDS: ClassVar = {
        "weight": parameter("", UNIT_INTERVAL, NONE),
        "half_life": parameter("", number(above=True), NONE),
    }

    def __post_init__(self) -> None:
        if (self.weight is None) == (self.half_life is None):
            raise ValueError("Constant needs exactly one of weight and half_life.")
        super().__post_init__()

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return the constant weight, 1 for the first batch."""
        if step == 1:
            return 1.0
        if self.half_life is not None:
            return -math.expm1(-math.log(2) * mass / self.half_life)
        return float(self.weight or 1.0)

    @property
    def decay(self) -> Decay:
        """No decay."""
        return Decay(self.weight or 1.0, 0.0)


@dataclass(frozen=True)
class HalfLife(Part):
    """Forget by time, whatever the number of rows: a stretch of time weighs half after a half-life.

    Each batch comes with its time, ``partial_fit(X, time=...)``, and stands for the time since the
    batch before: w = 1 - 2^(-elapsed / half_life). Where batches come at equal steps this is
    `Constant` with the half-life in rows.

    Parameters
    ----------
    half_life : float
        In the unit of the times: seconds, where these are dates.
    """

    half_life: float
    timed: ClassVar[bool] = True
    decay: ClassVar = Decay(1.0, 0.0)  # none
    BOUNDS: ClassVar = {"half_life": number(above=True)}

    def __call__(self, step: int, mass: float, total: float) -> float:
        """Return 1 - 2^(-mass / half_life); the clock gives the time as the mass."""
        return 1.0 if step == 1 else -math.expm1(-math.log(2) * mass / self.half_life)


class Conditions(NamedTuple):
    r"""Condition (A3) of the papers on schedules, part by part, for batches of equal mass.

    Attributes
    ----------
    sum_diverges : bool
        :math:`\sum_t w_t = \infty`: the start is forgotten.
    squares_converge : bool
        :math:`\sum_t w_t^2 \sqrt t < \infty`: the noise averages out.
    slow_decay : bool
        :math:`1/w_{t+1} - 1/w_t \le 1` eventually: late samples weigh at least as much as early
        ones.
    estimated : bool
        True when the decay was estimated from values of the schedule, not known.
    """

    sum_diverges: bool
    squares_converge: bool
    slow_decay: bool
    estimated: bool

    @property
    def met(self) -> bool:
        """True where all three parts hold."""
        return self.sum_diverges and self.squares_converge and self.slow_decay

    @property
    def broken(self) -> list[str]:
        """The parts that fail, in words."""
        return [text for part, text in BROKEN.items() if not getattr(self, part)]


def check_conditions(schedule: Schedule) -> Conditions:
    """Tell whether a schedule meets condition (A3) of the papers.

    Parameters
    ----------
    schedule : callable
        A schedule; one without a ``decay`` is evaluated at large steps and its decay estimated as a
        power.

    Returns
    -------
    Conditions
        One boolean per part, and whether the answer is an estimate.

    References
    ----------
    Strohmeier (2023), section 4.5.1, condition (A3); Lyu, Strohmeier, Needell (2022), "Online
    nonnegative CP-dictionary learning for Markovian data".

    Examples
    --------
    >>> check_conditions(Power(3)).met
    True
    >>> check_conditions(Polynomial(0.6)).squares_converge
    False
    >>> check_conditions(LogPolynomial(1.0)).slow_decay
    False
    """
    decay = getattr(schedule, "decay", None)
    constant, beta, delta = decay or _estimate_decay(schedule)
    return Conditions(
        sum_diverges=beta < 1 or (beta == 1 and delta <= 1),
        squares_converge=beta > 0.75 or (beta == 0.75 and delta > 0.5),
        # 1/w grows as t^beta (log t)^delta / c: its increments vanish for beta < 1 and tend to 1/c
        # at 1/t.
        slow_decay=beta < 1 or (beta == 1 and delta <= 0 and constant >= 1),
        estimated=decay is None,
    )


def _estimate_decay(schedule: Schedule) -> Decay:
    """Return the power law through the schedule's values at steps 10^6 and 10^7."""
    early, late = (schedule(t, 1.0, float(t)) for t in (10**6, 10**7))
    beta = round(math.log10(early / late), 3)
    return Decay(round(late * (10**7) ** beta, 3), beta)
