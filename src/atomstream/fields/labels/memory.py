"""Averages of the squared loss, and of what labels add to it through the codes."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, number, part
from atomstream.coders import Codes
from atomstream.fields.labels.dictionary import Predicting
from atomstream.fields.labels.losses import LabelLoss
from atomstream.losses import Loss
from atomstream.memory.base import Statistics
from atomstream.memory.gram import Aggregates, GramDelta, GramSums
from atomstream.problem import Batch, Needs, Objective

ENTRIES = 1 << 22  # of the systems of equations that are solved at a time
RIDGE = 1e-6  # of the mean squared length of the atoms, where atoms in use are alike


@dataclass(frozen=True)
class LabelTerms:
    """Sums over samples with a label, each with its weight; averages of them in a memory.

    Attributes
    ----------
    mass, loss : float
        Sum of the weights, and of weights times losses of labels.
    atoms : ndarray of shape (n_components, n_features)
        Those that the last sample with a label was measured at.
    pull : ndarray of shape (n_components, n_features)
        Gradient of the loss of the labels with respect to the atoms.
    curvature : ndarray of shape (n_components,)
        Its Gauss-Newton curvature along each atom.
    head_gram : ndarray of shape (n_inputs, n_inputs)
        Sum of weight times curvature times u'u, with u the code, the covariates and a one.
    head_cross : ndarray of shape (n_inputs, n_outputs)
        Sum of weight times u'(curvature times scores - slopes).
    """

    mass: float
    loss: float
    atoms: NDArray
    pull: NDArray
    curvature: NDArray
    head_gram: NDArray
    head_cross: NDArray

    SAVED: ClassVar = (
        *(number("mass", at_least=0), number("loss", finite=True), array("atoms", "r d")),
        *(array("pull", "r d"), array("curvature", "r", at_least=0)),
        *(array("head_gram", "p p"), array("head_cross", "p o")),
    )

    @classmethod
    def none(cls, n_components: int, n_features: int) -> Self:
        """Return sums of nothing; heads are a single 0, which any number of inputs adds to."""
        rows, head = np.zeros((n_components, n_features)), np.zeros((1, 1))
        return cls(0.0, 0.0, rows, rows, np.zeros(n_components), head, head)

    def blend(self, keep: float, other: Self, share: float) -> Self:
        """Return the sum of both, each by its factor."""
        mine, theirs = vars(self), vars(other)
        sums = {name: keep * mine[name] + share * theirs[name] for name in mine if name != "atoms"}
        return type(self)(**sums, atoms=other.atoms if other.mass else self.atoms)

    def __add__(self, other: Self) -> Self:
        return self.blend(1.0, other, 1.0)

    def rescaled(self, scale: NDArray) -> Self:
        """Return what past coefficients of each atom times its scale would have given."""
        inputs = np.concatenate([scale, np.ones(len(self.head_gram) - len(scale))])
        # An atom over its scale has codes times it: slopes and curvatures in the atom grow alike.
        return type(self)(
            *(self.mass, self.loss, self.atoms / np.where(scale > 0, scale, 1.0)[:, None]),
            *(self.pull * scale[:, None], self.curvature * scale**2),
            *(self.head_gram * inputs * inputs[:, None], self.head_cross * inputs[:, None]),
        )


@dataclass(frozen=True, kw_only=True)
class LabelledDelta(GramDelta):
    """Sums over the samples of a batch, as of the squared loss, and those of labels.

    Attributes
    ----------
    labels : LabelTerms
    """

    labels: LabelTerms


class LabelledAggregates(Aggregates):
    """Averages of the squared loss, and of the sums of labels by the same weights.

    Attributes
    ----------
    labels : LabelTerms
        Their ``mass`` is the share of samples with a label: means over these are averages over it.
    """

    SAVED: ClassVar[Any] = (*Aggregates.SAVED, part("labels", LabelTerms))

    def __init__(self, n_components: int, n_features: int) -> None:
        super().__init__(n_components, n_features)
        self.labels = LabelTerms.none(n_components, n_features)

    def absorb(self, delta: Any, weight: float) -> None:
        """Move every average towards the batch's by its weight."""
        super().absorb(delta, weight)
        self.labels = self.labels.blend(1 - weight, delta.labels, weight / delta.mass)

    def merge(self, other: Self, share: float) -> None:
        """Move every average towards another memory's by its share of the mass."""
        super().merge(other, share)
        self.labels = self.labels.blend(1 - share, other.labels, share)

    def rescale(self, scale: NDArray) -> None:
        """Multiply all past coefficients of each atom by its scale."""
        super().rescale(scale)
        self.labels = self.labels.rescaled(scale)

    def rescale_features(self, scale: NDArray, energy: NDArray) -> None:
        """Multiply every feature of the past by its number, where the codes stay as they are."""
        super().rescale_features(scale, energy)
        labels = self.labels
        # The loss of labels stays as it is where atoms are multiplied, too.
        self.labels = replace(
            labels,
            atoms=labels.atoms * scale,
            pull=labels.pull / scale,
            curvature=labels.curvature / np.mean(scale**2),
        )


