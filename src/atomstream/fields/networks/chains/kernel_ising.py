"""Heat bath updates of spins on a square lattice, in place."""

from atomstream._kernels.compile import inlined, kernel
from atomstream.fields.networks.chains.kernel_uniform import uniform


@kernel
def random_sites(source, spins, table, n, torus):  # type: ignore[no-untyped-def]
    """Update ``n`` sites drawn at random.

    Parameters
    ----------
    source : (int, int)
        From `uniform.source_of`.
    spins : ndarray of int8 of shape (rows, columns)
        Of 1 and -1; overwritten.
    table : ndarray of shape (9,)
        Probability of 1 by the sum of the neighbours, from -4.
    n : int
    torus : bool
        Whether opposite sides are neighbours.
    """
    columns = spins.shape[1]
    for _ in range(n):
        site = int(uniform(source) * spins.size)
        i = site // columns
        _update(source, spins, table, i, site - i * columns, torus)


@kernel
def checkerboard(source, spins, table, n, torus):  # type: ignore[no-untyped-def]
    """Update every site ``n`` times, black ones before white ones.

    Parameters
    ----------
    source, spins, table, n, torus
        As in `random_sites`.
    """
    rows, columns = spins.shape
    for _ in range(n):
        for colour in range(2):
            for i in range(rows):
                for j in range((i + colour) % 2, columns, 2):
                    _update(source, spins, table, i, j, torus)


@inlined
def _update(source, spins, table, i, j, torus):  # type: ignore[no-untyped-def]
    rows, columns = spins.shape
    total = 0
    if i > 0:
        total += spins[i - 1, j]
    elif torus:
        total += spins[rows - 1, j]
    if i < rows - 1:
        total += spins[i + 1, j]
    elif torus:
        total += spins[0, j]
    if j > 0:
        total += spins[i, j - 1]
    elif torus:
        total += spins[i, columns - 1]
    if j < columns - 1:
        total += spins[i, j + 1]
    elif torus:
        total += spins[i, 0]
    spins[i, j] = 1 if uniform(source) < table[total + 4] else -1
