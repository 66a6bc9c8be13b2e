"""The method that the parameters of both matrix estimators stand for."""

from __future__ import annotations

from typing import Any

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
        return Method(objective, coder, updater, Reseeding(), missing=bool(self.missing))