@dataclass(frozen=True)
class LabelledSums(Statistics[LabelledDelta, LabelledAggregates]):
    r"""Measures the sums of the squared loss, and how labels would move atoms and head.

    A code h minimises :math:`\tfrac12 |x - hD|^2` and its penalty alone. On its nonzero entries S
    it moves with D as :math:`h_S = (x D_S^\top - \ldots)(D_S D_S^\top + ridge\, I)^{-1}`, so a loss
    with slope g in the code has the gradient

    .. math:: q^\top x - (q^\top h + h^\top q) D, \quad
              q_S = g_S (D_S D_S^\top + ridge\, I)^{-1}, \quad q = 0 \text{ elsewhere,}

    in D. For a loss of the scores h C with the second derivative F, the Gauss-Newton curvature
    along atom j is :math:`h_j^2\, tr(C^\top Q F) + Q_j F Q_j^\top |x - hD|^2`, with Q what q is
    for C in place of g.

    Attributes
    ----------
    labels : LabelLoss
    for_atoms : bool, default=True
        Whether slopes through codes are wanted, or the sums of the head alone.

    References
    ----------
    Mairal, Bach, Ponce (2012), "Task-driven dictionary learning", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 34, Proposition 1.
    """

    labels: LabelLoss
    for_atoms: bool = True
    needs: ClassVar[Needs] = {"loss": ("quadratic",)}

    def start(self, n_components: int, n_features: int, loss: Loss) -> LabelledAggregates:
        """Return an empty memory."""
        return LabelledAggregates(n_components, n_features)

    def measure(
        self, batch: Batch, codes: Codes, dictionary: Any, objective: Objective
    ) -> LabelledDelta:
        """Return what the batch adds."""
        plain = GramSums().measure(batch, codes, dictionary, objective)
        places = labelled(batch)
        known, h = batch.of(places), codes.values[places].astype(np.float64)
        w, inputs = known.row_weights, dictionary.inputs(h, known.covariates)
        scores = inputs @ dictionary.head
        targets = np.zeros_like(scores) if known.labels is None else known.labels
        slope = w[:, None] * self.labels.slope(scores, targets)
        curvature = w * self.labels.curvature(scores, targets)
        atoms = dictionary.atoms()
        pull, turn = np.zeros(atoms.shape), np.zeros(len(atoms))
        if self.for_atoms:
            error = 2 * objective.losses(known, h.astype(dictionary.dtype), dictionary)
            d, r = self.labels.hessian(scores, targets)
            turns = w[:, None] * d, np.sqrt(w)[:, None] * r
            q, turn = through_codes(h, slope, turns, error, dictionary, objective.codes.l2)
            mixed = q.T @ h
            crossed = np.asarray((known.X.T @ q).T if sp.issparse(known.X) else q.T @ known.X)
            pull = crossed - (mixed + mixed.T) @ atoms
        labels = LabelTerms(
            mass=float(w.sum()),
            loss=float(w @ self.labels.value(scores, targets)),
            atoms=atoms,
            pull=pull,
            curvature=turn,
            head_gram=(inputs * curvature[:, None]).T @ inputs,
            head_cross=inputs.T @ (curvature[:, None] * scores - slope),
        )
        return LabelledDelta(**vars(plain), labels=labels)


def labelled(batch: Batch) -> NDArray:
    """Return the places of the rows that have a label and count."""
    if batch.labels is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(~np.isnan(batch.labels).any(axis=1) & (batch.row_weights > 0))


def through_codes(
    h: NDArray,
    slope: NDArray,
    turns: tuple[NDArray, NDArray],
    error: NDArray,
    dictionary: Predicting,
    ridge: float,
) -> tuple[NDArray, NDArray]:
    """Return q of each sample, and the sum of the curvatures along each atom.

    Parameters
    ----------
    h : ndarray of shape (n_samples, n_components)
    slope : ndarray of shape (n_samples, n_outputs)
        Of the losses of labels in the scores.
    turns : tuple of ndarray of shape (n_samples, n_outputs)
        Their second derivatives, as `LabelLoss.hessian` returns them.
    error : ndarray of shape (n_samples,)
        Squared lengths of what codes leave unexplained.
    dictionary : Predicting
    ridge : float
        Of the penalty on the codes.
    """
    head, gram = dictionary.slopes, dictionary.gram()
    n_atoms, n_outputs = head.shape
    ridge += RIDGE * float(gram.trace()) / n_atoms
    q, curvature = np.empty_like(h), np.zeros(n_atoms)
    size, diagonal = max(ENTRIES // (n_atoms * (n_atoms + n_outputs)), 1), np.arange(n_atoms)
    for start in range(0, len(h), size):
        rows = slice(start, start + size)
        used = h[rows] != 0
        systems = used[:, :, None] * gram * used[:, None, :]
        # Ones where an atom is not in use leave its row of the solution 0.
        systems[:, diagonal, diagonal] += np.where(used, ridge, 1.0)
        solved = np.linalg.solve(systems, used[:, :, None] * head)
        q[rows] = np.einsum("nko,no->nk", solved, slope[rows])
        d, r = turns[0][rows], turns[1][rows]
        along = np.einsum("nko,no->nk", solved, r)
        reach = np.einsum("ko,nko,no->n", head, solved, d) - ((r @ head.T) * along).sum(axis=1)
        across = np.einsum("nko,no->nk", solved**2, d) - along**2
        curvature += (h[rows] ** 2 * reach[:, None] + across * error[rows, None]).sum(axis=0)
    # Differences, which rounding may leave below zero.
    return q, np.maximum(curvature, 0)
