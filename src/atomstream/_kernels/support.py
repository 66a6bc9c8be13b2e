"""The support of a code: the entries that are free to move, and what follows them."""

import numpy as np

from atomstream._kernels.cholesky import append, drop, solve_transposed
from atomstream._kernels.compile import inlined, part
from atomstream._kernels.constants import EPS

DEPENDENT = 1e-12  # squared: an atom depends on others that explain all but 1e-6 of its length


@inlined
def scales(gram, l2):  # type: ignore[no-untyped-def]
    """Return the curvature of each entry, its inverse and its root; 0 for zero atoms."""
    curvature, inverse, root = np.empty(len(gram)), np.empty(len(gram)), np.empty(len(gram))
    for k in range(len(gram)):
        curvature[k] = gram[k, k] + l2
        inverse[k] = 1 / curvature[k] if curvature[k] > 0 else 0.0
        root[k] = np.sqrt(max(curvature[k], 0.0))
    return curvature, inverse, root


@inlined
def copy(target, source):  # type: ignore[no-untyped-def]
    """Copy a vector; numba's own way brings a message about shapes, which takes long to compile."""
    for k in range(target.size):
        target[k] = source[k]


@inlined
def noise(sample):  # type: ignore[no-untyped-def]
    """Return what rounding can make of a slope over the length of its atom."""
    return 8 * sample[2] * np.sqrt(sample[1])


@inlined
def downhill(gain, reach, sample):  # type: ignore[no-untyped-def]
    """Return whether a move surely lowers the objective, whatever rounding hides."""
    return gain + 8 * EPS * reach * reach <= 8 * EPS * sample[1]


@inlined
def combine(gradient, gram, index, values, size):  # type: ignore[no-untyped-def]
    """Add rows of the Gram matrix times ``values`` to the gradient, four in a pass."""
    a = 0
    while a + 4 <= size:
        row0, row1, row2, row3 = (
            gram[index[a]],
            gram[index[a + 1]],
            gram[index[a + 2]],
            gram[index[a + 3]],
        )
        v0, v1, v2, v3 = values[a], values[a + 1], values[a + 2], values[a + 3]
        for j in range(gradient.size):
            gradient[j] += v0 * row0[j] + v1 * row1[j] + v2 * row2[j] + v3 * row3[j]
        a += 4
    while a < size:
        row, v = gram[index[a]], values[a]
        for j in range(gradient.size):
            gradient[j] += v * row[j]
        a += 1


@inlined
def move(gradient, gram, l2, support, move, size):  # type: ignore[no-untyped-def]
    """Let the gradient follow a move on the support."""
    combine(gradient, gram, support, move, size)
    for a in range(size):
        gradient[support[a]] += l2 * move[a]


@inlined
def fresh_gradient(h, gradient, sample, problem, work):  # type: ignore[no-untyped-def]
    """Compute the gradient of the smooth part from the code alone."""
    gram, l2, linear, values, index = problem[0], problem[1][1], sample[0], work[0], work[3]
    size = np.int64(0)  # a literal would be compiled for apart
    for k in range(h.size):
        gradient[k] = l2 * h[k] - linear[k]
        if h[k] != 0:
            index[size], values[size] = k, h[k]
            size += 1
    combine(gradient, gram, index, values, size)


@part
def free_entries(h, penalty, face):  # type: ignore[no-untyped-def]
    """Put the entries that are free to move into the support; return their number."""
    support, inside, _ = face
    size = np.int64(0)  # a literal would be compiled for apart
    for k in range(h.size):
        inside[k] = h[k] != 0 and not stands(h[k], penalty)
        support[size] = k
        size += inside[k]
    return size


@inlined
def stands(value, penalty):  # type: ignore[no-untyped-def]
    """Return whether an entry stands at a bound, or at zero where l1 has its kink."""
    return value <= penalty[2] or value >= penalty[3] or (penalty[0] > 0 and value == 0)


@inlined
def join(h, face, size):  # type: ignore[no-untyped-def]
    """Append entries that are not zero to the support; return its size."""
    support, inside, _ = face
    for k in range(h.size):
        if h[k] != 0 and not inside[k]:
            inside[k] = True
            support[size] = k
            size += 1
    return size


@inlined
def leave(h, penalty, face, size, factored):  # type: ignore[no-untyped-def]
    """Take entries that cannot move out of the support and out of the factor."""
    support, _, factor = face
    for a in range(size - 1, -1, -1):
        k = support[a]
        if stands(h[k], penalty):
            if a < factored:
                drop(factor, factored, a)
                factored -= 1
            size = _remove(face, a, size)
    return size, factored


