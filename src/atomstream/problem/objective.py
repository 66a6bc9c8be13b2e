"""The objective, without data: a loss, a penalty on the codes, a penalty on the atoms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss
from atomstream.penalties.base import Penalty
from atomstream.problem.batch import Batch
from atomstream.problem.products import losses

# What a part needs of the others: for "loss", "codes" and "atoms" the names of attributes that must
# be there and true. `atomstream.loop.online.check_compatible` reads them before the first batch.
Needs = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Objective:
    r"""The expected value of :math:`\min_h\, d(x, hD) + P_{codes}(h)`, plus :math:`P_{atoms}(D)`.

    For the squared loss on codes with ``l1 = alpha`` and ``l2 = ridge`` this is, per sample,

    .. math:: \tfrac12 \|x - hD\|_2^2 + \alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|_2^2,

    half of eq. (25) of Lyu, Needell and Balzano with :math:`\alpha = \lambda/2` and ridge
    :math:`= \kappa_2/2`.
    """

    loss: Loss
    codes: Penalty
    atoms: Any  # a Penalty, or the sets of each loading matrix

    def losses(self, batch: Batch, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the loss of each sample at these codes, float64 of shape (n_samples,)."""
        if not self.loss.quadratic:
            return losses(batch, codes, dictionary.atoms(), self.loss.at(dictionary))
        if sp.issparse(batch.X):
            # Sparse rows stay sparse: their reconstruction is never formed.
            return self.loss.sparse_value(batch.X, codes, dictionary)
        reconstruction = dictionary.decode(codes)
        # What is missing costs nothing: there the reconstruction takes its place.
        completed = self.loss.value(batch.complete(reconstruction), reconstruction)
        return completed + batch.slack(reconstruction)

    def values(self, batch: Batch, codes: NDArray, dictionary: Dictionary) -> NDArray:
        """Return the objective of each sample at these codes, float64 of shape (n_samples,)."""
        return self.losses(batch, codes, dictionary) + self.codes.value(codes)
