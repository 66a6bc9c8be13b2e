"""Models whose settings keep the conditions of a paper's theorem, as far as settings can."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

from atomstream.base.checks import check_count, check_number
from atomstream.penalties.ball import NormBall
from atomstream.penalties.base import Penalty

ModelT = TypeVar("ModelT")


def settled_model(
    cls: Callable[..., ModelT],
    settled: dict[str, Any],
    constants: dict[str, float],
    params: dict[str, Any],
) -> ModelT:
    """Return a model with settings that a theorem fixes, and constants that it asks to be positive.

    Raises
    ------
    ValueError
        For a parameter that the theorem settles, and for a constant that is not above 0.
    """
    for name in settled:
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


class _ConvexTheorem:
    """What leads inside the theorem of online convex matrix factorization."""

    @classmethod
    def convergent(
        cls,
        n_components: int = 5,
        *,
        assignment: str = "random",
        ridge: float = 1e-3,
        damping: float = 1e-3,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet the conditions of Theorem 1 that settings can meet.

        All rows weigh the same and come once, in the order of the stream; codes are unique and the
        surrogate is strictly convex. What remains are conditions on the data: independent samples
        from a bounded distribution that is nearly uniform on the hull of its clusters.
        docs/algorithms/convex-mf.md lists each condition and what stays outside.

        Parameters
        ----------
        n_components : int, default=5
            Number of atoms.
        assignment : {"random", "labels"}, default="random"
            The two cases that the theorem covers: R_u, and R_r with known labels.
        ridge, damping : float
            Twice the paper's kappa, and its kappa_1, each above 0.
        **params
            Further parameters of the model, but for those that the theorem settles.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, a constant that is not above 0, and another
            assignment.

        References
        ----------
        Agarwal, Peng, Milenkovic (2019), Theorem 1 with (A.1) to (A.3).

        Examples
        --------
        >>> from atomstream import OnlineConvexMF
        >>> model = OnlineConvexMF.convergent(3, random_state=0)
        >>> model.assignment, model.schedule, model.n_epochs, model.shuffle
        ('random', 'harmonic', 1, False)
        """
        if assignment not in ("random", "labels"):
            raise ValueError(
                f"assignment={assignment!r} is not covered by the theorem; choose 'random' or, "
                "with known labels, 'labels'."
            )
        settled = {"schedule": "harmonic", "n_epochs": 1, "shuffle": False, "missing": False}
        params |= {"n_components": n_components, "assignment": assignment}
        return cast(Self, settled_model(cls, settled, {"ridge": ridge, "damping": damping}, params))


class _WalkTheorem:
    """What leads inside the theorems of the online factorization of random walks."""

    @classmethod
    def convergent(
        cls, n_components: int = 10, *, step: float = 0.01, tau: int = 2, **params: Any
    ) -> Self:
        """Make a model that is Algorithm 1 of the paper, which Theorems 1 and 2 are about.

        Steps have one length, every tau-th transition is learned from, and the result is the last
        iterate. The theorems describe the limit of steps of length 0: for a fixed one the squared
        sine to the truth falls to a level that is proportional to it, and stays there.
        docs/algorithms/random-walks.md lists each condition.

        Parameters
        ----------
        n_components : int, default=10
            The rank r.
        step : float, default=0.01
            The paper's eta, above 0.
        tau : int, default=2
            At least 2. The paper's bound is 2 / Phi^2 log(sqrt(mu_max / mu_min) / eta), with Phi
            the `atomstream.diagnostics.merging_conductance` of the chain.
        **params
            Further parameters of the model, but for ``averaging`` and ``scaling``.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorems settle, a step that is not above 0, and tau below 2.

        References
        ----------
        Yang, Braverman, Zhao, Wang, Algorithm 1, Theorems 1 and 2, and section 4.1 for tau.

        Examples
        --------
        >>> from atomstream import RandomWalkFactorization
        >>> model = RandomWalkFactorization.convergent(3, step=0.02, tau=4)
        >>> model.step, model.tau, model.averaging, model.scaling
        (0.02, 4, False, 'none')
        """
        params |= {"n_components": n_components, "tau": check_count("tau", tau, least=2)}
        settled = {"averaging": False, "scaling": "none"}
        return cast(Self, settled_model(cls, settled, {"step": step}, params))
