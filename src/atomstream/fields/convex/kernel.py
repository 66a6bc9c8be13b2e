"""Online convex factorization in the space of products, one row after the other.

Everything the algorithm needs is a product of rows with rows: codes, the quadratic problem of
the atoms' weights, and the effect of a new representative. These are kept for all representatives
and follow every swap.
"""

import numpy as np

from atomstream._kernels import active_set, simplex
from atomstream._kernels.compile import inlined, kernel, part
from atomstream._kernels.constants import EPS
from atomstream.fields.convex.kernel_swaps import offer
from atomstream.fields.convex.kernel_weights import settle, surrogate

MAX_ROUNDS = 1000  # of moves and Newton steps for one code
EXACT = (1e-10, 1e-12)  # violation, gap of codes
KEPT = -2  # stands for an atom where a row is a representative already, and offered to none


@kernel
def walk(rows, state, regions, penalty, total, damping, constant, tol):  # type: ignore[no-untyped-def]
    """Walk over the rows of a batch, in place.

    Parameters
    ----------
    rows : (codes, objective, products, among, past, energy, weights, chosen)
        codes (b, k) and objective (b,) are written. products (b, N): of rows with representatives;
        among (b, b): of rows with rows; past (k, b): of B with rows; energy (b,); weights (b,): of
        the schedule; chosen (b,): the atom that each row is offered to, or -1 for the one with the
        largest coefficient.
    state : (W, K, A, C, source)
        Weights (k, N + 1), products of representatives (N + 1, N + 1), A (k, k), products of B with
        representatives (k, N + 1); the last column is for the row at hand. source (N,) is written:
        n for the old representative n, N + t for row t.
    regions : (places, starts, shared)
        The columns that atom j may use are ``places[starts[j]:starts[j + 1]]``; ``shared``: whether
        all atoms share one region.
    penalty : (l1, l2, low, high)
        Penalty and set of the codes.
    total : float
        Sum of each code, which is on a simplex then; 0 for none.
    damping : float
        What is added to the diagonal of A.
    constant : float
        What the surrogate holds besides the atoms.
    tol : float
        Gap at which a quadratic problem counts as solved, over the surrogate.

    Returns
    -------
    int
        Number of swaps.
    """
    codes, objective, products, among, past, energy, weights, chosen = rows
    W, K, A, C, source = state
    n_rows, k, N = len(codes), len(W), len(source)
    V = W @ K
    damped, current = A.copy(), np.empty(N + 1)
    problem = (damped, C, K)
    faces = (np.empty((k, N + 1, N + 1)), np.zeros((k, N + 1), np.int64), np.zeros(k, np.int64))
    n_swaps = 0
    for t in range(n_rows):
        if weights[t] == 0:
            continue
        for n in range(N + 1):
            current[n] = products[t, n] if n < N else energy[t]
            K[N, n] = K[n, N] = current[n]
        _last_column(V, W, current)
        objective[t] = _code(codes[t : t + 1], W, V, energy[t], penalty, total)
        w, h = weights[t], codes[t]
        _absorb(t, h, w, (A, damped, C, past), (current, among), damping)
        size = 0.5 * energy[t] + penalty[0] * np.abs(h).sum() + 0.5 * penalty[1] * (h * h).sum()
        constant = (1 - w) * constant + w * size
        enough = max(tol * (constant + surrogate(W, V, damped, C)), 64 * EPS * constant)
        settle(W, V, problem, regions[:2], faces, enough)
        atom = chosen[t]
        if atom == KEPT:
            continue
        if atom < 0:
            atom = int(h.argmax())
        place = offer(W, V, problem, regions, atom, faces, enough)
        if place >= 0:  # the row becomes representative number ``place``
            source[place] = N + t
            n_swaps += 1
            for n in range(N):
                K[place, n] = K[n, place] = current[n] if n != place else energy[t]
            for j in range(k):
                C[j, place], V[j, place] = C[j, N], V[j, N]
            for s in range(t + 1, n_rows):
                products[s, place] = among[t, s]
    return n_swaps


@inlined
def _last_column(V, W, current):  # type: ignore[no-untyped-def]
    """Write the products of atoms with the row at hand; its own weights are 0."""
    for j in range(len(V)):
        total = 0.0
        for n in range(len(current)):
            total += W[j, n] * current[n]
        V[j, len(current) - 1] = total


@inlined
def _absorb(t, h, w, sums, products, damping):  # type: ignore[no-untyped-def]
    """Move A, C and the products of B with the rows to come towards row t by its weight."""
    (A, damped, C, past), (current, among) = sums, products
    k, N, n_rows = len(A), len(current) - 1, len(among)
    for i in range(k):
        for j in range(k):
            A[i, j] = (1 - w) * A[i, j] + w * h[i] * h[j]
            damped[i, j] = A[i, j] + (damping if i == j else 0.0)
        for n in range(N):
            C[i, n] = (1 - w) * C[i, n] + w * h[i] * current[n]
        for s in range(t, n_rows):
            past[i, s] = (1 - w) * past[i, s] + w * h[i] * among[t, s]
        C[i, N] = past[i, t]


@part
def _code(codes, W, V, energy, penalty, total):  # type: ignore[no-untyped-def]
    """Write the code of the row in the last column of V; return its objective."""
    k = len(W)
    gram = W @ V.T
    gram = 0.5 * (gram + gram.T)
    linear, residual, sizes = np.empty((1, k)), np.empty(1), np.empty(1)
    lengths, none, sizes[0] = np.empty(k), np.zeros(k), energy
    for i in range(k):
        linear[0, i], lengths[i] = V[i, V.shape[1] - 1], np.sqrt(gram[i, i])
    limits = (np.int64(MAX_ROUNDS), EPS)  # a literal would be compiled for apart
    if total > 0:
        codes[:] = total / k
        model = (gram, (penalty[0], penalty[1], total))
        simplex.encode(codes, residual, (linear, sizes), model, EXACT, limits)
    else:
        codes[:] = min(max(0.0, penalty[2]), penalty[3])
        problem = (gram, penalty, (lengths, none, 0.0, 0.0))
        active_set.encode(codes, residual, (linear, sizes), problem, EXACT, limits)
    h = codes[0]
    value = 0.5 * energy + penalty[0] * np.abs(h).sum() + 0.5 * penalty[1] * (h * h).sum()
    for i in range(k):
        value -= h[i] * linear[0, i]
        for j in range(k):
            value += 0.5 * h[i] * h[j] * gram[i, j]
    return value
