"""Models whose settings keep the conditions of a paper's theorem, as far as settings can."""

import math
from typing import Any

from atomstream.base import check_number
from atomstream.penalties import NormBall, Penalty


def settled_model(
    cls: Any, settled: dict[str, Any], constants: dict[str, float], **params: Any
) -> Any:
    """Return a model with settings that a theorem fixes, and constants that it asks to be positive.

    Raises
    ------
    ValueError
        For a parameter that the theorem settles, for a constant that is not above 0, and for models
        without such parameters.
    """
    if lacking := sorted(settled.keys() - cls.PARAMETERS.keys()):
        raise ValueError(
            f"{cls.__name__} has no {lacking[0]}, which the theorem settles: it minimises another "
            "objective. Take OnlineNMF or OnlineDictionaryLearning."
        )
    for name in (*settled, "loss"):  # all of them are about the squared one
        if name in params:
            raise ValueError(
                f"{name} is settled by the theorem; leave it out, or make a {cls.__name__} with "
                "settings of your own."
            )
    for name, value in constants.items():
        check_number(name, value)
        if value == 0:
            raise ValueError(f"{name} must be above 0 for the theorem to hold, got {value!r}.")
    return cls(**constants, **settled, **params)


def check_bounded(name: str, given: object, part: Penalty, examples: str) -> None:
    """Refuse a set that is not known to be compact and convex."""
    shape = part.shape
    bounded = isinstance(part, NormBall)
    if shape is not None:
        boxed = -math.inf < shape.low and shape.high < math.inf
        bounded = boxed or shape.radius < math.inf or shape.total > 0
    if not bounded:
        raise ValueError(
            f"{name}={given!r} is no bounded convex set and the theorem needs one; choose "
            f"{examples}."
        )
