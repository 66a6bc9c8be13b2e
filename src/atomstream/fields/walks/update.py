"""The generalised Hebbian algorithm on transitions: factors of a chain, and their subspaces."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array, count

BOUND = 0.5  # Frobenius norm of W'W - I beyond which W is made orthonormal again
# Transitions, in all and per state, after which W is folded at the latest.
RARE, PER_STATE = 4096, 16


class Steps(NamedTuple):
    r"""Lengths of steps, and weights of the iterates in the average.

    Attributes
    ----------
    gain, longest, horizon, power : float
        Let s be the running mean of the squared length of the two rows of W of a
        transition: r / s is the number of states, as far as they are visited alike. The step at
        transition t is
        :math:`min(gain / s, longest) / (1 + t s / (r\, horizon))^{power}`; ``gain`` itself where
        the horizon is 0.
    recency : float
        The iterate after t transitions weighs :math:`t^{recency}`.
    """

    gain: float
    longest: float
    horizon: float
    power: float
    recency: float


class Moves(NamedTuple):
    """Transitions to learn from.

    Attributes
    ----------
    origins, destinations : ndarray of int64 of shape (n,)
    weights : ndarray of float64 of shape (n,)
        A step is that much longer.
    masses : ndarray of float64 of shape (n,)
        Singular values are those of the weighted sum of transitions over the sum of the masses: the
        weights themselves give the joint distribution, its scaled form has other masses.
    """

    origins: NDArray
    destinations: NDArray
    weights: NDArray
    masses: NDArray

    def part(self, where: slice) -> Moves:
        """Return some of the transitions."""
        return Moves(*(column[where] for column in self))


_matrix = partial(array, kind=np.float64, finite=True)


class HebbianFactor:
    r"""W = [U; V] / sqrt 2 of shape (2 m, r), its weighted average so far, and what it explains.

    A transition from i to j with rows a = W_i, b = W_{m+j} changes W by
    :math:`\eta (e_i b^\top + e_{m+j} a^\top) - \eta W (a b^\top + b a^\top)`. W is kept as Q S: the
    second part changes S alone and the first two rows of Q, so that a transition costs O(r^2),
    whatever m.

    Parameters
    ----------
    W : ndarray of shape (2 m, r)
        Where to start; best with orthonormal columns.

    References
    ----------
    Yang, Braverman, Zhao, Wang, "Online factorization and partition of complex networks from
    random walks", eqs. (10) and (11).
    """

    SAVED = (
        *(
            _matrix("Q", "2m r"),
            _matrix("S", "r r"),
            _matrix("inverse", "r r"),
            _matrix("C", "r r"),
        ),
        *(_matrix("P", "2m r"), _matrix("energy", "r r")),
        array("numbers", "4", np.float64, at_least=0, finite=True),
        *(count("since"), count("n_reorthonormalized")),
    )

    def __init__(self, W: NDArray) -> None:
        r = W.shape[1]
        self.Q = np.array(W, dtype=np.float64)
        self.S, self.inverse, self.C = np.eye(r), np.eye(r), np.zeros((r, r))
        self.P = np.zeros_like(self.Q)
        self.energy = np.zeros((r, r))
        # Transitions, size, sums of the weights of the average and of the energy.
        self.numbers = np.zeros(4)
        self.since = 0
        self.n_reorthonormalized = 0

    def __copy__(self) -> Self:
        """Return a factor that goes on by itself, but for Q and P: these are written into by both.

        `advance` writes into the rows of the states that it is given.
        """
        twin = object.__new__(type(self))
        own = ("S", "inverse", "C", "energy", "numbers")
        vars(twin).update(vars(self) | {name: getattr(self, name).copy() for name in own})
        return twin

    def check_saved(self, **sizes: int) -> None:
        """Refuse counts that floating-point numbers do not tell apart, or that are not whole."""
        n_moves = max(self.numbers[0], self.since, self.n_reorthonormalized)
        if n_moves >= 2**53 or self.numbers[0] != int(self.numbers[0]):
            raise ValueError(f"counts of a factor up to {n_moves}")

    @property
    def n_states(self) -> int:
        """Number of states, m."""
        return len(self.Q) // 2

    def advance(self, moves: Moves, steps: Steps) -> None:
        """Make a step per transition.

        Parameters
        ----------
        moves : Moves
        steps : Steps
        """
        from atomstream.fields.walks.kernel import advance

        done, law, rare = 0, tuple(map(float, steps)), max(RARE, PER_STATE * self.n_states)
        while done < len(moves.origins):
            # S and its inverse are updated side by side, and W is folded before their rounding adds
            # up.
            piece = moves.part(slice(done, done + rare - self.since))
            made = advance(
                (self.Q, self.S, self.inverse, self.C, self.P),
                piece,
                law,
                self.numbers,
                self.energy,
            )
            done, self.since = done + made, self.since + made
            if self.since >= rare or made < len(piece.origins):
                self.fold()

    def fold(self) -> None:
        """Write W out; make it orthonormal again where it has drifted too far."""
        # C holds the weighted sum of S since the last time, so Q C is what P lacks.
        self.P = self.P + self.Q @ self.C
        W = self.Q @ self.S
        r = len(self.S)
        # Written with "not", so that NaN counts as beyond the bound too.
        if not np.linalg.norm(W.T @ W - np.eye(r)) <= BOUND:
            W = np.linalg.qr(np.nan_to_num(W))[0]
            self.n_reorthonormalized += 1
        self.Q, self.S, self.inverse, self.C = W, np.eye(r), np.eye(r), np.zeros((r, r))
        self.since = 0

    def grow(self, n_states: int) -> None:
        """Make room for new states: rows of zeros, which their first transitions fill."""
        fresh = np.zeros((n_states - self.n_states, self.Q.shape[1]))
        # Origins fill the first half of the rows and destinations the second, so both halves grow.
        for name in ("Q", "P"):
            top, bottom = np.split(getattr(self, name), 2)
            setattr(self, name, np.concatenate([top, fresh, bottom, fresh]))

    def iterate(self) -> NDArray:
        """Return W as it stands, (2 m, r)."""
        return self.Q @ self.S

    def average(self) -> NDArray:
        """Return the weighted average of all W so far, (2 m, r)."""
        return (self.Q @ self.C + self.P) / max(self.numbers[2], np.finfo(float).tiny)


def median_subspace(bases: NDArray) -> tuple[NDArray, int]:
    """Return a basis of the geometric median of subspaces, and which subspace is nearest.

    The basis is turned as that of the nearest one.

    Parameters
    ----------
    bases : ndarray of shape (n_subspaces, n, r)
        Orthonormal columns.

    References
    ----------
    Yang, Braverman, Zhao, Wang, appendix B: the leading eigenvectors of the median of the
    projectors.
    """
    weights = _median_weights(bases)
    nearest = int(np.argmax(weights))
    stacked = np.concatenate(
        [np.sqrt(w) * basis for w, basis in zip(weights, bases, strict=True)], axis=1
    )
    median = np.linalg.svd(stacked, full_matrices=False)[0][:, : bases.shape[2]]
    # Of all bases of the median subspace the one that is closest to the nearest basis, so that
    # atoms keep their order and sign.
    return median @ orthonormal(median.T @ bases[nearest]), nearest


def _median_weights(bases: NDArray) -> NDArray:
    """Return the weights of projectors in their geometric median (Weiszfeld's iteration)."""
    r = bases.shape[2]
    shared = np.array([[np.linalg.norm(one.T @ other) ** 2 for other in bases] for one in bases])
    # Weiszfeld iterations: a geometric median is the mean with weights of one over the distances.
    weights = np.full(len(bases), 1 / len(bases))
    for _ in range(200):
        # |sum w P - P_l|^2 from the inner products of the projectors.
        distances = np.sqrt(
            np.maximum(weights @ shared @ weights - 2 * shared @ weights + r, 1e-12)
        )
        new = (1 / distances) / (1 / distances).sum()
        if np.abs(new - weights).max() < 1e-10:
            break
        weights = new
    return weights


def orthonormal(matrix: NDArray) -> NDArray:
    """Return the nearest matrix with orthonormal columns."""
    # The polar factor from a small eigenproblem; where columns nearly depend on each other its
    # square root loses half of the digits, so a singular value decomposition is taken.
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    if values[0] > 1e-8 * values[-1]:
        return matrix @ (vectors / np.sqrt(values)) @ vectors.T
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right
