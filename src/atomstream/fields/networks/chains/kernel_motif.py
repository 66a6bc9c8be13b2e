"""Moves of copies of a motif in a network: conditionals by intersecting sorted neighbour lists."""

import numpy as np

from atomstream._kernels.compile import inlined, kernel
from atomstream.fields.networks.chains.kernel_uniform import uniform
from atomstream.fields.networks.chains.kernel_walk import draw

MAX_PROPOSALS = 12  # proposals that are refused before a conditional is formed


@kernel
def glauber(source, state, found, thin, network, motif, dense):  # type: ignore[no-untyped-def]
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
    network : (indptr, indices, weights, tables) twice, then node weights
        Outgoing and incoming neighbour lists, with alias tables of weight times node weight.
    motif : (starts, others, outgoing, exponents, loops)
        For each node of the motif the edges that bind it: the other end, whether the edge leaves
        it, the exponent; and the exponent of its loop, 0 for none.
    dense : (matrix, out_most, into_most)
        The weights as a matrix, (0, 0) for sparse networks; one over the largest weight of the
        edges that leave each node, and of those that come.
    """
    # Taken apart once, and drawn here: handing arrays on counts them up and down at every move.
    starts, others, outgoing, exponents, loops = motif
    out_starts, out_nodes, _, out_table, in_starts, in_nodes, _, in_table, node_weights = network
    matrix, out_most, into_most = dense
    candidates, chances = np.empty(len(node_weights), np.int64), np.empty(len(node_weights))
    for sample in range(len(found)):
        for _ in range(thin):
            node = int(uniform(source) * len(state))
            first, last, one = starts[node], starts[node + 1], -1
            # A node is proposed by its first edge until the other edges accept it. That has the law
            # of the conditional, and so has a draw from that after a fixed number of refusals.
            plain = first < last and loops[node] == 0 and exponents[first] == 1
            for _ in range(
                MAX_PROPOSALS if plain and (last - first == 1 or len(matrix) > 0) else 0
            ):
                other = state[others[first]]
                if outgoing[first]:
                    begin, end = in_starts[other], in_starts[other + 1]
                    one = in_nodes[begin + draw(source, in_table, begin, end)]
                else:
                    begin, end = out_starts[other], out_starts[other + 1]
                    one = out_nodes[begin + draw(source, out_table, begin, end)]
                if last - first == 1:
                    break
                share = 1.0
                for edge in range(first + 1, last):
                    other = state[others[edge]]
                    if outgoing[edge]:
                        share *= _power(matrix[one, other] * into_most[other], exponents[edge])
                    else:
                        share *= _power(matrix[other, one] * out_most[other], exponents[edge])
                if uniform(source) < share:
                    break
                one = -1
            if one < 0:
                size = conditional(state, node, network, motif, last, candidates, chances)
                one = candidates[_draw(source, chances, 0, size)]
            state[node] = one
        found[sample] = state


@kernel
def grow(source, state, order, bound, network, motif):  # type: ignore[no-untyped-def]
    """Place the nodes of a motif one by one, each given those before; return whether all fit.

    Parameters
    ----------
    source, state, network, motif
        As in `glauber`; ``state[order[0]]`` is given.
    order : ndarray of int64 of shape (k,)
        In which nodes are placed.
    bound : (starts, others, outgoing, exponents, loops)
        As ``motif``, with the edges to nodes placed before only.
    """
    candidates, chances = np.empty(len(network[8]), np.int64), np.empty(len(network[8]))
    for place in range(len(order)):
        node = order[place]
        size = conditional(state, node, network, bound, bound[0][node + 1], candidates, chances)
        if size == 0 or chances[size - 1] <= 0:
            return False
        if place > 0:
            state[node] = candidates[_draw(source, chances, 0, size)]
        elif not _among(candidates, size, state[node]):
            return False
    return True


@kernel
def conditional(state, node, network, motif, last, candidates, chances):  # type: ignore[no-untyped-def]
    """Write the candidates for a node of the motif and running sums of chances; return how many.

    Parameters
    ----------
    state, node, network, motif
        As in `glauber`.
    last : int
        Where the edges of the node end.
    candidates, chances : ndarray of length n_nodes
        Overwritten from the front.
    """
    starts, others, outgoing, exponents, loops = motif
    out_starts, out_nodes, out_weights, _, _, in_nodes, in_weights, _, node_weights = network
    first = starts[node]
    best, fewest = -1, len(node_weights) + 1
    for edge in range(first, last):
        begin, end = _list(network, outgoing[edge], state[others[edge]])
        if end - begin < fewest:
            best, fewest = edge, end - begin
    if best < 0:
        size = len(node_weights)
        for v in range(size):
            candidates[v], chances[v] = v, node_weights[v]
    else:
        begin, end = _list(network, outgoing[best], state[others[best]])
        size = end - begin
        nodes, weights = (in_nodes, in_weights) if outgoing[best] else (out_nodes, out_weights)
        for place in range(size):
            v = nodes[begin + place]
            candidates[place] = v
            chances[place] = node_weights[v] * _power(weights[begin + place], exponents[best])
    for edge in range(first, last):
        if edge != best:
            begin, end = _list(network, outgoing[edge], state[others[edge]])
            nodes, weights = (in_nodes, in_weights) if outgoing[edge] else (out_nodes, out_weights)
            stretch = (nodes, weights, begin, end)
            size = _intersect(candidates, chances, size, stretch, exponents[edge])
    if loops[node] > 0:
        size = _loops(candidates, chances, size, out_starts, out_nodes, out_weights, loops[node])
    total = 0.0
    for place in range(size):
        total += chances[place]
        chances[place] = total
    return size


@kernel
def patches(found, states, lists, bits, alike):  # type: ignore[no-untyped-def]
    """Write the weights between all pairs of each copy, row by row.

    Parameters
    ----------
    found : ndarray of shape (n, k * k)
        Overwritten.
    states : ndarray of int64 of shape (n, k)
    lists : (indptr, indices, weights)
        Outgoing neighbour lists, sorted.
    bits : ndarray of uint64 of shape (n_nodes, n_words)
        Bit v of row u: whether there is an edge from u to v. (0, 0): not known.
    alike : (weight, symmetric)
        The weight of all edges, 0 where they differ; whether the network is undirected.
    """
    indptr, indices, weights = lists
    weight, symmetric = alike
    k, known = states.shape[1], len(bits) > 0
    for i in range(len(states)):
        for a in range(k):
            u = states[i, a]
            begin, end = indptr[u], indptr[u + 1]
            for b in range(a if symmetric else 0, k):
                v, value = states[i, b], 0.0
                if known and (bits[u, v >> 6] >> np.uint64(v & 63)) & np.uint64(1) == 0:
                    pass
                elif known and weight > 0:
                    value = weight
                else:
                    place = _search(indices, begin, end, v)
                    if place >= 0:
                        value = weights[place]
                found[i, a * k + b] = value
                if symmetric:
                    found[i, b * k + a] = value


@inlined
def _list(network, outgoing, v):  # type: ignore[no-untyped-def]
    """Return where the nodes stand that may be at the other end of an edge."""
    return (network[4][v], network[4][v + 1]) if outgoing else (network[0][v], network[0][v + 1])


@inlined
def _intersect(candidates, chances, size, stretch, exponent):  # type: ignore[no-untyped-def]
    """Keep the candidates in a sorted stretch, multiplying their chances; return how many."""
    nodes, weights, begin, end = stretch
    kept, long = 0, end - begin > 16 * size
    for place in range(size):
        v = candidates[place]
        if long:
            begin = _at_least(nodes, begin, end, v)
        else:
            while begin < end and nodes[begin] < v:
                begin += 1
        if begin == end:
            break
        if nodes[begin] == v:
            candidates[kept], chances[kept] = v, chances[place] * _power(weights[begin], exponent)
            kept += 1
    return kept


@inlined
def _loops(candidates, chances, size, starts, nodes, weights, exponent):  # type: ignore[no-untyped-def]
    """Keep the candidates with a loop, multiplying their chances; return how many."""
    kept = 0
    for place in range(size):
        v = candidates[place]
        found = _search(nodes, starts[v], starts[v + 1], v)
        if found >= 0:
            candidates[kept], chances[kept] = v, chances[place] * _power(weights[found], exponent)
            kept += 1
    return kept


@inlined
def _power(weight, exponent):  # type: ignore[no-untyped-def]
    return weight if exponent == 1 else weight**exponent


@inlined
def _search(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """Return where a value stands in a sorted stretch, -1 where it does not."""
    place = _at_least(values, begin, end, wanted)
    return place if place < end and values[place] == wanted else -1


@inlined
def _at_least(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """Return the first place in a sorted stretch whose value is not below the wanted one."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _draw(source, sums, begin, end):  # type: ignore[no-untyped-def]
    """Return how far into a stretch of running sums a random share of its total falls."""
    wanted, first = uniform(source) * sums[end - 1], begin
    while begin < end - 1:
        middle = (begin + end - 1) // 2
        if sums[middle] <= wanted:
            begin = middle + 1
        else:
            end = middle + 1
    return begin - first


@inlined
def _among(candidates, size, v):  # type: ignore[no-untyped-def]
    found = False
    for place in range(size):
        found |= candidates[place] == v
    return found
