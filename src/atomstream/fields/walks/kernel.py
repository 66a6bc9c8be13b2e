"""Hebbian steps on [U; V], one transition at a time: O(r^2) each, whatever the number of states."""

import numpy as np

from atomstream._kernels.compile import inlined, kernel

LARGEST = 1e4  # an entry of S or of its inverse beyond which they are folded into Q
CHECK_EVERY = 64  # transitions from look to look
AHEAD = 8  # transitions


@kernel
def advance(factor, moves, law, numbers, energy):  # type: ignore[no-untyped-def]
    """Make a step per transition; return how many, fewer than all where factors must be folded.

    Parameters
    ----------
    factor : (Q, S, inverse, C, P)
        W = Q S of shape (2 m, r); the inverse of S; the weighted sum of all W so far is Q C + P.
        Changed.
    moves : (origins, destinations, weights, masses)
        int64, int64, float64, float64 of shape (n,).
    law : (gain, longest, horizon, power, recency)
        As in `atomstream.fields.walks.update.Steps`.
    numbers : ndarray of float64 of shape (4,)
        t, size, and the sums of the weights in the sum of W and of what ``energy`` is divided by.
        Changed.
    energy : ndarray of shape (r, r)
        Weighted sum of the outer products of the two rows of each transition. Changed.
    """
    Q, S, inverse, C, P = factor
    origins, destinations, weights, masses = moves
    n_states, r = Q.shape[0] // 2, Q.shape[1]
    rows, work = np.empty((2, r)), (np.empty((2, r)), np.empty((2, r)))
    ahead = 0.0
    for n in range(len(origins)):
        # Rows that will be needed soon are on their way while these are computed with.
        if n + AHEAD < len(origins):
            near, far = origins[n + AHEAD], n_states + destinations[n + AHEAD]
            ahead += (
                Q[near, 0] + Q[far, 0] + P[near, 0] + P[far, 0] + Q[near, r - 1] + Q[far, r - 1]
            )
        t = numbers[0]
        i, j = origins[n], n_states + destinations[n]
        _row(Q, S, i, rows[0])
        _row(Q, S, j, rows[1])
        aa, bb, ab = 0.0, 0.0, 0.0
        for k in range(r):
            aa += rows[0, k] * rows[0, k]
            bb += rows[1, k] * rows[1, k]
            ab += rows[0, k] * rows[1, k]
        numbers[1] += (aa + bb - numbers[1]) / min(t + 1.0, 1000.0)
        step = min(_length(law, t, numbers[1], r) * weights[n], 0.5 / max(aa + bb, 1e-300))
        _turn(S, inverse, rows, (aa, bb, ab), step, work)
        _raise(Q, inverse, C, P, i, rows[1], step)
        _raise(Q, inverse, C, P, j, rows[0], step)
        weight = (t + 1.0) ** law[4]
        numbers[2] += weight
        numbers[3] += weight * masses[n]
        for p in range(r):
            for k in range(r):
                C[p, k] += weight * S[p, k]
                energy[p, k] += weight * weights[n] * rows[0, p] * rows[1, k]
        numbers[0] = t + 1
        if np.int64(t) % CHECK_EVERY == CHECK_EVERY - 1 and _large(S, inverse):
            return n + 1
    return len(origins) if ahead < np.inf else -1


@inlined
def _length(law, t, size, r):  # type: ignore[no-untyped-def]
    """Return how long the step of transition t is, ``size`` the mean squared length of the rows."""
    gain, longest, horizon, power, _ = law
    if horizon > 0:
        return min(gain / max(size, 1e-300), longest) / (1.0 + t * size / (r * horizon)) ** power
    return gain


@inlined
def _turn(S, inverse, rows, products, step, work):  # type: ignore[no-untyped-def]
    """Multiply S by T = I - step (a b' + b a'), its inverse by T^-1 (Woodbury's formula)."""
    (aa, bb, ab), (image, back), r = products, work, len(S)
    for p in range(r):
        left, right = 0.0, 0.0
        for k in range(r):
            left += S[p, k] * rows[0, k]
            right += S[p, k] * rows[1, k]
        for k in range(r):
            S[p, k] -= step * (left * rows[1, k] + right * rows[0, k])
    one, two, three, four = 1 - step * ab, -step * bb, -step * aa, 1 - step * ab
    determinant = one * four - two * three
    for k in range(r):
        image[0, k], image[1, k] = 0.0, 0.0
        for q in range(r):
            image[0, k] += rows[1, q] * inverse[q, k]
            image[1, k] += rows[0, q] * inverse[q, k]
    for k in range(r):
        back[0, k] = (four * image[0, k] - two * image[1, k]) / determinant
        back[1, k] = (one * image[1, k] - three * image[0, k]) / determinant
    for p in range(r):
        for k in range(r):
            inverse[p, k] += step * (rows[0, p] * back[0, k] + rows[1, p] * back[1, k])


@inlined
def _row(Q, S, place, row):  # type: ignore[no-untyped-def]
    """Write a row of Q S."""
    for k in range(len(row)):
        row[k] = 0.0
    for p in range(len(row)):
        for k in range(len(row)):
            row[k] += Q[place, p] * S[p, k]


@inlined
def _raise(Q, inverse, C, P, place, row, step):  # type: ignore[no-untyped-def]
    """Add ``step * row`` to a row of Q S, and keep the sum of all W so far as it is."""
    r = len(row)
    for k in range(r):
        change = 0.0
        for p in range(r):
            change += row[p] * inverse[p, k]
        change *= step
        Q[place, k] += change
        for p in range(r):
            P[place, p] -= change * C[k, p]


@inlined
def _large(S, inverse):  # type: ignore[no-untyped-def]
    """Return whether S or its inverse has an entry that is large, or none at all."""
    for p in range(len(S)):
        for k in range(len(S)):
            if not (abs(S[p, k]) <= LARGEST and abs(inverse[p, k]) <= LARGEST):
                return True
    return False
