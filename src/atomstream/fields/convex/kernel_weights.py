"""The quadratic problem of convex factorization: the weights of the representatives.

W (k, N + 1) are the weights, K (N + 1, N + 1) the products of representatives, V = W K; A (k, k)
and C (k, N + 1), the products of B with the representatives, come from the memory. The last column
is for the row at hand. A problem is (A, C, K).
"""

import numpy as np

from atomstream._kernels import simplex
from atomstream._kernels.compile import part
from atomstream._kernels.constants import EPS

CYCLES = 2000  # over the atoms, at most, for one quadratic problem
MAX_ROUNDS = 1000  # of moves and Newton steps for the weights of one atom
NONE = 1e-12  # a weight below this is none
DEPENDENT = 1e-12  # of the first pivot: columns that depend on those before them


@part
def settle(W, V, problem, regions, faces, tol):  # type: ignore[no-untyped-def]
    """Minimise over the weights of all atoms, in cycles, until their gaps sum to ``tol``."""
    (A, C, K), (places, starts) = problem, regions
    k = len(W)
    for _ in range(CYCLES):
        total, moved = 0.0, False
        for j in range(k):
            if A[j, j] <= 0:
                continue
            mine = places[starts[j] : starts[j + 1]]
            gap = _gap(j, W, V, A, C, mine)
            total += gap
            if gap > 0.1 * tol / k:
                if _newton(j, W, V, A, C, K, faces):
                    moved = True
                    if _gap(j, W, V, A, C, mine) <= 0.1 * tol / k:
                        continue
                if _atom(j, W, V, A, C, K, mine):
                    moved = True
                    invert_face(j, W, K, mine, faces)
        if total <= tol or not moved:
            return


@part
def _newton(j, W, V, A, C, K, faces):  # type: ignore[no-untyped-def]
    """Minimise over the weights in use of one atom; return False where one would vanish."""
    inverse, support, size = faces[0][j], faces[1][j], faces[2][j]
    if size < 2:
        return False
    covered = 0.0
    for a in range(size):
        if W[j, support[a]] <= 0:  # the inverse was made for other weights
            return False
        covered += W[j, support[a]]
    if covered < 1 - 1e-9:
        return False
    step, ones = np.zeros(size), np.zeros(size)
    for a in range(size):
        slope = slope_of(j, support[a], V, A, C) / A[j, j]
        for b in range(size):
            step[b] -= inverse[a, b] * slope
            ones[b] += inverse[a, b]
    level = step.sum() / ones.sum()
    for a in range(size):
        step[a] -= ones[a] * level
        if W[j, support[a]] + step[a] <= NONE:
            return False
    _move(j, W, V, K, support, step, size)
    return True


@part
def _move(j, W, V, K, places, step, size):  # type: ignore[no-untyped-def]
    """Move the weights of an atom; what rounding takes off their sum is given back."""
    total = 0.0
    for a in range(size):
        W[j, places[a]] += step[a]
        total += W[j, places[a]]
    for a in range(size):
        W[j, places[a]] /= total
    V[j] = 0.0
    for a in range(size):
        weight, row = W[j, places[a]], K[places[a]]
        for c in range(len(K)):
            V[j, c] += weight * row[c]


@part
def _atom(j, W, V, A, C, K, places):  # type: ignore[no-untyped-def]
    """Minimise over the weights of one atom; return whether they moved."""
    size, k = len(places), len(W)
    gram, linear, before = np.empty((size, size)), np.empty((1, size)), np.empty((1, size))
    scale = 0.0
    for a in range(size):
        n = places[a]
        before[0, a] = W[j, n]
        rest = C[j, n]
        for i in range(k):
            if i != j:
                rest -= A[j, i] * V[i, n]
        linear[0, a] = rest / A[j, j]
        scale = max(scale, K[n, n], abs(linear[0, a]))
        for b in range(size):
            gram[a, b] = K[n, places[b]]
    now, residual = before.copy(), np.empty(1)
    sizes = np.empty(1)
    sizes[0] = scale
    samples, problem = (linear, sizes), (gram, (0.0, 0.0, 1.0))
    limits = (np.int64(MAX_ROUNDS), EPS)  # a literal would be compiled for apart
    simplex.encode(now, residual, samples, problem, (0.0, 1e-11), limits)
    gain = 0.0  # what rounding may spoil is left undone
    for a in range(size):
        change = now[0, a] - before[0, a]
        gain += change * slope_of(j, places[a], V, A, C)
        for b in range(size):
            gain += 0.5 * A[j, j] * change * gram[a, b] * (now[0, b] - before[0, b])
    if gain >= 0:
        return False
    for a in range(size):
        n = places[a]
        W[j, n] = now[0, a] if now[0, a] > NONE else 0.0
    kept = 0.0
    for n in places:
        kept += W[j, n]
    V[j] = 0.0
    for n in places:
        if W[j, n] > 0:
            W[j, n] /= kept
            for c in range(len(K)):
                V[j, c] += W[j, n] * K[n, c]
    return True


@part
def invert_face(j, W, K, places, faces):  # type: ignore[no-untyped-def]
    """Invert the products of the columns that an atom uses, unless that is known already.

    A constant is added to all of them: steps that keep the sum do not feel it, and columns that are
    only affinely independent become independent.
    """
    inverse, support, sizes = faces[0][j], faces[1][j], faces[2]
    size, same = np.int64(0), True  # a literal would be compiled for apart
    for n in places:
        if W[j, n] > 0:
            same = same and size < sizes[j] and support[size] == n
            support[size] = n
            size += 1
    if same and size == sizes[j]:
        return
    lift = 0.0
    for a in range(size):
        lift += K[support[a], support[a]] / size
    for a in range(size):
        for b in range(size):
            inverse[a, b] = K[support[a], support[b]] + lift
    sizes[j] = size if _invert(inverse, size) else 0


@part
def _invert(matrix, size):  # type: ignore[no-untyped-def]
    """Invert a positive definite matrix in place by sweeps; return whether it was one."""
    scale = matrix[0, 0]
    for p in range(size):
        pivot = matrix[p, p]
        if pivot <= DEPENDENT * scale:
            return False
        for b in range(size):
            matrix[p, b] /= pivot
        for a in range(size):
            if a != p:
                factor = matrix[a, p]
                for b in range(size):
                    matrix[a, b] -= factor * matrix[p, b]
                matrix[a, p] = -factor / pivot
        matrix[p, p] = 1 / pivot
    return True


@part
def slope_of(j, n, V, A, C):  # type: ignore[no-untyped-def]
    """Return the derivative of the objective in the weight of column n in atom j."""
    slope = -C[j, n]
    for i in range(len(A)):
        slope += A[j, i] * V[i, n]
    return slope


@part
def _gap(j, W, V, A, C, places):  # type: ignore[no-untyped-def]
    """Return by how much the best column beats atom j in the linear model: 0 at the minimum."""
    inner, least = 0.0, np.inf
    for n in places:
        slope = slope_of(j, n, V, A, C)
        inner += W[j, n] * slope
        least = min(least, slope)
    return inner - least


@part
def surrogate(W, V, A, C):  # type: ignore[no-untyped-def]
    """Return the objective of the weights."""
    value = 0.0
    for j in range(len(W)):
        for n in range(W.shape[1]):
            if W[j, n] != 0:
                value += W[j, n] * (0.5 * (slope_of(j, n, V, A, C) - C[j, n]))
    return value
