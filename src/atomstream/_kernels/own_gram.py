"""Codes of rows that have a Gram matrix each: the kernels for one matrix, row after row."""

from atomstream._kernels import active_set, descent, steepest
from atomstream._kernels.compile import inlined, kernel

_by_sweeps, _by_edges, _by_faces = descent.encode, steepest.encode, active_set.encode


@kernel
def by_sweeps(codes, swept, samples, problem, violation, limits):  # type: ignore[no-untyped-def]
    """Code each row as `descent.encode` does.

    Parameters
    ----------
    codes, swept, samples, violation, limits
        As there.
    problem : (grams, penalty)
        As there, but for a Gram matrix of each row.
    """
    (linear, energy), (grams, penalty) = samples, problem
    for i in range(len(codes)):
        row = slice(i, i + 1)
        one = (linear[row], energy[row])
        _by_sweeps(codes[row], swept[row], one, (grams[i], penalty), violation, limits)


@kernel
def by_edges(codes, residual, samples, problem, gap, limits):  # type: ignore[no-untyped-def]
    """Code each row as `steepest.encode` does.

    Parameters
    ----------
    codes, residual, samples, gap, limits
        As there.
    problem : (grams, penalty, bounds)
        As there, but for a Gram matrix and a bound of each row.
    """
    for i in range(len(codes)):
        some, sample, one = _row(codes, residual, samples, problem, i)
        _by_edges(some[0], some[1], sample, one, gap, limits)


@kernel
def by_faces(codes, residual, samples, problem, accuracy, limits):  # type: ignore[no-untyped-def]
    """Code each row whose residual is not finite as `active_set.encode` does; see `by_edges`."""
    for i in range(len(codes)):
        if residual[i] < float("inf"):
            continue
        some, sample, one = _row(codes, residual, samples, problem, i)
        _by_faces(some[0], some[1], sample, one, accuracy, limits)


@inlined
def _row(codes, residual, samples, problem, i):  # type: ignore[no-untyped-def]
    """Return one row, with its problem."""
    (linear, energy), (grams, penalty, (lengths, slack, square, curvature)) = samples, problem
    bound = (lengths[i], slack[i], square[i], curvature[i])
    some = (codes[i : i + 1], residual[i : i + 1])
    return some, (linear[i : i + 1], energy[i : i + 1]), (grams[i], penalty, bound)
