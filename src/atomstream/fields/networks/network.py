"""Networks as sorted neighbour lists, made from graphs, matrices and lists; and their regions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import (
    ArrayLike,
    check_keywords,
    checked_array,
    checked_numbers,
    counted,
    generator,
    is_missing,
    library,
    without_mask,
)
from atomstream.exceptions import NetworkWarning
from atomstream.fields.networks.edge_tables import EDGE_READING, EdgeOptions, check_no_weight
from atomstream.fields.networks.edges import Entries, entries_of
from atomstream.io import TableOptions

MOST_BITS = 1 << 23  # bytes of bits that say which nodes are joined: beyond, lists are searched


@dataclass(frozen=True, eq=False)
class Network:
    """A weighted network, directed or not, in sparse form.

    Attributes
    ----------
    out : csr_array of shape (n_nodes, n_nodes)
        Entry (u, v) is the weight of the edge from u to v; indices sorted, no zeros.
    into : csr_array
        Transpose of ``out``.
    labels : sequence of length n_nodes
        Names of the nodes.
    node_weights : ndarray of shape (n_nodes,)
        Ones unless given.
    directed : bool
        Whether edges have a direction.
    attributes : mapping of label to dict
        Attributes of the nodes that have any; model files do not keep them.
    """

    out: Any
    into: Any
    labels: Sequence[Any]
    node_weights: NDArray
    directed: bool
    attributes: Mapping[Any, dict[str, Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = "" if self.alike[0] == 1 else ", weighted"
        nodes, edges = counted(self.n_nodes, "node"), counted(self.n_edges, "edge")
        return f"Network({nodes}, {edges}, {kind}{weights})"

    @classmethod
    def of(
        cls,
        data: object,
        node_weights: ArrayLike | None = None,
        *,
        labels: Iterable[Hashable] | None = None,
        directed: bool | None = None,
        weight: str | None = "weight",
        **reading: Any,
    ) -> Network:
        """Return a network from data of another form.

        Parameters
        ----------
        data : networkx graph, sparse array, array of shape (n, n), frame, path, or Network
            Frames of edges have two columns, three with weights, or more of which two are called
            source and target (tail and head, from and to). Files have a line for each edge: two
            nodes and optionally a weight, or the columns that a first line names, or the formats
            that networkx writes; lines that begin with # are comments, and the file may be
            compressed (.gz). Files .npz (of scipy) and .mtx are matrices; .gml, .graphml,
            .gexf and .net (Pajek) are graphs. Parallel edges add up.
        node_weights : array-like of shape (n_nodes,), optional
            Numbers above 0.
        labels : sequence of length n_nodes, optional
            Names of the nodes in place of those that the data have; for matrices the default are
            numbers.
        directed : bool, optional
            By default graphs keep the direction that they have, matrices are directed unless they
            are symmetric, and files and frames are undirected, unless a column Type, as Gephi
            writes it, says "Directed" of each edge. False adds the weights of both
            directions, unless all of them are equal; True keeps each edge as it is listed.
        weight : str or None, default="weight"
            Column or attribute of edges that holds their weights. An edge that lacks the attribute
            counts as 1; None counts every edge as 1. A third of three columns without known names
            is the weight, unless it holds times in Unix seconds.
        **reading
            How lines of text are written, as in `atomstream.io.TableOptions`: delimiter (by default
            the sign that most lines have: a tab, a bar, a semicolon or a comma, else blanks),
            decimal, header, comment, skip_lines, encoding, thousands.

        Raises
        ------
        ValueError
            For networks without edges, weights that are negative or not finite, lines that are
            not an edge (with their number), and a weight that no edge has.

        Warns
        -----
        NetworkWarning
            Where a file or a frame has edges in both directions of a pair and ``directed`` was not
            given, where edges have no weight but one other number, and where a third column holds
            times.
        """
        if directed is not None and not isinstance(directed, bool | np.bool_):
            raise ValueError(f"directed must be True, False or None, got {directed!r:.40}.")
        check_keywords("Network.of", reading, EDGE_READING)
        options = EdgeOptions(weight, TableOptions(**reading))
        if isinstance(data, cls):
            check_no_weight(options, "the network")
            found = Entries(data.out, data.labels, data.directed, data.attributes)
            node_weights = data.node_weights if node_weights is None else node_weights
        else:
            found = entries_of(data, options)
        if labels is not None:
            found = _renamed(found, list(without_mask(labels)))
        matrix, said = _with_directions(_checked_matrix(found.matrix), found, directed)
        weights = _checked_weights(node_weights, matrix.shape[0])
        return cls(matrix, _transposed(matrix), found.labels, weights, said, found.attributes)

    def largest_component(self) -> Network:
        """Return the network of the largest component; of directed networks the largest weak one.

        Labels, weights and attributes are kept, and the order of the nodes.
        """
        _, part = sp.csgraph.connected_components(self.out, connection="weak")
        # Of components of one size the first.
        return self.among(np.flatnonzero(part == np.bincount(part).argmax()))

    def among(self, nodes: NDArray) -> Network:
        """Return the network between some nodes, given by their numbers.

        Labels, weights and attributes are kept.
        """
        labels = [self.labels[place] for place in nodes.tolist()]
        matrix = sp.csr_array(self.out[nodes][:, nodes])
        return replace(
            self,
            out=matrix,
            into=_transposed(matrix),
            labels=labels,
            node_weights=self.node_weights[nodes],
            attributes={name: self.attributes[name] for name in labels if name in self.attributes},
        )

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` or ``Graph`` with labels, attributes and weights."""
        nx = library("networkx", "Graphs")
        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from((label, self.attributes.get(label, {})) for label in self.labels)
        edges = self.out.tocoo()
        ends = ([self.labels[place] for place in part.tolist()] for part in (edges.row, edges.col))
        graph.add_weighted_edges_from(zip(*ends, edges.data.tolist(), strict=True))
        return graph

    def places(self, pairs: Any) -> tuple[NDArray, NDArray]:
        """Return the numbers of the nodes of pairs of labels, two int64 arrays of shape (n_pairs,).

        Raises
        ------
        ValueError
            For labels that are not in this network.
        """
        try:
            ends = [(self._numbers[tail], self._numbers[head]) for tail, head in pairs]
        except KeyError as error:
            raise ValueError(f"The network has no node {error.args[0]!r}.") from None
        except (TypeError, ValueError):
            raise ValueError(
                f"Pairs of nodes must be a sequence of (label, label), got {pairs!r:.60}."
            ) from None
        tails, heads = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return tails, heads

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @property
    def n_edges(self) -> int:
        """Number of edges, each once."""
        loops = int((self.out.diagonal() != 0).sum())
        return (self.out.nnz + loops) // 2 if self.undirected else int(self.out.nnz)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.out.shape[0])

    @property
    def undirected(self) -> bool:
        """Whether edges have no direction."""
        return not self.directed

    @cached_property
    def edge_bits(self) -> NDArray:
        """Bit v of row u says whether there is an edge from u to v, uint64; (0, 0) if too many."""
        # One bit a pair.
        n_words = -(-self.n_nodes // 64)
        if 8 * self.n_nodes * n_words > MOST_BITS:
            return np.zeros((0, 0), np.uint64)
        bits = np.zeros((self.n_nodes, n_words), np.uint64)
        rows = np.repeat(np.arange(self.n_nodes), np.diff(self.out.indptr))
        columns = self.out.indices.astype(np.uint64)
        ones = np.uint64(1) << (columns & np.uint64(63))
        np.bitwise_or.at(bits, (rows, columns >> np.uint64(6)), ones)
        return bits

    @cached_property
    def alike(self) -> tuple[float, bool]:
        """The weight of all edges, 0 if they differ; and whether the matrix is symmetric."""
        out, into = self.out, self.into
        symmetric = all(
            np.array_equal(getattr(out, part), getattr(into, part))
            for part in ("indptr", "indices", "data")
        )
        weight = float(out.data[0]) if (out.data == out.data[0]).all() else 0.0
        return weight, symmetric

    @property
    def bipartite(self) -> bool:
        """Whether an undirected network is bipartite: each edge joins nodes of two colours."""
        # Every node twice, with edges between the copies alone: a component falls in two if and
        # only if its nodes are of two classes.
        twice = sp.block_array([[None, self.out], [self.out, None]])
        single, double = (
            sp.csgraph.connected_components(graph, connection="weak")[0]
            for graph in (self.out, twice)
        )
        return bool(double == 2 * single)


def _renamed(found: Entries, labels: list[Hashable]) -> Entries:
    """Return the parts of a network with other names of the nodes."""
    n_nodes = found.matrix.shape[0]
    if any(map(is_missing, labels)):
        raise ValueError("labels has a missing entry; give every node a name.")
    if len(labels) != n_nodes or len(set(labels)) < n_nodes:
        raise ValueError(f"labels must be {n_nodes} different names, got {len(labels)}.")
    known = zip(found.labels, labels, strict=True)
    attributes = {new: found.attributes[old] for old, new in known if old in found.attributes}
    return found._replace(labels=labels, attributes=attributes)


def _checked_matrix(matrix: Any) -> Any:
    """Return the weights of a network as a sorted csr_array without zeros."""
    matrix = checked_numbers(matrix, "The network")  # compiled code trusts the indices
    matrix = sp.csr_array(matrix, dtype=np.float64, copy=True)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"The matrix of a network must be square, got shape {matrix.shape}.")
    if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
        raise ValueError("Weights of edges must be finite and not negative.")
    matrix.eliminate_zeros()
    if not matrix.nnz:
        raise ValueError("The network has no edges.")
    # Kernels are compiled once more for indices of another width.
    index = sp.get_index_dtype(maxval=max(matrix.nnz, matrix.shape[0]))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def _checked_weights(node_weights: ArrayLike | None, n_nodes: int) -> NDArray:
    if node_weights is None:
        return np.ones(n_nodes)
    weights = checked_array(node_weights, "node_weights", np.float64)
    if weights.shape != (n_nodes,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"node_weights must be {n_nodes} finite numbers above 0.")
    return weights


