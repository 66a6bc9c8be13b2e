"""Multiplicative codes of sparse rows, from their stored entries alone."""

import numpy as np

from atomstream._kernels.compile import kernel


@kernel
def encode(codes, rows, atoms, ratio, penalty, exponent, limits):  # type: ignore[no-untyped-def]
    """Minimise the majoriser of each row again and again, in place.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_components)
        Starting codes; overwritten. All arrays are of one type of float.
    rows : (indptr, indices, data)
        The rows, CSR.
    atoms : (columns, totals)
        The atoms transposed, (n_features, n_components), and their sums.
    ratio : (slope, power)
        The gradient of the loss is slope * (1 - (x/y)^power).
    penalty : (l1, l2, low, high)
        Penalty and bounds.
    exponent : float
        Of the multiplicative update.
    limits : (most, moved)
        A row is left after so many rounds, or when a round moves less than this share of it.
    """
    indptr, indices, data = rows
    columns, totals = atoms
    slope, power = ratio
    l1, l2, low, high = penalty
    n_components = codes.shape[1]
    pulled = np.empty(n_components, codes.dtype)
    one, least = codes.dtype.type(1), codes.dtype.type(1e-30)
    for i in range(len(codes)):
        h = codes[i]
        first, last = indptr[i], indptr[i + 1]
        for _ in range(limits[0]):
            pulled[:] = 0
            for place in range(first, last):
                column = columns[indices[place]]
                y = least
                for k in range(n_components):
                    y += h[k] * column[k]
                quotient = data[place] / y
                if power != 1:
                    quotient = quotient**power * one
                for k in range(n_components):
                    pulled[k] += quotient * column[k]
            moved, size = 0.0, 0.0
            for k in range(n_components):
                plus = slope * totals[k] + l1 + l2 * h[k]
                change = slope * pulled[k] / plus if plus > 0 else 1.0
                if exponent != 1:
                    change = change**exponent
                now = min(max(h[k] * change, low), high)
                size += now
                moved += abs(now - h[k])
                h[k] = now
            if moved <= limits[1] * size:
                break


@kernel
def reconstruct(y, codes, indptr, indices, columns):  # type: ignore[no-untyped-def]
    """Write the reconstruction at each stored entry.

    Parameters
    ----------
    y : ndarray of shape (n_stored,)
        Overwritten.
    codes : ndarray of shape (n_samples, n_components)
    indptr, indices : ndarray
        Where the entries stand, CSR.
    columns : ndarray of shape (n_features, n_components)
        The atoms transposed.
    """
    for i in range(len(codes)):
        h = codes[i]
        for place in range(indptr[i], indptr[i + 1]):
            column = columns[indices[place]]
            total = h[0] * column[0]
            for k in range(1, h.size):
                total += h[k] * column[k]
            y[place] = total


@kernel
def correlate(out, indptr, indices, data, head, tail):  # type: ignore[no-untyped-def]
    """Add the products of sparse rows with rank-one atoms to ``out``, in place.

    Parameters
    ----------
    out : ndarray of shape (n_samples, n_components)
    indptr, indices, data : ndarray
        The rows, CSR: tensors of shape (size of the head, size of the tail), flattened.
    head, tail : ndarray of shape (size, n_components)
        Loadings of either half of the modes; an entry of an atom is the product of two of theirs.
    """
    n_components, size = out.shape[1], len(tail)
    for i in range(len(out)):
        for place in range(indptr[i], indptr[i + 1]):
            left, right = head[indices[place] // size], tail[indices[place] % size]
            for k in range(n_components):
                out[i, k] += data[place] * left[k] * right[k]


@kernel
def contract(out, indptr, indices, data, codes, loadings, to_head):  # type: ignore[no-untyped-def]
    """Add sparse rows, contracted with their codes and with half of the modes, to ``out``.

    Parameters
    ----------
    out : ndarray of shape (size of the other half, n_components)
    indptr, indices, data
        As in `correlate`.
    codes : ndarray of shape (n_samples, n_components)
    loadings : (ndarray, int)
        Loadings of the half that is contracted, (size, n_components); the size of the tail.
    to_head : bool
        Whether the tail is contracted, and the head remains.
    """
    there, size = loadings[0], np.uint32(loadings[1])
    n_components = out.shape[1]
    for i in range(len(codes)):
        for place in range(indptr[i], indptr[i + 1]):
            index = np.uint32(indices[place])
            left = index // size
            right = index - left * size
            goal, known = (left, right) if to_head else (right, left)
            value = data[place]
            for k in range(n_components):
                out[goal, k] += value * codes[i, k] * there[known, k]
