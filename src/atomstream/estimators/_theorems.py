"""Models whose settings keep the conditions of a paper's theorem, as far as settings can."""

import math
from typing import Any, Self, cast

from atomstream.base import check_number
from atomstream.coders.auto import Auto
from atomstream.coders.tolerances import RootTolerance
from atomstream.penalties import Box, NormBall, Penalty
from atomstream.schedules import check_conditions

# No code of data whose length is below 3e4 comes near: with ridge 1e-3 it is at most |x| / 0.03.
MAX_CODE = 1e6


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


class _CPTheorem:
    """What leads inside the theorem of online CP-dictionary learning."""

    @classmethod
    def convergent(
        cls,
        n_components: int = 10,
        *,
        ridge: float = 1e-3,
        radius: float | str = "auto",
        n_sweeps: int = 5,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet the conditions of Theorem 1 that settings can meet.

        Codes and loadings lie in compact sets, codes are unique and become exact, no loading matrix
        moves further than a multiple of the weight of its batch, no atom is re-seeded or scaled,
        and ``fit`` makes one pass in the order of the samples. What remains are conditions on the
        data: bounded samples from a chain that is irreducible and aperiodic.
        docs/algorithms/cp-dictionaries.md lists each condition and what keeps it.

        Parameters
        ----------
        n_components : int, default=10
            Number of atoms.
        ridge : float, default=1e-3
            Above 0: makes the codes unique, and with them the loss smooth.
        radius : "auto" or float, default="auto"
            The thesis's c', as of `atomstream.updates.LoadingSweep`.
        n_sweeps : int, default=5
            Sweeps over all modes per batch: the more, the nearer each block to its minimum.
        **params
            Further parameters of the model, but for those that the theorem settles. The sets
            ``codes`` and ``atoms`` must be bounded; codes are by default in a box that reaches to
            1e6. The ``schedule`` must keep (A3).

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, and for a condition that is not met.

        References
        ----------
        Strohmeier (2023), Theorem 1 of chapter 4 with (A1) to (A4).

        Examples
        --------
        >>> from atomstream import OnlineCPDictionary
        >>> model = OnlineCPDictionary.convergent(3, random_state=0)
        >>> model.codes, model.schedule, model.n_epochs, model.shuffle
        (Box(low=0.0, high=1000000.0, l1=0.0, l2=0.0), 'harmonic', 1, False)
        """
        from atomstream.updates.loadings import LoadingSweep  # only tensors need it

        if radius is None:
            raise ValueError("radius must be a number or 'auto' for the theorem to hold, got None.")
        settled = {
            # As exact as by default at first, and ever more so from step 100 on.
            "coder": Auto(tol=RootTolerance(K=0.01, most=1e-3)),
            "updater": LoadingSweep(n_sweeps=n_sweeps, radius=radius, patience=math.inf),
            **{"n_epochs": 1, "shuffle": False, "missing": False},
        }
        params = {"codes": Box(0.0, MAX_CODE), **params, "n_components": n_components}
        model: Any = settled_model(cls, settled, {"ridge": ridge}, **params)
        check_bounded("codes", model.codes, model._codes_set(), "a penalties.Box")
        examples = "'nonnegative_ball', 'unit_ball', 'bounded' or 'simplex'"
        for part in model._sets(1.0):
            check_bounded("atoms", model.atoms, part, examples)
        if not check_conditions(model._schedule()).met:
            raise ValueError(
                f"schedule={model.schedule!r} breaks condition (A3) of the theorem; 'harmonic' and "
                "'power' keep it."
            )
        return cast(Self, model)