def _transposed(matrix: Any) -> Any:
    into = sp.csr_array(matrix.T)
    into.sort_indices()
    return into


def _with_directions(matrix: Any, found: Entries, directed: bool | None) -> tuple[Any, bool]:
    """Return the weights with the directions that are wanted, and whether there are any."""
    said = found.directed if directed is None else bool(directed)
    if said:
        return matrix, True
    if not (abs(matrix - matrix.T) > 0).nnz:
        return matrix, False
    if said is None:
        return matrix, True
    if directed is None:
        _warn_of_directions(matrix, found.labels)
    both = sp.csr_array(matrix + matrix.T - sp.diags_array(matrix.diagonal()))  # loops as they are
    both.eliminate_zeros()
    both.sort_indices()
    return both, False


def _warn_of_directions(matrix: Any, labels: Sequence[Any]) -> None:
    """Warn where pairs have edges in both directions, whose weights are about to be added."""
    both = sp.coo_array(sp.triu(matrix.multiply(matrix.T), k=1))
    if not both.nnz:
        return
    tail, head = labels[int(both.row[0])], labels[int(both.col[0])]
    pairs = "1 pair of nodes has" if both.nnz == 1 else f"{both.nnz} pairs of nodes have"
    warnings.warn(
        f"{pairs} edges in both directions (such as {tail!r} and {head!r}), and their weights were "
        "added, because edges of files and frames are undirected by default; give directed=True to "
        "keep directions, or directed=False if the sums are meant (on the command line --directed, "
        "--no-directed).",
        NetworkWarning,
        stacklevel=4,
    )


def regions_of(
    network: Network, size: int, random_state: int | np.random.Generator | None = None
) -> list[Network]:
    """Return connected regions of so many nodes, no node in two of them.

    Each region is what a search in breadth meets first from a random node that is left. What is too
    small when its surroundings are used up is left out.

    Parameters
    ----------
    network : Network
    size : int
        Nodes of a region.
    random_state : int, Generator or None, default=None

    Returns
    -------
    list of Network
        The edges between the nodes of each region.
    """
    rng = generator(random_state)
    regions: list[Network] = []
    left = np.arange(network.n_nodes)
    while True:
        among = network.out[left][:, left]
        _, component = sp.csgraph.connected_components(among, connection="weak")
        # Nodes in pieces that are too small for a region are dropped for good.
        large = np.bincount(component, minlength=1)[component] >= size
        among, left = among[large][:, large], left[large]
        if not len(left):
            return regions
        around = sp.csgraph.breadth_first_order(
            among, rng.integers(len(left)), directed=False, return_predecessors=False
        )
        nodes = np.sort(left[around[:size]])
        regions.append(network.among(nodes))
        left = np.setdiff1d(left, nodes, assume_unique=True)
