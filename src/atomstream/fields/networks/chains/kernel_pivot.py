"""Moves of the pivot chain: the root walks, the rest of the copy is grown anew."""

import numpy as np

from atomstream._kernels.compile import kernel
from atomstream._kernels.support import copy
from atomstream.fields.networks.chains.kernel_uniform import uniform
from atomstream.fields.networks.chains.kernel_walk import drawn

TOGETHER = 256  # copies that are grown side by side: reads of one wait while others compute


@kernel
def pivot(source, state, found, thin, walk, tree, lists):  # type: ignore[no-untyped-def]
    """Run the chain in place, writing the state into ``found`` every ``thin`` moves.

    The root walks by itself, and given the roots copies do not depend on each other. So only those
    that are written are grown, many side by side; numbers are drawn in the order of the moves.

    Parameters
    ----------
    source : (int, int)
        From `uniform.source_of`.
    state : ndarray of int64 of shape (k,)
        Overwritten.
    found : ndarray of int64 of shape (n, k)
        Overwritten.
    thin : int
    walk : (indptr, indices, ratio)
        The nodes joined to each by an edge in any direction, where the root may go; and the weight
        of each node as a root over its number of neighbours: moves are accepted by the ratio of
        two.
    tree : (order, parents, outgoing)
        Nodes of the motif after the root, each after its parent; its parent; whether the edge
        leaves the parent.
    lists : (out_indptr, out_indices, in_indptr, in_indices, tables)
        Neighbour lists, and for each node of the motif after the root the alias tables of its list.
    """
    out_indptr, out_indices, in_indptr, in_indices, tables = lists
    order, parents, outgoing = tree
    indptr, indices, ratio = walk
    shares, root = np.empty((len(order), TOGETHER)), state[0]
    grown = np.empty((len(state), TOGETHER), np.int64)
    for start in range(0, len(found), TOGETHER):
        size = min(TOGETHER, len(found) - start)
        for sample in range(size):
            for _ in range(thin):
                begin, end = indptr[root], indptr[root + 1]
                if end > begin:  # else a node whose only neighbour is itself
                    other = indices[begin + int(uniform(source) * (end - begin))]
                    if uniform(source) * ratio[root] < ratio[other]:
                        root = other
                for place in range(len(order)):
                    shares[place, sample] = uniform(source)
            grown[0, sample] = root
        for place in range(len(order)):
            starts, nodes = (
                (out_indptr, out_indices) if outgoing[place] else (in_indptr, in_indices)
            )
            above, below, table = grown[parents[place]], grown[order[place]], tables[place]
            for sample in range(size):
                parent = np.uint64(above[sample])
                begin, end = starts[parent], starts[parent + np.uint64(1)]
                chosen = drawn(shares[place, sample], table, begin, end)
                below[sample] = nodes[np.uint64(begin + chosen)]
        for sample in range(size):
            copy(found[start + sample], grown[:, sample])
    if len(found) > 0:
        copy(state, found[-1])
