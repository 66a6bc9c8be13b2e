"""What a batch adds to the memory: pure functions of batch, codes and dictionary, whose results add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from atomstream.coders import Codes
from atomstream.dictionaries import Dictionary
from atomstream.factored import Product
from atomstream.losses import Loss, squared_norms
from atomstream.memory import Aggregates, GramDelta, MajorantDelta, Majorants, Subgradient, SubgradientDelta
from atomstream.objective import Objective
from atomstream.state import Batch
from atomstream.views import ROWS, view

__all__ = ["GramSums", "MajorantSums", "Statistics", "Subgradients"]


class Statistics(Protocol):
    """Knows what to measure, and the memory that goes with it."""

    def start(self, n_components: int, n_features: int, loss: Loss) -> Any:
        """Return an empty memory of the right kind and size."""
        ...

    def measure(self, batch: Batch, codes: Codes, dictionary: Any, objective: Objective) -> Any:
        """Return what the batch adds; pure."""
        ...


@dataclass(frozen=True)
class GramSums:
    r"""The sums that determine the squared loss of all past samples at their codes, for every dictionary.

    Missing entries are completed with the reconstruction at hand. For a row x seen on the features M this majorises
    what is minimised, with equality at the dictionary D it was coded with,

    .. math:: \tfrac12 \|M(x - hD')\|^2 \le \tfrac12 \|Mx + (1 - M)hD - hD'\|^2 \quad \text{for every } D',

    so an update that does not raise the surrogate stays one.

    Parameters
    ----------
    factored : bool, default=False
        Whether the cross sums of batches with fewer rows than there are atoms stay a product of codes and samples.

    References
    ----------
    Lyu, Needell, Balzano, eq. (3): the A and B of the scheme, here for rows and summed over the batch.
    """

    factored: bool = False
    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("quadratic",)}

    def start(self, n_components: int, n_features: int, loss: Loss) -> Aggregates:
        """Return an empty memory."""
        return Aggregates(n_components, n_features, factored=self.factored)

    def measure(self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective) -> GramDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large for their type.
        """
        h, unit = codes.values, 1.0
        weighted = h
        if batch.weights is not None:
            unit = float(batch.weights.max())  # tiny or huge weights must not leave the range of float32
            weighted = h * (batch.weights / unit)[:, None].astype(h.dtype)
        gram = unit * (h.T @ weighted).astype(np.float64)
        X = batch.X if batch.mask is None else batch.complete(dictionary.decode(h))
        cross: Any
        if self.factored and len(h) < h.shape[1] and not sp.issparse(X):
            cross = unit * Product(weighted.astype(np.float64), X)
        else:
            cross = (X.T @ weighted).T if sp.issparse(X) else weighted.T @ X
            cross = np.asarray(cross, dtype=np.float64)
            if unit != 1:
                cross = unit * cross
        constants = 0.5 * (batch.energy if X is batch.X else squared_norms(X)) + objective.codes.net(h)
        constant = float(constants.sum() if batch.weights is None else constants @ batch.weights)
        fit = float(0.5 * np.vdot(gram, dictionary.gram()) - dictionary.overlap(cross))
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        if not np.isfinite(constant + fit):
            raise ValueError(
                f"Sums over the batch are not finite in {h.dtype}; rescale the data or give them as float64."
            )
        return GramDelta(gram, cross, constant, usage, constant + fit, batch.mass)


@dataclass(frozen=True)
class MajorantSums:
    """The sums that make up the power majoriser of all past losses, and a quadratic model beside it.

    References
    ----------
    docs/algorithms/divergences.md.
    """

    needs: ClassVar[dict[str, tuple[str, ...]]] = {"loss": ("exponents", "split")}

    def start(self, n_components: int, n_features: int, loss: Loss) -> Majorants:
        """Return an empty memory."""
        return Majorants(n_components, n_features, loss.exponents)

    def measure(self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective) -> MajorantDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large or too small for their type.
        """
        if len(codes.values) > ROWS and sp.issparse(batch.X) and objective.loss.ratio_power is None:
            blocks = [slice(start, start + ROWS) for start in range(0, len(codes.values), ROWS)]
            deltas = (self.measure(batch.of(rows), codes.of(rows), dictionary, objective) for rows in blocks)
            return reduce(add, deltas)  # what becomes dense becomes so a block at a time
        h, loss = codes.values, objective.loss
        atoms, (p, q) = dictionary.atoms().astype(np.float64), loss.exponents
        weights = np.ones(len(h)) if batch.weights is None else batch.weights
        unit = float(weights.max())  # tiny or huge weights must not leave the range of float32
        weighted = h * (weights / unit)[:, None].astype(h.dtype)
        seen = view(batch, slice(None), dictionary.atoms(), loss)
        parts = seen.split(h)
        plus, minus = (unit * np.asarray(seen.push(weighted, part), dtype=np.float64) for part in parts[:2])
        bend = np.asarray(parts[2].T @ weights, dtype=np.float64)
        per_row = np.asarray(parts[2].sum(axis=1)).reshape(-1, 1) / h.dtype.type(batch.X.shape[1])
        gram = unit * (h.T @ (weighted * per_row.astype(h.dtype))).astype(np.float64)
        total = float((seen.losses(h) + objective.codes.net(h)) @ weights)
        concave = np.log(np.maximum(atoms, np.finfo(float).tiny)) if q == 0 else 1 / q
        constant = total - float(np.vdot(plus, atoms) / p - (minus * atoms * concave).sum())
        if not np.isfinite(constant + plus.sum() + minus.sum() + bend.sum() + gram.sum()):
            raise ValueError(f"Sums over the batch are not finite in {h.dtype}; rescale the data.")
        usage = unit * np.abs(weighted).sum(axis=0, dtype=np.float64)
        return MajorantDelta(plus, minus, bend, gram, constant, usage, total, batch.mass, atoms)


@dataclass(frozen=True)
class Subgradients:
    """A subgradient of the loss of the newest batch, and how much it can change.

    References
    ----------
    Zhao, Tan, Xu (2017), Algorithm 1: the G of a batch.
    """

    def start(self, n_components: int, n_features: int, loss: Loss) -> Subgradient:
        """Return an empty memory."""
        return Subgradient(n_components, n_features)

    def measure(self, batch: Batch, codes: Codes, dictionary: Dictionary, objective: Objective) -> SubgradientDelta:
        """Return what the batch adds.

        Raises
        ------
        ValueError
            If a sum is not finite: data too large or too small for their type.
        """
        h = codes.values.astype(np.float64)
        weights = np.ones(len(h)) if batch.weights is None else batch.weights
        seen = view(batch, slice(None), dictionary.atoms().astype(np.float64), objective.loss)
        plus, minus, _ = seen.split(h)
        weighted = h * weights[:, None]
        slope = seen.push(weighted, plus) - seen.push(weighted, minus)
        pulls, errors = seen.secant(h, weights)
        total = float((seen.losses(h) + objective.codes.net(h)) @ weights)
        if not np.isfinite(total + slope.sum()):
            raise ValueError(f"Sums over the batch are not finite in {codes.values.dtype}; rescale the data.")
        return SubgradientDelta(slope, pulls, errors, weights @ h**2, weights @ np.abs(h), total, batch.mass)
