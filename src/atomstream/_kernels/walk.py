"""Random walks and the alias tables they draw from."""

from __future__ import annotations

import numpy as np

from atomstream._kernels.compile import kernel


@kernel
def walk(rng, state, found, thin, indptr, indices, keep, instead):  # type: ignore[no-untyped-def]
    """Walk, writing the node into ``found`` every ``thin`` steps; return the last one.

    Parameters
    ----------
    rng : numpy.random.Generator
    state : int
    found : ndarray of int64 of shape (n,)
        Overwritten.
    thin : int
    indptr, indices : ndarray
        Neighbour lists.
    keep, instead : ndarray
        Their alias tables.
    """
    for sample in range(len(found)):
        for _ in range(thin):
            begin = indptr[state]
            share = rng.random() * (indptr[state + 1] - begin)
            chosen = int(share)
            if share - chosen >= keep[begin + chosen]:
                chosen = instead[begin + chosen]
            state = indices[begin + chosen]
        found[sample] = state
    return state


@kernel
def alias_tables(keep, instead, chances, indptr):  # type: ignore[no-untyped-def]
    """Write Walker's alias table of each stretch of chances: a place is kept, or another one stands in for it.

    Parameters
    ----------
    keep : ndarray of shape (n,)
        Receives the probability that a place drawn at random is kept.
    instead : ndarray of int32 of shape (n,)
        Receives the place, counted from the stretch's beginning, that is taken otherwise.
    chances : ndarray of shape (n,)
    indptr : ndarray
        Where the stretches begin and end.

    References
    ----------
    Vose (1991), "A linear algorithm for generating random numbers with a given distribution".
    """
    stack = np.empty(len(chances), np.int64)
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        size, total = end - begin, 0.0
        for place in range(begin, end):
            total += chances[place]
        if total <= 0:
            continue
        n_small, n_large = 0, 0  # the small ones fill the stack from its front, the large ones from its back
        for place in range(size):
            keep[begin + place] = chances[begin + place] * size / total
            instead[begin + place] = place
            if keep[begin + place] < 1:
                stack[n_small] = place
                n_small += 1
            else:
                n_large += 1
                stack[size - n_large] = place
        while n_small > 0 and n_large > 0:
            n_small -= 1
            small, large = stack[n_small], stack[size - n_large]
            instead[begin + small] = large
            keep[begin + large] -= 1 - keep[begin + small]
            if keep[begin + large] < 1:
                n_large -= 1
                stack[n_small] = large
                n_small += 1
        for place in range(n_small):  # rounding
            keep[begin + stack[place]] = 1.0
