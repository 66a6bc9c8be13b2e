"""Codes with few atoms: orthogonal matching pursuit, for errors that are known beforehand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atomstream.core.parallel import over_rows

__all__ = ["pursue"]

ROWS = 64  # coded in one compiled call, which no interrupt can end


def pursue(
    X: NDArray,
    dictionary: NDArray,
    goals: ArrayLike,
    most: int,
    *,
    mask: NDArray | None = None,
    n_jobs: int = 1,
) -> NDArray:
    r"""Return signed codes that leave a squared error of at most ``goals``, made of few atoms.

    Row by row the atom whose part of the remainder is largest joins the others, and all are fitted
    anew by least squares, until :math:`\|m (x - hD)\|_2^2 \le goal` or ``most`` atoms are in use,
    or no other is left that would help. Unlike an l1 penalty this does not shrink the codes: what
    is coded keeps its size.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    dictionary : ndarray of shape (n_components, n_features)
        Atoms of any length; those of length 0 are never taken.
    goals : float or array of shape (n_samples,)
        Squared errors, summed over the observed features of a row.
    most : int
        Atoms that a row may take, at least 1.
    mask : ndarray of bool of shape (n_samples, n_features), optional
        True where an entry was observed; others do not count, whatever they hold. Without it all
        were.
    n_jobs : int, default=1
        Threads over blocks of rows.

    Returns
    -------
    ndarray of float64 of shape (n_samples, n_components)

    References
    ----------
    Pati, Rezaiifar, Krishnaprasad (1993), "Orthogonal matching pursuit"; Elad, Aharon (2006),
    "Image denoising via sparse and redundant representations", for errors as goals.
    """
    from atomstream._kernels import pursuit

    codes = np.empty((len(X), len(dictionary)))
    goals = np.broadcast_to(np.asarray(goals, float), len(X))
    rows = np.ascontiguousarray(dictionary, dtype=np.float64)
    atoms, gram = (rows, np.ascontiguousarray(rows.T)), rows @ rows.T
    most = min(most, len(rows), X.shape[1])

    def code(block: slice) -> None:
        """Write the codes of a block of rows."""
        samples = X[block].astype(np.float64)
        seen, squares = np.empty((0, X.shape[1]), dtype=bool), np.empty((0, len(rows)))
        if mask is not None:
            seen = mask[block]
            samples, squares = np.where(seen, samples, 0), seen.astype(float) @ atoms[1] ** 2
        linear, aims = samples @ atoms[1], goals[block].copy()
        for at in range(0, len(samples), ROWS):
            some = slice(at, at + ROWS)
            products = (linear[some], squares[some], gram)
            part = codes[block][some]
            pursuit.pursue(part, samples[some], seen[some], products, atoms, aims[some], most)

    over_rows(code, len(X), n_jobs)
    return codes
