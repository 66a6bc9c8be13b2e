"""Motifs: small directed graphs whose copies in a network the motif chains visit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import checked_array

__all__ = ["Motif", "cycle", "path", "star", "wedge"]


@dataclass(frozen=True)
class Motif:
    """A small weighted directed graph; a copy has an edge of the network for each of its edges.

    Parameters
    ----------
    edges : tuple of (int, int, float)
        Tail, head, and exponent of the weight of the network's edge; nodes are numbered from 0.
    size : int
        Number of nodes.

    Raises
    ------
    ValueError
        For nodes out of range, exponents not above 0, or an edge given twice.
    """

    edges: tuple[tuple[int, int, float], ...]
    size: int

    def __post_init__(self) -> None:
        # Tuples, so that motifs can be compared and be keys.
        object.__setattr__(self, "edges", tuple(map(tuple, self.edges)))
        if not isinstance(self.size, int) or self.size < 1:
            raise ValueError(f"A motif needs at least one node, got size={self.size!r}.")
        for tail, head, exponent in self.edges:
            # Checked one by one: a motif may come from a file.
            whole = isinstance(tail, int) and isinstance(head, int)
            if not (
                whole and 0 <= tail < self.size and 0 <= head < self.size and 0 < exponent < np.inf
            ):
                raise ValueError(
                    f"{(tail, head, exponent)!r} is not an edge of a motif of {self.size} nodes."
                )
        if len({edge[:2] for edge in self.edges}) < len(self.edges):
            raise ValueError(
                "A motif has each of its edges once; add the exponents of edges that repeat."
            )

    @classmethod
    def of(cls, motif: object) -> Motif:
        """Return a motif from a motif, a name, a graph of networkx, or an adjacency matrix.

        Parameters
        ----------
        motif : Motif, str, networkx graph, or array-like of shape (k, k)
            Names are "path:K", "star:K", "cycle:K", "wedge:DEPTH" and "triangle", which is
            "cycle:3". Nodes of a graph are numbered in its order, and weights of its edges are
            exponents; an edge without direction leads
            from the node that comes first, which matters in directed networks only. Entry (a, b)
            of a matrix above 0 is an edge from a to b, and its value is the exponent.
        """
        if isinstance(motif, cls):
            return motif
        # Both names, for a motif of ours has the first one.
        if hasattr(motif, "adjacency") and hasattr(motif, "nodes"):
            return cls._of_graph(motif)
        if isinstance(motif, str):
            # Another word for the cycle of three.
            if motif == "triangle":
                return cycle(3)
            name, _, number = motif.partition(":")
            if name not in NAMED or not re.fullmatch("0*[1-9][0-9]{0,2}", number, re.ASCII):
                known = ", ".join(sorted(NAMED))
                raise ValueError(
                    f"motif={motif!r:.60} is unknown; give {known} with a size up to 999, such as "
                    "path:5, or triangle."
                )
            return NAMED[name](int(number))
        matrix = checked_array(motif, "motif", np.float64)
        if (
            matrix.ndim != 2
            or matrix.shape[0] != matrix.shape[1]
            or not (np.isfinite(matrix) & (matrix >= 0)).all()
        ):
            raise ValueError(
                f"A motif is a square matrix of finite entries of at least 0, got shape "
                f"{matrix.shape}."
            )
        pairs = np.argwhere(matrix > 0)
        return cls(tuple((int(a), int(b), float(matrix[a, b])) for a, b in pairs), len(matrix))

    @classmethod
    def _of_graph(cls, graph: Any) -> Motif:
        places = {node: place for place, node in enumerate(graph.nodes)}
        edges = []
        for tail, head, weight in graph.edges(data="weight", default=1):
            ends = places[tail], places[head]
            if not isinstance(weight, Real):
                raise ValueError(
                    f"The edge {(tail, head)!r} of the motif has the weight {weight!r:.40}, needed "
                    "is a number above 0."
                )
            # Sorted where edges have no direction, so that the same graph is the same motif.
            edges.append((*(ends if graph.is_directed() else sorted(ends)), float(weight)))
        return cls(tuple(edges), len(places))

    def adjacency(self) -> NDArray:
        """Return the matrix of exponents, (k, k)."""
        matrix = np.zeros((self.size, self.size))
        for tail, head, exponent in self.edges:
            matrix[tail, head] = exponent
        return matrix

    def free_entries(self, *, directed: bool) -> NDArray:
        """Return which entries of a patch no edge of the motif decides, bool of shape (k, k).

        Parameters
        ----------
        directed : bool
            Whether the network is; without directions an edge decides both entries of its pair.
        """
        bound = self.adjacency() > 0
        return ~bound if directed else ~(bound | bound.T)

    def n_free_pairs(self, *, directed: bool) -> int:
        """Return the number of pairs of different nodes that no edge of the motif joins."""
        free = self.free_entries(directed=directed) & ~np.eye(self.size, dtype=bool)
        return int(free.sum()) // (1 if directed else 2)


def path(k: int) -> Motif:
    """Return the directed path 0 -> 1 -> ... of k nodes."""
    return Motif(tuple((a, a + 1, 1.0) for a in range(k - 1)), k)


def star(k: int) -> Motif:
    """Return the star of k nodes, edges from its centre 0."""
    return Motif(tuple((0, a, 1.0) for a in range(1, k)), k)


def cycle(k: int) -> Motif:
    """Return the directed cycle of k nodes."""
    return Motif(tuple((a, (a + 1) % k, 1.0) for a in range(k)), k)


def wedge(depth: int) -> Motif:
    """Return two paths of ``depth`` edges that begin in the same node 0: 2 depth + 1 nodes."""
    arms = [[0, *range(1 + arm * depth, 1 + (arm + 1) * depth)] for arm in (0, 1)]
    return Motif(tuple((a, b, 1.0) for arm in arms for a, b in pairwise(arm)), 2 * depth + 1)


NAMED = {"cycle": cycle, "path": path, "star": star, "wedge": wedge}
