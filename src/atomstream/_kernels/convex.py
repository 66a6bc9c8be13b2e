"""Online convex factorization in the space of products: rows are walked one by one and never looked at themselves.

Everything the algorithm asks for is a product of rows with rows: codes, the quadratic problem of
the atoms' weights, and the effect of a new representative. These are kept for all representatives
and follow every swap.
"""

from __future__ import annotations

import numpy as np

from atomstream._kernels import active_set, simplex
from atomstream._kernels.compile import kernel
from atomstream._kernels.constants import EPS

CYCLES = 2000  # over the atoms, at most, for one quadratic problem
ROUNDS = 1000  # of moves and Newton steps for the weights of one atom or for one code
EXACT = (1e-10, 1e-12)  # violation, gap of codes
NONE = 1e-12  # a weight below this is none
KEPT = -2  # stands for an atom where a row is a representative already, and offered to none
DEPENDENT = 1e-12  # of the first pivot: columns that depend on those before them
SAFE = 1 - 1e-6  # of a bound, for rounding


@kernel
def walk(rows, state, regions, net, constant, tol):  # type: ignore[no-untyped-def]
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
    net : (l1, l2, low, high, total, damping)
        Penalty and set of the codes (total > 0: the simplex), and what is added to the diagonal of
        A.
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
    faces = (np.empty((k, N + 1, N + 1)), np.zeros((k, N + 1), np.int64), np.zeros(k, np.int64))
    n_swaps = 0
    for t in range(n_rows):
        if weights[t] == 0:
            continue
        current[:N] = products[t]
        current[N] = energy[t]
        K[N, :] = current
        K[:, N] = current
        V[:, N] = W @ current
        objective[t] = _code(codes[t : t + 1], W, V, energy[t], net)
        w, h = weights[t], codes[t]
        for i in range(k):
            for j in range(k):
                A[i, j] = (1 - w) * A[i, j] + w * h[i] * h[j]
                damped[i, j] = A[i, j] + (net[5] if i == j else 0.0)
            for n in range(N):
                C[i, n] = (1 - w) * C[i, n] + w * h[i] * current[n]
            for s in range(t, n_rows):
                past[i, s] = (1 - w) * past[i, s] + w * h[i] * among[t, s]
            C[i, N] = past[i, t]
        size = 0.5 * energy[t] + net[0] * np.abs(h).sum() + 0.5 * net[1] * (h * h).sum()
        constant = (1 - w) * constant + w * size
        enough = max(tol * (constant + _value(W, V, damped, C)), 64 * EPS * constant)
        _settle(W, V, damped, C, K, regions[:2], faces, enough)
        atom = chosen[t]
        if atom == KEPT:
            continue
        if atom < 0:
            atom = int(h.argmax())
        place = _offer(W, V, damped, C, K, regions, atom, faces, enough)
        if place >= 0:  # the row becomes representative number ``place``
            source[place] = N + t
            n_swaps += 1
            K[place, :N] = current[:N]
            K[:N, place] = current[:N]
            K[place, place] = energy[t]
            C[:, place] = C[:, N]
            V[:, place] = V[:, N]
            for s in range(t + 1, n_rows):
                products[s, place] = among[t, s]
    return n_swaps


@kernel
def _code(codes, W, V, energy, net):  # type: ignore[no-untyped-def]
    """Write the code of the row in the last column of V; return its objective."""
    k = len(W)
    gram = W @ V.T
    gram = 0.5 * (gram + gram.T)
    linear, residual = V[:, -1].copy().reshape(1, k), np.empty(1)
    sizes = np.full(1, energy)
    if net[4] > 0:
        codes[:] = net[4] / k
        simplex.encode(
            codes, residual, gram, linear, sizes, (net[0], net[1], net[4]), EXACT, (ROUNDS, EPS)
        )
    else:
        codes[:] = min(max(0.0, net[2]), net[3])
        bound = (np.sqrt(np.diag(gram)), np.zeros(k), 0.0, 0.0)
        limits = (0, ROUNDS, EPS)
        active_set.encode(
            codes,
            residual,
            gram,
            linear,
            sizes,
            (net[0], net[1], net[2], net[3]),
            bound,
            EXACT,
            limits,
        )
    h = codes[0]
    value = 0.5 * energy + net[0] * np.abs(h).sum() + 0.5 * net[1] * (h * h).sum()
    for i in range(k):
        value -= h[i] * linear[0, i]
        for j in range(k):
            value += 0.5 * h[i] * h[j] * gram[i, j]
    return value


