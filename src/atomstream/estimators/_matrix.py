"""The method that the parameters of both matrix estimators stand for."""

from __future__ import annotations

import math
from typing import Any, Self

from atomstream.core.checks import check_number
from atomstream.core.method import Method
from atomstream.core.objective import Objective
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators.registry import (
    SETS,
    resolve,
    resolve_coder,
    resolve_loss,
    resolve_updater,
    with_elastic_net,
)
from atomstream.penalties.base import Shape
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.reseeding import Reseeding


class _OnlineMatrixFactorization(OnlineDictionary):
    """The method of both estimators; they differ in their sets."""

    loss: Any = "squared"
    method: Any
    codes: Any
    atoms: Any
    alpha: float
    ridge: float
    damping: float
    coder: Any
    schedule: Any
    n_jobs: int | None

    def _make_method(self) -> Method:
        """Return the parts that the parameters stand for; the updater gives sets and coder."""
        loss = resolve_loss(self.loss)
        updater = resolve_updater(self.method, loss, self.fixed_components, self.damping)
        bounded, sized = updater.sets(loss)
        codes = resolve("codes", self.codes, SETS | {"auto": lambda: bounded}, "prox")
        codes = with_elastic_net(codes, self.alpha, self.ridge)
        atoms = resolve("atoms", self.atoms, SETS | {"auto": lambda: sized}, "prox")
        coder = resolve_coder(self.coder, loss, codes, self.n_jobs, auto=updater.coder)
        objective = Objective(loss, codes, atoms)
        reseeding = Reseeding(updater.patience)
        return Method(objective, coder, updater, reseeding, missing=bool(self.missing))

    @classmethod
    def convergent(
        cls,
        n_components: int = 20,
        *,
        alpha: float = 0.1,
        ridge: float = 1e-3,
        damping: float = 1e-3,
        n_sweeps: int = 5,
        **params: Any,
    ) -> Self:
        """Make a model whose settings meet every condition of Theorem 4.3 that settings can meet.

        All samples weigh the same, codes are as exact as the relaxed scheme asks, atoms are neither
        re-seeded nor scaled, and ``fit`` makes one pass in the order of the rows. What remains are
        conditions on the data: batches of one size, bounded, from a chain that mixes. See
        docs/algorithms/inside-the-theorem.md for each condition and what keeps it.

        Parameters
        ----------
        n_components : int, default=20
            Number of atoms.
        alpha, ridge, damping : float
            The paper's lambda, kappa_2 and kappa_1 in the units of docs/notation.md, each above 0.
            They bound the codes, make them unique and bound the moves of the atoms.
        n_sweeps : int, default=5
            Sweeps over the atoms per batch: the more, the closer to the exact minimum of Theorem
            4.1.
        **params
            Further parameters of the model, but for those that the theorem settles.

        Returns
        -------
        model

        Raises
        ------
        ValueError
            For a parameter that the theorem settles, a constant that is not above 0, and atoms that
            are not bounded.

        References
        ----------
        Lyu, Needell, Balzano (2020), Theorems 4.1 and 4.3 with (25), (26), (32) and (34).

        Examples
        --------
        >>> from atomstream import OnlineNMF
        >>> model = OnlineNMF.convergent(n_components=8, alpha=0.05, random_state=0)
        >>> model.schedule, model.n_epochs, model.shuffle
        ('harmonic', 1, False)
        """
        settled = {
            "schedule": "harmonic",
            "tol": "root",
            "coder": "auto",
            "method": BlockCoordinate(n_sweeps=n_sweeps, patience=math.inf),
            "n_epochs": 1,
            "shuffle": False,
            "missing": False,
        }
        for name in (*settled, "loss"):
            if name in params:
                raise ValueError(
                    f"{name} is settled by the theorem; leave it out, or make a "
                    f"{cls.__name__} with settings of your own."
                )
        constants = {"alpha": alpha, "ridge": ridge, "damping": damping}
        for name, value in constants.items():
            check_number(name, value)
            if value == 0:
                raise ValueError(f"{name} must be above 0 for the theorem to hold, got {value!r}.")
        model = cls(**{"n_components": n_components, **constants, **settled, **params})
        atoms = model._assemble().objective.atoms
        if not _is_bounded(atoms.shape):
            raise ValueError(
                f"atoms={model.atoms!r} is no bounded set and the theorem needs one; choose "
                "'nonnegative_ball', 'unit_ball', 'simplex' or 'box'."
            )
        return model


def _is_bounded(shape: Shape | None) -> bool:
    """Return whether a set that kernels know is compact; of others nothing is known."""
    if shape is None:
        return False
    boxed = -math.inf < shape.low and shape.high < math.inf
    return boxed or shape.radius < math.inf or shape.total > 0
