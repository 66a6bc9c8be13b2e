"""Moves of the pivot chain: the root walks, the rest of the copy is grown anew."""

from __future__ import annotations

import numpy as np

from atomstream._kernels.compile import kernel
from atomstream._kernels.uniform import uniform
from atomstream._kernels.walk import draw


@kernel
def pivot(source, state, found, thin, walk, tree, lists):  # type: ignore[no-untyped-def]
    """Run the chain in place, writing the state into ``found`` every ``thin`` moves.

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
    for sample in range(len(found)):
        for _ in range(thin):
            root = state[0]
            begin, end = indptr[root], indptr[root + 1]
            if end > begin:  # else a node whose only neighbour is itself
                other = indices[begin + int(uniform(source) * (end - begin))]
                if uniform(source) * ratio[root] < ratio[other]:
                    state[0] = other
            for place in range(len(order)):
                parent = state[parents[place]]
                if outgoing[place]:
                    begin, end = out_indptr[parent], out_indptr[parent + 1]
                else:
                    begin, end = in_indptr[parent], in_indptr[parent + 1]
                chosen = draw(source, tables[place], begin, end)
                state[order[place]] = (
                    out_indices[begin + chosen] if outgoing[place] else in_indices[begin + chosen]
                )
        found[sample] = np.copy(state)
