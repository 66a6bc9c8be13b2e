"""Random swaps of the ends of edges, which leave every degree as it is."""

from atomstream._kernels.compile import inlined, kernel
from atomstream.fields.networks.chains.kernel_uniform import uniform


@inlined
def joined(starts, heads, tail, head):  # type: ignore[no-untyped-def]
    """Return whether there is an edge from a node to another."""
    for place in range(starts[tail], starts[tail + 1]):  # noqa: SIM110 - no generators in kernels
        if heads[place] == head:
            return True
    return False


@kernel
def swap(source, n_swaps, starts, tails, heads, back):  # type: ignore[no-untyped-def]
    """Try to swap the heads of two random edges, again and again, in place.

    A swap that would make a loop or a second edge is refused and counts, so that all networks of
    these degrees are equally likely in the end.

    Parameters
    ----------
    source : (int, int)
        From `uniform.source_of`.
    n_swaps : int
    starts : ndarray of shape (n_nodes + 1,)
        Where the edges of each tail begin.
    tails, heads : ndarray of int64 of shape (n_edges,)
        Heads are overwritten.
    back : ndarray of int64 of shape (n_edges,)
        In undirected networks the place of the same edge from its other end; else of length 0.
    """
    n_edges = len(heads)
    for _ in range(n_swaps):
        one, two = int(uniform(source) * n_edges), int(uniform(source) * n_edges)
        a, b, c, d = tails[one], heads[one], tails[two], heads[two]
        if a == d or b == c or joined(starts, heads, a, d) or joined(starts, heads, c, b):
            continue
        heads[one], heads[two] = d, b
        if len(back) > 0:
            from_b, from_d = back[one], back[two]
            heads[from_b], heads[from_d] = c, a
            back[one], back[from_d] = from_d, one
            back[two], back[from_b] = from_b, two
