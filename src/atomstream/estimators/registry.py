"""The one place where names given by users become parts."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import partial
from inspect import signature
from numbers import Real
from typing import Any, TypeAlias

from atomstream import coders, losses, schedules, updates
from atomstream.base import ArrayLike, Choice, Fixed, most_threads, threads
from atomstream.base.registered import part_of
from atomstream.coders.auto import Auto, fastest_coder
from atomstream.coders.tolerances import LogTolerance, RootTolerance
from atomstream.loop.first_dictionary import default_start
from atomstream.penalties.ball import NonnegativeBall, UnitBall, UnitSphere
from atomstream.penalties.base import Penalty
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box, Free, Nonnegative
from atomstream.penalties.simplex import Simplex
from atomstream.updates.base import Updater
from atomstream.updates.block_coordinate import BlockCoordinate

# A choice is a name or the part itself.
CoderChoice: TypeAlias = str | coders.Coder
LossChoice: TypeAlias = str | losses.Loss
ScheduleChoice: TypeAlias = str | schedules.Schedule
AlphaChoice: TypeAlias = float | str  # "auto", or a number
SetChoice: TypeAlias = str | Penalty
ToleranceChoice: TypeAlias = float | str | Callable[[int], float]
Start: TypeAlias = str | ArrayLike | None

LOSSES: dict[str, Callable[[], Any]] = {
    "squared": losses.Squared,
    "kl": losses.KullbackLeibler,
    "is": losses.ItakuraSaito,
    "hellinger": losses.Hellinger,
    # These and some others are loaded where they are asked for.
    "huber": lambda: losses.Huber(),
    "l1": lambda: losses.L1(),
    "l2": lambda: losses.L2(),
    "trimmed": lambda: losses.Trimmed(),
}
THEIR_LOSSES = {"frobenius": "squared", "kullback-leibler": "kl", "itakura-saito": "is"}
FAMILIES: dict[str, Callable[[float], Any]] = {
    "alpha": losses.Alpha,
    "beta": losses.Beta,
    "huber": lambda delta: losses.Huber(delta),
    "trimmed": lambda threshold: losses.Trimmed(threshold),
}
MEMBERS: dict[Any, Any] = {
    losses.Beta(2): losses.Squared(),
    losses.Beta(1): losses.KullbackLeibler(),
    losses.Beta(0): losses.ItakuraSaito(),
    losses.Alpha(1): losses.KullbackLeibler(),
    losses.Alpha(0.5): losses.Hellinger(),
}
SETS: dict[str, Callable[[], Any]] = {
    "free": Free,
    "nonnegative": Nonnegative,
    "box": Box,
    "unit_ball": UnitBall,
    "unit_sphere": UnitSphere,
    "nonnegative_ball": NonnegativeBall,
    "simplex": Simplex,
    "covering": Covering,
}
SCHEDULES: dict[str, Callable[[], Any]] = {
    "power": schedules.Power,
    "harmonic": schedules.Harmonic,
    "polynomial": schedules.Polynomial,
    "log_polynomial": schedules.LogPolynomial,
    "adaptive": schedules.Adaptive,
    "constant": lambda: schedules.Constant(weight=0.05),
}
UPDATERS: dict[str, Callable[[], Any]] = {
    "majorise": lambda: updates.Majorise(newton=False),
    "spsg": lambda: updates.SubgradientStep(),
}
TOLERANCES: dict[str, Callable[[], Any]] = {"log": LogTolerance, "root": RootTolerance}
CODERS: dict[str, Callable[[], Any]] = {
    "auto": coders.Auto,
    "active_set": coders.ActiveSet,
    "matching_pursuit": coders.MatchingPursuit,
    "multiplicative": coders.Multiplicative,
    "projected_subgradient": lambda: coders.ProjectedSubgradient(),
    "projected_gradient": coders.ProjectedGradient,
}
DEFAULT_ALPHA = 0.1  # of codes that take a penalty, where alpha is "auto"
WHY_ALPHA = "0.1, unless the set of the codes has a penalty of its own or takes none"
# What a part of one's own must name in its class, by the method that it is known by.
NAMED = {
    "update": "statistics, what it measures of a batch, as in statistics = memory.GramSums()",
    "prox": "couples, which entries it ties together, as in couples = 'rows'",
}
# What to write for the names that scikit-learn has for its ways to code.
_EXACT = "write coder='auto' and alpha={alpha}: the lasso's exact minimum, however it is found"
_FEW = "write codes=atomstream.penalties.TopK({most}) and alpha=0: at most so many atoms per row"
FOREIGN = {
    "lasso_lars": _EXACT.format(alpha="..."),
    "lasso_cd": _EXACT.format(alpha="..."),
    "lars": _EXACT.format(alpha="...")
    + "; for a given number of atoms write codes=atomstream.penalties.TopK(k) and alpha=0",
    "cd": _EXACT.format(alpha="..., or 0"),
    "omp": _FEW.format(most="n_nonzero_coefs"),
    "threshold": (
        "write coder='auto' and alpha=...: for atoms at right angles these are the thresholded "
        "products, for others codes that explain more"
    ),
    "mu": "write coder='multiplicative'",
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
    if isinstance(choice, str) and "-" in choice.partition(":")[0]:
        return part_of(argument, choice, need, sorted(known))
    if isinstance(choice, str):
        if choice not in known and choice in FOREIGN and argument in ("coder", "codes"):
            raise ValueError(f"{argument}={choice!r} is a name of scikit-learn: {FOREIGN[choice]}.")
        if choice not in known:
            raise ValueError(
                f"{argument}={choice!r} is unknown; choose one of {', '.join(sorted(known))}."
            )
        return known[choice]()
    if isinstance(choice, type) or not hasattr(choice, need):
        raise TypeError(
            f"{argument} must be one of {', '.join(sorted(known))} "
            f"or a part with a method {need!r}, got {choice!r}."
        )
    if argument == "schedule":
        with suppress(ValueError):  # what is compiled may not say its arguments
            try:
                signature(choice).bind(1, 1.0, 1.0)
            except TypeError:
                said = "must take three arguments: the step, the mass of its batch, and that so far"
                raise TypeError(f"{argument}={choice!r:.80} {said}.") from None
    if need in NAMED and not hasattr(choice, NAMED[need].partition(",")[0]):
        raise TypeError(f"{argument}={choice!r:.80} does not name its {NAMED[need]}.")
    return choice


def resolve_loss(choice: LossChoice) -> Any:
    """Return the loss that a name or a part stands for; one loss by many names is one part.

    A member of a family has its parameter after a colon: "beta:0.5", "alpha:-1", "huber:30".
    scikit-learn's names stand for the same losses. Any other name with a hyphen is that of a
    registered part.
    """
    choice = THEIR_LOSSES.get(choice, choice) if isinstance(choice, str) else choice
    name, _, parameter = choice.partition(":") if isinstance(choice, str) else ("", "", "")
    listed = [*sorted(LOSSES), *(f"{family}:NUMBER" for family in FAMILIES)]
    if isinstance(choice, str) and "-" in name:
        return part_of("loss", choice, "gradient", listed)
    if name in FAMILIES and parameter:
        try:
            number = float(parameter)
        except ValueError:
            raise ValueError(f"loss={choice!r} needs a number after the colon.") from None
        choice = FAMILIES[name](number)
    elif name in FAMILIES and name not in LOSSES:
        raise ValueError(f"loss={choice!r} is a family; name its member, as in {name}:0.5.")
    if isinstance(choice, str) and choice not in LOSSES:
        raise ValueError(f"loss={choice!r} is unknown; choose one of {', '.join(listed)}.")
    loss = resolve("loss", choice, LOSSES, "gradient")
    zeros = {"zeros": loss.zeros} if "zeros" in _field_names(loss) else {}
    plain = replace(loss, zeros="floor") if zeros else loss
    # Beta(2) and "squared" are one loss, which has to take one road through the library.
    member = next((member for family, member in MEMBERS.items() if family == plain), loss)
    return replace(member, **zeros) if "zeros" in _field_names(member) else member


def resolve_tolerance(
    coder: coders.Coder, default: ToleranceChoice
) -> float | Callable[[int], float]:
    """Return how exact codes are while learning: what the coder says, else the default."""
    choice = default if coder.tol is None else coder.tol
    if not isinstance(choice, Real):
        return resolve("tol", choice, TOLERANCES, "__call__")
    if isinstance(choice, bool) or not 0 <= float(choice) < math.inf:
        raise ValueError(f"tol must be a number of at least 0, got {choice!r}.")
    return float(choice)


def with_fields(part: Any, **values: tuple[str, Any]) -> Any:
    """Return a part with numbers in those of its fields that have these names.

    Parameters
    ----------
    part : part
    **values : (str, float)
        By the name of the field: the argument that the number came as, for messages, and the
        number. A number other than 0 is refused where the part has no such field.
    """
    own = _field_names(part)
    for name, (argument, value) in values.items():
        # 0 and False ask for nothing, so parts that know no such field may stay as they are.
        if value and name not in own:
            raise ValueError(
                f"{argument}={value!r} needs a part with a field {name!r}, got {part!r}."
            )
    known = {name: value for name, (_, value) in values.items() if name in own}
    return replace(part, **known) if known else part


def _field_names(part: object) -> set[str]:
    return {field.name for field in fields(part)} if is_dataclass(part) else set()


def resolve_updater(
    choice: str | Updater,
    loss: losses.Loss,
    fixed: Fixed,
    damping: float,
    atoms: Penalty | None = None,
) -> Updater:
    """Return the updater that a name or a part stands for; "auto" is the fastest one.

    It has to serve the set of the atoms, where one was chosen.
    """
    known = {**UPDATERS, "auto": fastest_updater(loss, atoms)[0]}
    if not isinstance(choice, str | Updater):
        raise TypeError(
            f"updater must be one of {', '.join(sorted(known))} or an Updater of "
            f"atomstream.updates, got {choice!r:.80}."
        )
    part = resolve("updater", choice, known, "update")
    return with_fields(part, fixed=("fixed_components", fixed), damping=("damping", float(damping)))


def fastest_updater(
    loss: losses.Loss, atoms: Penalty | None = None
) -> tuple[Callable[[], Updater], str]:
    """Return what makes the updater that "auto" stands for, and why it is that one."""
    if atoms is not None and not atoms.rowwise:
        return updates.SubgradientStep, "the set of the atoms ties them to each other"
    if loss.quadratic:
        return BlockCoordinate, "the loss is quadratic"
    if loss.trims:
        return updates.TrimmedDescent, "the loss leaves outliers out"
    if loss.exponents and loss.robust:
        return partial(updates.Majorise, folds=2), "the loss is robust and has a majoriser"
    if loss.exponents:
        return updates.Majorise, "the loss has a majoriser"
    return updates.SubgradientStep, "the loss has no majoriser"


def with_elastic_net(penalty: Penalty, alpha: AlphaChoice, ridge: float) -> Penalty:
    """Return the set of codes with the elastic net of ``alpha`` and ``ridge``.

    "auto" is no strength where the set has a penalty of its own, or takes none.
    """
    if alpha == "auto":
        free = "l1" in _field_names(penalty) and not (penalty.l1 or penalty.l2)
        alpha = DEFAULT_ALPHA if free else 0.0
    if not alpha and not ridge:
        return penalty
    if penalty.l1 or penalty.l2:
        raise ValueError(
            f"codes={penalty!r} and alpha={alpha!r}, ridge={ridge!r} both set the penalty on the "
            "codes; give it in one place."
        )
    return with_fields(penalty, l1=("alpha", float(alpha)), l2=("ridge", float(ridge)))


def resolve_coder(
    choice: CoderChoice,
    loss: losses.Loss,
    penalty: Penalty,
    *,
    auto: coders.Coder | None = None,
) -> coders.Coder:
    """Return the coder that a name stands for, or the part given.

    "auto" is ``auto``, or where that is None the fastest coder for the loss and the set.
    """
    part = resolve("coder", choice, CODERS, "encode")
    if isinstance(part, coders.Auto):
        fastest = part.chosen(loss, penalty) if auto is None else auto
        # The coder itself stands in the algorithm: "auto" is only how it was chosen.
        part = with_fields(fastest, tol=("tol", part.tol))
    return part


ROLES: dict[str, tuple[Mapping[str, Callable[[], Any]], str]] = {
    "coder": (CODERS, "encode"),
    "updater": (UPDATERS, "update"),
    "schedule": (SCHEDULES, "__call__"),
    "codes": (SETS, "prox"),
    "atoms": (SETS, "prox"),
    "loss": (LOSSES, "gradient"),
}


def changed_part(role: str, choice: Any, values: Mapping[str, Any]) -> Any:
    """Return the part that a name stands for, or the part given, with some parameters changed."""
    part = choice
    if isinstance(choice, str):
        part = resolve_loss(choice) if role == "loss" else resolve(role, choice, *ROLES[role])
    if not hasattr(part, "with_params"):
        raise ValueError(f"{role}={choice!r:.80} has no parameters that can be set by their names.")
    return part.with_params(**values)


# -- what settings became


def chosen_parts(model: Any) -> dict[str, Choice]:
    """Return the parts that a model learns with, as far as it has settings for them."""
    algorithm = model.algorithm_
    objective, updater, own = algorithm.objective, algorithm.updater, model.PARAMETERS
    start, why_start = default_start(algorithm)
    sets = f"the set that {type(updater).__name__} is made for"
    asked = "the updater asks for it"
    why_coder = asked if updater.coder else fastest_coder(objective.loss, objective.codes)[1]
    made: dict[str, tuple[Any, str]] = {
        "loss": (objective.loss, ""),
        "updater": (updater, fastest_updater(objective.loss, objective.atoms)[1]),
        "coder": (algorithm.coder, why_coder),
        "codes": (objective.codes, sets),
        "atoms": (objective.atoms, sets),
        "init": (start if _is_auto(model.init) else _name(model.init), why_start),
        "alpha": (getattr(objective.codes, "l1", 0.0), WHY_ALPHA),
    }
    return {
        name: Choice(value, why) if _is_auto(getattr(model, name)) else Choice.given(value)
        for name, (value, why) in made.items()
        if name in own and getattr(model, name) is not None
    }


def chosen_threads(n_jobs: int | None) -> Choice:
    """Return how many threads a model may use."""
    with threads(n_jobs):
        n = most_threads()
    return Choice(n, "as many as BLAS may use") if n_jobs is None else Choice.given(n)


def _is_auto(setting: Any) -> bool:
    return isinstance(setting, Auto) or (isinstance(setting, str) and setting == "auto")


def _name(init: Any) -> str:
    return init if isinstance(init, str) else "the atoms given"
