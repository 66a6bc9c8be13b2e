"""A table of visited pairs: sums and weights by key, open addressing."""

import numpy as np

from atomstream._kernels.compile import inlined, kernel

FREE = np.uint32(0xFFFFFFFF)


@kernel
def add(table, filled, most, new, start):  # type: ignore[no-untyped-def]
    """Add weighted values until all are there, or a fresh key finds the table too full.

    Parameters
    ----------
    table : (keys, sums, weights)
        Of shape (n_places,), keys of uint32, `FREE` where nothing is; changed.
    filled, most : int
        Places taken, and how many may be.
    new : (keys, values, weights)
        Of shape (n,); weights of shape (1,) hold for all.
    start : int
        The first of them to add.

    Returns
    -------
    next : int
        The first that was not added.
    filled : int
    """
    (keys, sums, weights), (new_keys, new_values, new_weights) = table, new
    for i in range(start, len(new_keys)):
        place = find(keys, new_keys[i])
        if keys[place] == FREE:
            if filled >= most:
                return i, filled
            keys[place] = new_keys[i]
            filled += 1
        weight = new_weights[i if len(new_weights) > 1 else 0]
        sums[place] += new_values[i] * weight
        weights[place] += weights.dtype.type(weight)
    return len(new_keys), filled


@inlined
def find(keys, key):  # type: ignore[no-untyped-def]
    """Return the place of a key, or the free one where it belongs."""
    mixed = (np.uint64(key) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    place = np.int64(((mixed >> np.uint64(32)) * np.uint64(len(keys))) >> np.uint64(32))
    while keys[place] != FREE and keys[place] != key:
        place += 1
        if place == len(keys):
            place = np.int64(0)
    return place


@kernel
def move(keys, sums, weights, new_keys, new_sums, new_weights):  # type: ignore[no-untyped-def]
    """Put all that a table holds into a larger, empty one."""
    for i in range(len(keys)):
        if keys[i] != FREE:
            place = find(new_keys, keys[i])
            new_keys[place], new_sums[place], new_weights[place] = keys[i], sums[i], weights[i]


@kernel
def add_in_place(table, n_nodes, new, weights):  # type: ignore[no-untyped-def]
    """Add weighted values for pairs of nodes that all have their place.

    Parameters
    ----------
    table : (sums, weights)
        Of shape (n_nodes ** 2,); changed.
    n_nodes : int
    new : (rows, columns, values)
        Of shape (n, m).
    weights : ndarray of float64 of shape (n,)
        Of the values of each row.
    """
    sums, total = table
    rows, columns, values = new
    for line in range(len(rows)):
        weight = weights[line]
        for entry in range(rows.shape[1]):
            place = rows[line, entry] * n_nodes + columns[line, entry]
            sums[place] += weight * values[line, entry]
            total[place] += total.dtype.type(weight)
