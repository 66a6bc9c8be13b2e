"""How good a dictionary is, and what a single sample looks like in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.memory import Delta
from atomstream.objective import Objective
from atomstream.penalties import TINY
from atomstream.state import Batch

__all__ = ["SampleReport", "stationarity"]


def stationarity(delta: Delta, dictionary: Any, objective: Objective, fixed: int = 0) -> float:
    r"""Return how far the dictionary is from a critical point of the mean loss of the measured samples.

    With G the gradient of the mean loss at optimal codes and L the largest eigenvalue of their Gram matrix, this is
    :math:`\|D - P(D - G/L)\| / \|D\|` in Frobenius norms, P the projection on the set of atoms: 0 exactly at
    critical points.

    Parameters
    ----------
    delta : Delta
        Measured at optimal codes.
    dictionary : Dictionary
    objective : Objective
    fixed : int, default=0
        The first so many atoms may not change and do not count.
    """
    atoms = dictionary.atoms().astype(np.float64)[fixed:]
    smoothness = max(delta.smoothness(), TINY)
    gradient = delta.gradient(dictionary)[fixed:]
    target = objective.atoms.prox(atoms - gradient / smoothness, 1 / smoothness)
    return float(np.linalg.norm(atoms - target)) / max(float(np.linalg.norm(atoms)), TINY)


@dataclass(frozen=True)
class SampleReport:
    """One sample seen through the dictionary.

    Attributes
    ----------
    code : ndarray of shape (n_components,)
    reconstruction : ndarray of shape (n_features,)
    loss : float
        Loss of the reconstruction, without penalties.
    residual : float
        Optimality residual of the code.
    atoms : ndarray of int
        The atoms in use, largest coefficient first.
    """

    code: NDArray
    reconstruction: NDArray
    loss: float
    residual: float
    atoms: NDArray

    @classmethod
    def of(cls, batch: Batch, codes: Codes, reconstruction: NDArray, loss: float) -> SampleReport:
        """Return the report of a batch of one."""
        code = codes.values[0]
        order = np.argsort(-np.abs(code), kind="stable")
        used = order[code[order] != 0]
        return cls(code, reconstruction[0], float(loss), float(codes.residual[0]), used)