@kernel
def _slope(j, n, V, A, C):  # type: ignore[no-untyped-def]
    """Return the derivative of the objective in the weight of column n in atom j."""
    slope = -C[j, n]
    for i in range(len(A)):
        slope += A[j, i] * V[i, n]
    return slope


@kernel
def _gap(j, W, V, A, C, places):  # type: ignore[no-untyped-def]
    """Return by how much the best column beats atom j in the linear model: 0 exactly at the minimum over it."""
    inner, least = 0.0, np.inf
    for n in places:
        slope = _slope(j, n, V, A, C)
        inner += W[j, n] * slope
        least = min(least, slope)
    return inner - least


@kernel
def _settle(W, V, A, C, K, regions, faces, tol):  # type: ignore[no-untyped-def]
    """Minimise over the weights of all atoms, in cycles, until the gaps of all together are at most ``tol``."""
    places, starts = regions
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
                    _face(j, W, K, mine, faces)
        if total <= tol or not moved:
            return


@kernel
def _newton(j, W, V, A, C, K, faces):  # type: ignore[no-untyped-def]
    """Minimise over the weights in use of one atom; return whether all of them stay positive, else change nothing."""
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
        slope = _slope(j, support[a], V, A, C) / A[j, j]
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


@kernel
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


@kernel
def _face(j, W, K, places, faces):  # type: ignore[no-untyped-def]
    """Invert the products of the columns that an atom uses, unless that is known already.

    A constant is added to all of them: steps that keep the sum do not feel it, and columns that are
    only affinely independent become independent.
    """
    inverse, support, sizes = faces[0][j], faces[1][j], faces[2]
    size, same = 0, True
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


@kernel
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


@kernel
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
    simplex.encode(
        now, residual, gram, linear, np.full(1, scale), (0.0, 0.0, 1.0), (0.0, 1e-11), (ROUNDS, EPS)
    )
    gain = 0.0  # what rounding may spoil is left undone
    for a in range(size):
        change = now[0, a] - before[0, a]
        gain += change * _slope(j, places[a], V, A, C)
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


@kernel
def _value(W, V, A, C):  # type: ignore[no-untyped-def]
    """Return the objective of the weights."""
    value = 0.0
    for j in range(len(W)):
        for n in range(W.shape[1]):
            if W[j, n] != 0:
                value += W[j, n] * (0.5 * (_slope(j, n, V, A, C) - C[j, n]))
    return value


@kernel
def _offer(W, V, A, C, K, regions, atom, faces, tol):  # type: ignore[no-untyped-def]
    """Let the row in the last column take the place of a representative where that helps most.

    Returns
    -------
    int
        The place it takes, with W and V as they are then (the last column's weight at that place);
        -1 for none.
    """
    places, starts, shared = regions
    k, last = len(W), len(K) - 1
    first, behind = (0, k) if shared else (atom, atom + 1)  # the atoms that may use the row
    helps = False
    for j in range(first, behind):
        if A[j, j] > 0:
            inner = 0.0
            for n in places[starts[j] : starts[j + 1]]:
                inner += W[j, n] * _slope(j, n, V, A, C)
            helps = helps or _slope(j, last, V, A, C) < inner - tol
    if not helps:
        return -1
    old = places[starts[first] : starts[first + 1]].copy()
    wider = _with_last(places, starts, first, behind, last)
    relaxed, lifted = W.copy(), V.copy()
    _settle(relaxed, lifted, A, C, K, wider, faces, tol)
    if not relaxed[:, last].any():
        return -1
    for place in old:
        if not relaxed[:, place].any():
            _take(W, V, relaxed, lifted, place, last)
            faces[2][first:behind] = 0
            return place
    chosen = _search(
        (W, V), (relaxed, lifted), (A, C, K), (wider, (first, behind)), old, faces, tol
    )
    faces[2][first:behind] = 0
    return chosen


