"""A Cholesky factor that grows and shrinks by one row at a time.

The factor L of a small matrix lies in the leading rows of a larger array, row by row, with 1 / L[c,
c] in place of the diagonal: both solves then run along rows from their first entry, which is what
the processor reads fastest.
"""

import numpy as np

from atomstream._kernels.compile import inlined


@inlined
def append(factor, n, diagonal, least):  # type: ignore[no-untyped-def]
    """Make row n of the factor from its products with earlier entries, in ``factor[n, :n]``.

    Returns the squared pivot; where it is at most ``least`` the new entry depends on the earlier
    ones, and the row is left without its diagonal.
    """
    row = factor[n]
    pivot = diagonal
    for c in range(n):
        earlier, total = factor[c], row[c]
        for b in range(c):
            total -= earlier[b] * row[b]
        total *= earlier[c]
        row[c] = total
        pivot -= total * total
    if pivot > least:
        row[n] = 1 / np.sqrt(pivot)
    return pivot


@inlined
def drop(factor, n, gone):  # type: ignore[no-untyped-def]
    """Take entry ``gone`` out of a factor of n rows, by Givens rotations."""
    for a in range(gone + 1, n):
        source, target = factor[a], factor[a - 1]
        for b in range(a + 1):
            target[b] = source[b]
    # Row a now holds a + 2 columns, the diagonal's inverse in column a + 1.
    for c in range(gone, n - 1):
        row = factor[c]
        left, right = row[c], 1 / row[c + 1]
        length = np.sqrt(left * left + right * right)
        cosine, sine = left / length, right / length
        row[c] = 1 / length
        for a in range(c + 1, n - 1):
            row = factor[a]
            left, right = row[c], row[c + 1]
            row[c] = cosine * left + sine * right
            row[c + 1] = cosine * right - sine * left


@inlined
def solve_transposed(factor, n, vector):  # type: ignore[no-untyped-def]
    """Replace the first n entries b of ``vector`` by the solution of L' x = b."""
    for c in range(n - 1, -1, -1):
        row = factor[c]
        value = vector[c] * row[c]
        vector[c] = value
        for b in range(c):
            vector[b] -= value * row[b]


@inlined
def solve(factor, n, vector):  # type: ignore[no-untyped-def]
    """Replace the first n entries b of ``vector`` by the solution of L L' x = b."""
    for c in range(n):
        row, total = factor[c], vector[c]
        for b in range(c):
            total -= row[b] * vector[b]
        vector[c] = total * row[c]
    solve_transposed(factor, n, vector)
