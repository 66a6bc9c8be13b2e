"""The one place where names given by users become parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from joblib import effective_n_jobs

from atomstream.coders import ActiveSet, Multiplicative, ProjectedGradient, ProjectedSubgradient
from atomstream.coders.tolerances import LogTolerance, RootTolerance
from atomstream.losses import (
    L1,
    L2,
    Alpha,
    Beta,
    Hellinger,
    Huber,
    ItakuraSaito,
    KullbackLeibler,
    Squared,
)
from atomstream.penalties.ball import NonnegativeBall, UnitBall
from atomstream.penalties.base import Penalty
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box, Free, Nonnegative
from atomstream.penalties.simplex import Simplex
from atomstream.schedules import Constant, Harmonic, LogPolynomial, Polynomial, Power
from atomstream.updates.majorise import Majorise
from atomstream.updates.subgradient import SubgradientStep

LOSSES: dict[str, Callable[[], Any]] = {
    "squared": Squared,
    "kl": KullbackLeibler,
    "is": ItakuraSaito,
    "hellinger": Hellinger,
    "huber": Huber,
    "l1": L1,
    "l2": L2,
}
FAMILIES: dict[str, Callable[[float], Any]] = {"alpha": Alpha, "beta": Beta, "huber": Huber}
MEMBERS: dict[Any, Any] = {
    Beta(2): Squared(),
    Beta(1): KullbackLeibler(),
    Beta(0): ItakuraSaito(),
    Alpha(1): KullbackLeibler(),
    Alpha(0.5): Hellinger(),
}
SETS: dict[str, Callable[[], Any]] = {
    "free": Free,
    "nonnegative": Nonnegative,
    "box": Box,
    "unit_ball": UnitBall,
    "nonnegative_ball": NonnegativeBall,
    "simplex": Simplex,
    "covering": Covering,
}
SCHEDULES: dict[str, Callable[[], Any]] = {
    "power": Power,
    "harmonic": Harmonic,
    "polynomial": Polynomial,
    "log_polynomial": LogPolynomial,
    "constant": lambda: Constant(weight=0.05),
}
METHODS: dict[str, Callable[[], Any]] = {
    "auto": lambda: None,
    "majorise": lambda: Majorise(newton=False),
    "spsg": SubgradientStep,
}
TOLERANCES: dict[str, Callable[[], Any]] = {"log": LogTolerance, "root": RootTolerance}
CODERS: dict[str, Callable[[], Any]] = {
    "active_set": ActiveSet,
    "multiplicative": Multiplicative,
    "projected_subgradient": ProjectedSubgradient,
    "projected_gradient": ProjectedGradient,
}


def resolve(argument: str, choice: Any, known: Mapping[str, Callable[[], Any]], need: str) -> Any:
    """Return the part that a name stands for, or the part itself.

    Parameters
    ----------
    argument : str
        Name of the argument, for messages.
    choice : str or part
    known : mapping of names to parts
    need : str
        A method that a part given as itself must have.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.
    TypeError
        For anything that is neither a name nor a part.
    """
    if isinstance(choice, str):
        if choice not in known:
            raise ValueError(
                f"{argument}={choice!r} is unknown; choose one of {', '.join(sorted(known))}."
            )
        return known[choice]()
    if isinstance(choice, type) or not hasattr(choice, need):
        raise TypeError(
            f"{argument} must be one of {', '.join(sorted(known))} or a part with a method {need!r}, got {choice!r}."
        )
    return choice


def resolve_loss(choice: Any) -> Any:
    """Return the loss that a name or a part stands for; half the squared distance is one loss, by whatever name.

    A member of a family has its parameter after a colon: "beta:0.5", "alpha:-1", "huber:30".
    """
    name, _, parameter = choice.partition(":") if isinstance(choice, str) else ("", "", "")
    if name in FAMILIES and parameter:
        try:
            number = float(parameter)
        except ValueError:
            raise ValueError(f"loss={choice!r} needs a number after the colon.") from None
        choice = FAMILIES[name](number)
    elif name in FAMILIES and name not in LOSSES:
        raise ValueError(f"loss={choice!r} is a family; name its member, as in {name}:0.5.")
    if isinstance(choice, str) and choice not in LOSSES:
        known = ", ".join([*sorted(LOSSES), *(f"{family}:NUMBER" for family in FAMILIES)])
        raise ValueError(f"loss={choice!r} is unknown; choose one of {known}.")
    loss = resolve("loss", choice, LOSSES, "gradient")
    return next((member for family, member in MEMBERS.items() if family == loss), loss)


def resolve_tolerance(choice: Any) -> float | Callable[[int], float]:
    """Return the accuracy of coding that a number, a name or a function of the step stands for."""
    if not isinstance(choice, Real):
        return resolve("tol", choice, TOLERANCES, "__call__")
    if isinstance(choice, bool) or not 0 <= float(choice) < math.inf:
        raise ValueError(f"tol must be a number of at least 0, got {choice!r}.")
    return float(choice)


def with_net(penalty: Penalty, alpha: float, ridge: float) -> Penalty:
    """Return the set of codes with the elastic net of ``alpha`` and ``ridge``, refusing to set it twice."""
    if not alpha and not ridge:
        return penalty
    if penalty.l1 or penalty.l2:
        raise ValueError(
            f"codes={penalty!r} and alpha={alpha!r}, ridge={ridge!r} both set the penalty on the codes; "
            "give it in one place."
        )
    return replace(penalty, l1=float(alpha), l2=float(ridge))  # type: ignore[type-var]


def resolve_coder(
    choice: Any, loss: Any, penalty: Penalty, n_jobs: int | None, *, subgradient: bool = False
) -> Any:
    """Return the coder that a name stands for on ``n_jobs`` threads; a part given as itself says its own number."""
    auto: Any = ActiveSet if getattr(penalty, "polyhedral", False) else ProjectedGradient
    if subgradient:
        auto = ProjectedSubgradient
    elif not loss.quadratic:
        auto = Multiplicative
    part = resolve("coder", choice, {**CODERS, "auto": auto}, "encode")
    return replace(part, n_jobs=effective_n_jobs(n_jobs)) if isinstance(choice, str) else part