@inlined
def grow(point, problem, face, size, factored, work):  # type: ignore[no-untyped-def]
    """Append the entries of the support that the factor lacks; return the size of the support.

    ``point`` is (h, gradient, sample): the code, its gradient, and what is known of the sample.

    An atom that depends on those before it is not appended. Mass moves downhill along the direction
    that leaves the reconstruction nearly as it is; then whatever reached zero or a bound leaves,
    or, if nothing did, the entry stays as it is outside of the support. So the factor stays sound.
    Rounding in a pivot grows with the inverse of the smallest one, and so does what counts as
    dependent.
    """
    h, sample = point[0], point[2]
    gram, curvature = problem[0], problem[2][0]
    support, _, factor = face
    smallest = 1.0
    for a in range(factored):
        smallest = min(smallest, 1 / (factor[a, a] ** 2 * curvature[support[a]]))
    while factored < size:
        k = support[factored]
        row, products = factor[factored], gram[k]
        for b in range(factored):
            row[b] = products[support[b]]
        least = max(DEPENDENT, sample[2], 100 * EPS / smallest) * curvature[k]
        pivot = append(factor, factored, curvature[k], least)
        if pivot > least:
            smallest = min(smallest, pivot / curvature[k])
            factored += 1
            continue
        _follow(point, problem, face, factored, least, work)
        before = size
        size, factored = leave(h, problem[1], face, size, factored)
        if size == before:
            size = _remove(face, factored, size)
    return size


@inlined
def _remove(face, place, size):  # type: ignore[no-untyped-def]
    """Take the entry at a place of the support out of it; return its size."""
    support, inside, _ = face
    inside[support[place]] = False
    for b in range(place, size - 1):
        support[b] = support[b + 1]
    return size - 1


@part
def leave_weakest(face, curvature, size):  # type: ignore[no-untyped-def]
    """Take the entry with the smallest pivot out of support and factor; return the size."""
    support, _, factor = face
    weakest, largest = 0, 0.0
    for a in range(size):
        inverse = factor[a, a] ** 2 * curvature[support[a]]
        if inverse > largest:
            weakest, largest = a, inverse
    drop(factor, size, weakest)
    return _remove(face, weakest, size)


@part
def _follow(point, problem, face, last, curvature, work):  # type: ignore[no-untyped-def]
    """Move along the direction in which entry ``last`` of the support depends on those before it.

    Downhill to the first bound, or as far as ``curvature``, an upper bound of the direction's own,
    allows; where the slope is rounding towards zero for that entry, so that codes do not grow for
    nothing. A move that turns out to go uphill is taken back.
    """
    h, gradient, sample = point
    gram, (l1, l2, low, high), (_, _, root) = problem
    support, factor, change, goal = face[0], face[2], work[2], work[1]
    for a in range(last):
        change[a] = -factor[last, a]
    solve_transposed(factor, last, change)
    change[last] = 1.0
    slope, rounding = 0.0, 0.0
    for a in range(last + 1):
        k = support[a]
        slope += change[a] * (gradient[k] + l1 * np.sign(h[k]))
        rounding += abs(change[a]) * root[k] * noise(sample)
    flat = abs(slope) <= rounding
    sign = -np.sign(h[support[last]] if flat else slope)
    length, blocked, bound = abs(h[support[last]]) if flat else abs(slope) / curvature, -1, 0.0
    for a in range(last + 1):
        value, speed = h[support[a]], sign * change[a]
        limit = low if speed < 0 else high
        if (l1 > 0 or (flat and a == last)) and value * speed < 0 and low < 0 < high:
            limit = 0.0
        if speed != 0 and (limit - value) / speed <= length:
            length, blocked, bound = (limit - value) / speed, a, limit
    gain, reach = 0.0, 0.0
    for a in range(last + 1):
        k = support[a]
        goal[a] = bound if a == blocked else h[k] + length * sign * change[a]
        change[a] = goal[a] - h[k]
        reach += abs(change[a]) * root[k]
        gain += change[a] * (0.5 * gradient[k] + l1 * np.sign(h[k]))
    move(gradient, gram, l2, support, change, last + 1)
    for a in range(last + 1):
        gain += 0.5 * change[a] * gradient[support[a]]
    if not downhill(gain, reach, sample):
        fresh_gradient(h, gradient, sample, problem, work)
        return
    for a in range(last + 1):
        h[support[a]] = goal[a]
