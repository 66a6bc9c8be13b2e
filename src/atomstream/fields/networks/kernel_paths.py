"""Weighted counts of the short paths between pairs of nodes."""

import numpy as np

from atomstream._kernels.compile import kernel


@kernel
def paths(rows, columns, out, into, weights, found):  # type: ignore[no-untyped-def]
    """Sum weights over the paths of two and three edges from one node to another.

    A path that uses the edge of the pair itself does not count, so that an edge says nothing of
    itself.

    Parameters
    ----------
    rows, columns : ndarray of int64 of shape (n_pairs,)
    out, into : (indptr, indices)
        Neighbours that edges lead to, and that they come from, without loops.
    weights : ndarray of shape (n_nodes, 3)
        Two weights of the node in the middle of a path of two edges, and the weight of either node
        in the middle of a path of three.
    found : ndarray of shape (n_pairs, 5)
        Receives for paths of two edges their number and the sums of both weights, and for paths of
        three edges the sum of the products of their weights and their number.
    """
    (starts, heads), (ends, tails) = out, into
    marks = np.full(len(starts) - 1, -1, np.int64)
    for pair in range(len(rows)):
        u, v = rows[pair], columns[pair]
        found[pair] = 0
        for place in range(ends[v], ends[v + 1]):
            marks[tails[place]] = pair
        for place in range(starts[u], starts[u + 1]):
            w = heads[place]
            if w == v:
                continue
            if marks[w] == pair:
                found[pair, 0] += 1
                found[pair, 1] += weights[w, 0]
                found[pair, 2] += weights[w, 1]
            for step in range(starts[w], starts[w + 1]):
                x = heads[step]
                if marks[x] == pair and x != u:
                    found[pair, 3] += weights[w, 2] * weights[x, 2]
                    found[pair, 4] += 1
