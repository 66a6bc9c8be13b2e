"""The interface of a coder: a pure function from samples and a dictionary to codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from atomstream.base.parameters import Part
from atomstream.dictionaries.base import Dictionary
from atomstream.problem import Accuracy, Batch, Needs, Objective


class Codes(NamedTuple):
    r"""Codes and how far each is from optimal.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_components)
    residual : ndarray of shape (n_samples,)
        For the squared loss the certified duality gap of each row, (objective - dual) / objective:
        no code has an objective lower than this part of the row's own. Objectives below 5e-5 of the
        squared length of the sample count as that. The gap is that of the float64 codes, before
        they are rounded to the type of the data. It is infinite where codes are only to have small
        violations, as while learning, and nothing was certified. For other losses no bound: the
        gain that the last step of the coder promised, as a share of the objective. 0 where codes
        come from the walk of convex factorization, which does not measure it.
    """

    values: NDArray
    residual: NDArray

    def of(self, rows: slice) -> Codes:
        """Return the codes of some of the samples."""
        return Codes(self.values[rows], self.residual[rows])


class Coder(Part, ABC):
    """Finds codes; a coder of your own inherits from this class and defines ``encode``.

    Attributes
    ----------
    needs : mapping, default={}
        What it needs of the loss and of the set of codes; see `atomstream.problem.objective.Needs`.
    handles_mask : bool, default=False
        Whether entries of the batch may be missing.
    weighs_entries : bool, default=False
        Whether the mask of the batch may hold weights of entries.
    uses_all_atoms : bool, default=True
        Whether every row may use every atom.
    tol : float, {"log", "root"} or callable, optional
        Largest violation of the optimality conditions (`atomstream.problem.clock.Accuracy`) that
        codes may have while learning, or a function of the step: "root" is t^-1/2, "log" is (log
        t)^-2, both at most 0.2 (`atomstream.coders.tolerances`), so that early batches are coded
        roughly and late ones exactly. None is the model's own: 1e-3 for tensors, else "root".
        `transform` codes exactly. A field of all coders of the library.
    """

    needs: ClassVar[Needs] = {}
    handles_mask: ClassVar[bool] = False
    weighs_entries: ClassVar[bool] = False
    uses_all_atoms: ClassVar[bool] = True
    tol: Any = None

    @abstractmethod
    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes of this accuracy, or those at the limit on work, from ``start`` on."""