@kernel
def _search(now, optimum, problem, region, old, faces, tol):  # type: ignore[no-untyped-def]
    """Try the places of a full support, the most promising first, until a bound rules out all others."""
    (W, V), (relaxed, lifted), (A, C, K), (wider, atoms) = now, optimum, problem, region
    last, (first, behind) = len(K) - 1, atoms
    lowest, best, chosen = _value(relaxed, lifted, A, C), _value(W, V, A, C) - tol, -1
    bounds = _bounds(relaxed, A, K, wider, atoms, old, faces)
    best_W, best_V, trial, moved = W.copy(), V.copy(), relaxed.copy(), lifted.copy()
    for _ in range(len(old)):
        turn = int(bounds.argmin())
        if lowest + bounds[turn] >= best:
            break
        bounds[turn] = np.inf
        place = old[turn]
        trial[:], moved[:] = relaxed, lifted
        for j in range(first, behind):
            rest = 1 - trial[j, place]
            trial[j, place] = 0.0
            if rest > NONE:
                trial[j] /= rest
            else:
                trial[j, last] = 1.0
            moved[j] = trial[j] @ K
        _settle(trial, moved, A, C, K, _without(wider, atoms, place), faces, tol)
        value = _value(trial, moved, A, C)
        if value < best:
            best, chosen = value, place
            best_W[:], best_V[:] = trial, moved
    if chosen >= 0:
        _take(W, V, best_W, best_V, chosen, last)
    return chosen


@kernel
def _bounds(relaxed, A, K, wider, atoms, old, faces):  # type: ignore[no-untyped-def]
    """Return by how much at least the objective rises when a representative leaves the wider region.

    Let atom j alone lose column l, whose weight is w. At the minimum no feasible move goes
    downhill, so the objective rises by at least half the quadratic form of A at the move, and by at
    least that with the other atoms where they would like best to be: half of s |d|^2, with 1/s the
    entry of the inverse of A and d the move of the atom. The shortest move of the atom that takes w
    off its column is known in closed form from the inverse of the products of all its columns; of
    atoms that do not use them all nothing is said.
    """
    first, behind = atoms
    bounds = np.zeros(len(old))
    if len(A) > 1:
        stiffness = np.linalg.inv(A + 1e-12 * np.trace(A) * np.eye(len(A)))
    else:
        stiffness = 1 / A
    for j in range(first, behind):
        if A[j, j] <= 0:
            continue
        _face(j, relaxed, K, wider[0][wider[1][j] : wider[1][j + 1]], faces)
        inverse, support, size = faces[0][j], faces[1][j], faces[2][j]
        if size < max(2, wider[1][j + 1] - wider[1][j]):
            continue
        sums = np.zeros(size)
        for a in range(size):
            for b in range(size):
                sums[a] += inverse[a, b]
        whole = sums.sum()
        for a in range(size):
            for turn in range(len(old)):
                if old[turn] == support[a]:
                    spread = inverse[a, a] - sums[a] * sums[a] / whole
                    rise = (
                        0.5 * relaxed[j, support[a]] ** 2 / (max(spread, 1e-300) * stiffness[j, j])
                    )
                    bounds[turn] = max(bounds[turn], SAFE * rise)
    return bounds


@kernel
def _take(W, V, better_W, better_V, place, last):  # type: ignore[no-untyped-def]
    """Put better weights in place, those of the last column at ``place``."""
    for j in range(len(W)):
        for n in range(W.shape[1]):
            W[j, n] = better_W[j, n]
            V[j, n] = better_V[j, n]
        W[j, place] = better_W[j, last]
        W[j, last] = 0.0


@kernel
def _with_last(places, starts, first, behind, last):  # type: ignore[no-untyped-def]
    """Return the regions with the last column added to those of some atoms."""
    k = len(starts) - 1
    wider, starts_wider = np.empty(len(places) + k, np.int64), np.empty(k + 1, np.int64)
    size = 0
    for j in range(k):
        starts_wider[j] = size
        for n in places[starts[j] : starts[j + 1]]:
            wider[size] = n
            size += 1
        if first <= j < behind:
            wider[size] = last
            size += 1
    starts_wider[k] = size
    return wider[:size], starts_wider


@kernel
def _without(regions, atoms, place):  # type: ignore[no-untyped-def]
    """Return the regions with one column taken out of those of some atoms."""
    places, starts = regions
    k = len(starts) - 1
    fewer, starts_fewer = np.empty(len(places), np.int64), np.empty(k + 1, np.int64)
    size = 0
    for j in range(k):
        starts_fewer[j] = size
        for n in places[starts[j] : starts[j + 1]]:
            if n != place or not atoms[0] <= j < atoms[1]:
                fewer[size] = n
                size += 1
    starts_fewer[k] = size
    return fewer[:size], starts_fewer
