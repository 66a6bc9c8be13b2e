"""How many copies of a motif a network has, against random networks of the same degrees."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count, generator
from atomstream.fields.networks.chains.glauber import homomorphisms
from atomstream.fields.networks.link_scores import plain
from atomstream.fields.networks.motifs import Motif, cycle
from atomstream.fields.networks.network import Network

SWAPS_PER_EDGE = 10


@dataclass(frozen=True)
class Significance:
    """The number of copies of a motif, and its law in random networks of the same degrees.

    Attributes
    ----------
    count : float
        Copies (homomorphisms) in the network: a triangle counts six times.
    mean, deviation : float
        Mean and standard deviation in the random networks.
    p_value : float
        Share of the random networks, the network itself among them, whose number of copies is as
        far from their mean.
    """

    count: float
    mean: float
    deviation: float
    p_value: float

    @property
    def z_score(self) -> float:
        """Standard deviations between the network and the mean; NaN if all counts are equal."""
        return (self.count - self.mean) / self.deviation if self.deviation > 0 else float("nan")


def significance(
    network: object,
    motif: object,
    *,
    n_samples: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> Significance:
    """Return whether a network has more or fewer copies of a motif than its degrees explain.

    Parameters
    ----------
    network : networkx graph, sparse or dense array of shape (n, n), frame, file, or Network
        Weights do not count, and loops are left out.
    motif : str, Motif, networkx graph or adjacency matrix
        Trees and cycles are counted in networks of any size, others in small ones.
    n_samples : int, default=100
        Random networks, each after 10 swaps of heads per edge from the network itself.
    random_state : int, Generator or None, default=None

    References
    ----------
    Milo et al. (2002), "Network motifs: simple building blocks of complex networks".

    Examples
    --------
    >>> import networkx as nx
    >>> from atomstream.samplers import significance
    >>> found = significance(nx.karate_club_graph(), "triangle", random_state=0)
    >>> found.count
    270.0
    """
    check_count("n_samples", n_samples)
    network, motif, rng = Network.of(network), Motif.of(motif), generator(random_state)
    edges = plain(network.out)
    count = copies(edges, motif)
    made = [copies(rewired(edges, rng, network.directed), motif) for _ in range(n_samples)]
    mean = float(np.mean(made))
    far = np.abs(np.array(made) - mean) >= abs(count - mean)
    return Significance(count, mean, float(np.std(made)), float((far.sum() + 1) / (n_samples + 1)))


def rewired(matrix: Any, rng: np.random.Generator, directed: bool) -> Any:
    """Return a random network of the same degrees, made by swaps of the heads of two edges.

    Parameters
    ----------
    matrix : csr_array of shape (n_nodes, n_nodes)
        Ones, without loops; symmetric unless directed.
    rng : Generator
    directed : bool
    """
    from atomstream.fields.networks.chains.kernel_rewire import swap
    from atomstream.fields.networks.chains.kernel_uniform import source_of

    starts, heads = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    tails = np.repeat(np.arange(matrix.shape[0]), np.diff(starts))
    # Sorted by head and then tail, edges come in the order of their ways back.
    back = np.zeros(0, np.int64) if directed else np.lexsort((tails, heads))
    n_edges = len(heads) if directed else len(heads) // 2
    swap(source_of(rng), SWAPS_PER_EDGE * n_edges, starts, tails, heads, back)
    return sp.csr_array((np.ones(len(heads)), (tails, heads)), matrix.shape)


def copies(matrix: Any, motif: Motif) -> float:
    """Return the number of homomorphisms from a motif to a network of ones."""
    k, pattern = motif.size, motif.adjacency() > 0
    if k >= 3 and np.array_equal(pattern, cycle(k).adjacency() > 0):
        # Closed walks of k steps are the trace of A^k, the sum of A^(k-1) times the transpose of A.
        power = matrix
        for _ in range(k - 2):
            power = power @ matrix
        return float(power.multiply(matrix.T).sum())
    joined = sp.csgraph.connected_components(sp.csr_array(pattern), connection="weak")[0]
    if len(motif.edges) == k - 1 and joined == 1:
        return _copies_of_a_tree(matrix, pattern)
    return float(len(homomorphisms(Network.of(matrix), motif)[0]))


def _copies_of_a_tree(matrix: Any, pattern: NDArray) -> float:
    """Return the number of copies by the sums of what hangs below each node."""
    both = sp.csr_array((pattern | pattern.T).astype(float))
    order, parents = sp.csgraph.breadth_first_order(both, 0, directed=False)
    below = np.ones((len(pattern), matrix.shape[0]))
    # From the leaves up: what can hang below a node is a product over its children.
    for node in order[:0:-1]:
        onward = matrix if pattern[parents[node], node] else matrix.T
        below[parents[node]] *= onward @ below[node]
    return float(below[0].sum())
