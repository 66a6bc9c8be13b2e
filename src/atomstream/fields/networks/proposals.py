"""What coded patches propose for pairs of nodes, and codes of the nodes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.fields.networks import Motif, Network, Reconstruction, Shrinkage
from atomstream.fields.networks.edge_means import EdgeMeans
from atomstream.fields.networks.edge_sets import without_loops


class CodedBlock(NamedTuple):
    """Copies of a motif, and the codes of their patches.

    Attributes
    ----------
    states : ndarray of int64 of shape (n, k)
        Nodes of each copy.
    weights : ndarray of shape (n,) or None
    codes : ndarray of shape (n_distinct, n_components)
        Codes of the patches that differ.
    patches : ndarray of shape (n_distinct, k * k)
        What these codes reconstruct.
    places : ndarray of int of shape (n,)
        Which of the distinct patches each copy has.
    """

    states: NDArray
    weights: NDArray | None
    codes: NDArray
    patches: NDArray
    places: NDArray


@dataclass(frozen=True, eq=False)
class Proposals:
    """Means of what patches propose for pairs of nodes, and the mean code around each node.

    Attributes
    ----------
    reconstruction : Reconstruction
    law : Shrinkage
    codes : ndarray of shape (n_nodes, n_components)
        Mean code of the copies that visited a node; zeros where none did.
    """

    reconstruction: Reconstruction
    law: Shrinkage
    codes: NDArray

    def scores(self, pairs: NDArray) -> dict[str, NDArray]:
        """Return what atoms say of pairs of nodes, given by their numbers, (n_pairs, 2).

        Pairs that were not visited count as 0: they lie far apart.
        """
        found = self.law.scores(*self.reconstruction.visits(*pairs.T))
        lengths = np.maximum(np.linalg.norm(self.codes, axis=1), np.finfo(float).tiny)
        codes = self.codes / lengths[:, None]
        return {
            "reconstruction": np.nan_to_num(found.scores),
            "visits": found.visits,
            "codes": np.einsum("ij,ij->i", codes[pairs[:, 0]], codes[pairs[:, 1]]),
        }


class PairProposals:
    """The running means of proposals for pairs that no edge of the motif joins.

    In an undirected network the two entries of a pair in a patch are one proposal, their mean.

    Parameters
    ----------
    network : Network
    motif : Motif
    n_components : int
    weighted : bool
        Whether copies have weights, or are too many to be counted.
    """

    def __init__(self, network: Network, motif: Motif, n_components: int, weighted: bool) -> None:
        # Entries of edges of the motif are no news: a copy has them by definition.
        free = motif.free_entries(directed=network.directed) & ~np.eye(motif.size, dtype=bool)
        self.tails, self.heads = np.nonzero(np.triu(free) if network.undirected else free)
        self.network, self.size = network, motif.size
        self.means = EdgeMeans(network.n_nodes, weighted=weighted)
        self.codes = np.zeros((network.n_nodes, n_components))
        self.visits = np.zeros(network.n_nodes)
        self.squares = 0.0

    def add(self, block: CodedBlock) -> None:
        """Add the proposals of coded patches."""
        tails, heads, both = self.tails, self.heads, self.network.undirected
        values = block.patches[:, tails * self.size + heads]
        squares = np.square(values)
        if both:
            back = block.patches[:, heads * self.size + tails]
            squares = (squares + np.square(back)) / 2
            values = (values + back) / 2
        weights = np.ones(len(block.states)) if block.weights is None else block.weights
        rows, columns = block.states[:, tails], block.states[:, heads]
        same = rows == columns  # a node may be visited twice by one copy; loops say nothing
        # Squares of the patches that differ, then of all copies: each patch was coded once.
        sums = squares.sum(axis=1)[block.places]
        if same.any():
            sums = sums - (squares[block.places] * same).sum(axis=1)
        self.squares += float(weights @ sums)
        if both:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        self.means.add_pairs(rows, columns, values[block.places], block.weights)
        self._add_codes(block, weights)

    def _add_codes(self, block: CodedBlock, weights: NDArray) -> None:
        n_copies, size = block.states.shape
        shape, ends = (n_copies, self.network.n_nodes), np.arange(n_copies + 1) * size
        visits = sp.csr_array((np.repeat(weights, size), block.states.ravel(), ends), shape)
        self.codes += visits.T @ block.codes[block.places]
        self.visits += np.bincount(
            block.states.ravel(), np.repeat(weights, size), minlength=self.network.n_nodes
        )

    def drain(self, *, exact: bool) -> Proposals:
        """Return the means, with the law of the proposals, and forget them.

        Parameters
        ----------
        exact : bool
            Whether the copies are all there are: then nothing is left to chance.
        """
        means, counts = (without_loops(part) for part in self.means.drain())
        if self.network.undirected:
            means, counts = means + means.T, counts + counts.T
        found = Reconstruction(self.network, means, counts)
        law = Shrinkage.of(*found.visits(*found.visited_pairs()), self.squares)
        codes = self.codes / np.where(self.visits > 0, self.visits, 1)[:, None]
        return Proposals(found, Shrinkage(law.base) if exact else law, codes)
