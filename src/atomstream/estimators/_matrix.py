"""What both matrix estimators share: the method that their parameters stand for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from atomstream.core.method import Method
from atomstream.core.objective import Objective
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators.registry import (
    METHODS,
    SETS,
    resolve,
    resolve_coder,
    resolve_loss,
    with_net,
)
from atomstream.memory.gram import GramSums
from atomstream.memory.majorant import MajorantSums
from atomstream.memory.subgradient import Subgradients
from atomstream.penalties.ball import NonnegativeBall
from atomstream.penalties.covering import Covering
from atomstream.penalties.interval import Box, Nonnegative
from atomstream.penalties.simplex import Simplex
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.majorise import Majorise
from atomstream.updates.reseeding import Reseeding
from atomstream.updates.subgradient import SubgradientStep

__all__ = []


class _OnlineMatrixFactorization(OnlineDictionary):
    """The method of both estimators; they differ in their sets."""

    loss: Any = "squared"
    method: Any = "auto"
    codes: Any
    atoms: Any
    alpha: float
    ridge: float
    damping: float
    coder: Any
    schedule: Any
    n_jobs: int | None

    def _make_method(self) -> Method:
        """Return the parts that the parameters stand for."""
        loss, damping, fixed = resolve_loss(self.loss), float(self.damping), self.fixed_components
        updater: Any = resolve("method", self.method, METHODS, "update")
        if updater is None:
            updater = (
                BlockCoordinate()
                if loss.quadratic
                else Majorise()
                if loss.exponents
                else SubgradientStep()
            )
        steps = isinstance(updater, SubgradientStep)
        bounded: Any = partial(Box, 1e-8, 1e8) if steps else Nonnegative
        codes = with_net(
            resolve("codes", self.codes, SETS | {"auto": bounded}, "prox"), self.alpha, self.ridge
        )
        auto: Any = (
            Covering if steps else Simplex if loss.reconstruction == "positive" else NonnegativeBall
        )
        atoms = resolve("atoms", self.atoms, SETS | {"auto": auto}, "prox")
        coder = resolve_coder(self.coder, loss, codes, self.n_jobs, subgradient=steps)
        updater = (
            replace(updater, fixed=fixed)
            if steps
            else replace(updater, fixed=fixed, damping=damping)
        )
        statistics: Any = {
            BlockCoordinate: GramSums,
            Majorise: MajorantSums,
            SubgradientStep: Subgradients,
        }[type(updater)]
        return Method(Objective(loss, codes, atoms), coder, statistics(), updater, Reseeding())
