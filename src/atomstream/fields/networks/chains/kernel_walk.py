"""Random walks and the alias tables they draw from."""

import numpy as np

from atomstream._kernels.compile import inlined, kernel
from atomstream.fields.networks.chains.kernel_uniform import uniform


@kernel
def walk(source, state, found, thin, indptr, indices, table):  # type: ignore[no-untyped-def]
    """Walk, writing the node into ``found`` every ``thin`` steps; return the last one.

    Parameters
    ----------
    source : (int, int)
        From `uniform.source_of`.
    state : int
    found : ndarray of int64 of shape (n,)
        Overwritten.
    thin : int
    indptr, indices : ndarray
        Neighbour lists.
    table : ndarray of uint64
        Their alias tables.
    """
    for sample in range(len(found)):
        for _ in range(thin):
            begin = indptr[state]
            state = indices[begin + draw(source, table, begin, indptr[state + 1])]
        found[sample] = state
    return state


@inlined
def draw(source, table, begin, end):  # type: ignore[no-untyped-def]
    """Return a place in a stretch, counted from its beginning, drawn by its alias table."""
    return drawn(uniform(source), table, begin, end)


@inlined
def drawn(number, table, begin, end):  # type: ignore[no-untyped-def]
    """Return the place that a number in [0, 1) stands for."""
    share = number * (end - begin)
    chosen = np.int64(share)
    entry = table[np.uint64(begin + chosen)]
    kept, other = np.int64(entry & np.uint64(0xFFFFFFFF)), np.int64(entry >> np.uint64(32))
    # All ones where the other is taken: no processor can foresee a branch, and floats of unsigned
    # numbers are slow.
    taken = (kept - 1 - np.int64((share - chosen) * 4294967296.0)) >> 63
    return chosen ^ ((chosen ^ other) & taken)


@kernel
def alias_tables(table, chances, indptr):  # type: ignore[no-untyped-def]
    """Write Walker's alias table of each stretch of chances.

    Parameters
    ----------
    table : ndarray of uint64 of shape (n,)
        Receives for each place: in its low half the probability that the place is kept when it is
        drawn, in units of 2^-32; in its high half the place, counted from the stretch's beginning,
        that is taken otherwise. One number, so that a draw looks at one place in memory.
    chances : ndarray of shape (n,)
    indptr : ndarray
        Where the stretches begin and end.

    References
    ----------
    Vose (1991), "A linear algorithm for generating random numbers with a given distribution".
    """
    stack, instead = np.empty(len(chances), np.int64), np.zeros(len(chances), np.int64)
    keep = np.ones(len(chances))
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        size, total = end - begin, 0.0
        for place in range(begin, end):
            total += chances[place]
        if total <= 0:
            continue
        # The small ones fill the stack from its front, the large ones from its back.
        n_small, n_large = 0, 0
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
        for place in range(begin, end):
            share = min(max(keep[place], 0.0), 1.0) * 4294967295.0
            table[place] = (np.uint64(instead[place]) << np.uint64(32)) | np.uint64(np.rint(share))
