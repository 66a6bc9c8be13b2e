"""Codes with few atoms: orthogonal matching pursuit, to a known error or a number of atoms."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from atomstream.base import ArrayLike, over_rows
from atomstream.coders.base import Coder, Codes
from atomstream.dictionaries.base import Dictionary
from atomstream.problem import Accuracy, Batch, Needs, Objective

ROWS = 64  # coded in one compiled call, which no interrupt can end


def pursue(
    X: NDArray,
    dictionary: NDArray,
    goals: ArrayLike,
    most: int,
    *,
    mask: NDArray | None = None,
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
    rows = np.array(dictionary, dtype=np.float64, order="C")
    atoms, gram = (rows, np.ascontiguousarray(rows.T)), rows @ rows.T
    # As many independent atoms as there are features leave no remainder.
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

    over_rows(code, len(X), rows.size)
    return codes


@dataclass(frozen=True)
class MatchingPursuit(Coder):
    r"""Codes with few entries, found greedily: orthogonal matching pursuit on the Gram matrix.

    Row by row the atom that explains most of the remainder joins the others, and all are fitted
    anew, until the row has the `most_nonzero` entries that the set allows or nothing is left to
    explain. If the atoms that make up a sample are alike but little, these are found: with no
    cosine between two atoms above :math:`1 / (2k - 1)` always. The residuals of these codes are 0:
    they fit their atoms exactly, and nothing is known of other ones.

    Parameters
    ----------
    renewed : bool, default=True
        Whether the remainder is computed anew after each atom. If not, the atoms are those whose
        products with the sample are largest (hard thresholding), which costs less and finds worse
        codes.
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.

    References
    ----------
    Pati, Rezaiifar, Krishnaprasad (1993), "Orthogonal matching pursuit"; Tropp (2004), "Greed is
    good", for when it is exact; Bruckstein, Elad, Zibulevsky (2008) for nonnegative codes.
    """

    renewed: bool = True
    tol: Any = None
    needs: ClassVar[Needs] = {"loss": ("quadratic",), "codes": ("most_nonzero",)}

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return codes; a row keeps its ``start``, if the set holds it and it is better."""
        from atomstream._kernels import gram_pursuit

        penalty: Any = objective.codes
        dtype, gram = batch.X.dtype, dictionary.gram()
        products = gram.astype(dtype, copy=False)
        limits = (min(penalty.most_nonzero, *dictionary.shape), penalty.nonnegative, self.renewed)
        codes = np.empty((batch.X.shape[0], len(gram)), dtype)

        def code(block: slice) -> None:
            """Write the codes of a block of rows."""
            linear = np.ascontiguousarray(dictionary.correlate(batch.seen[block]), dtype=dtype)
            gram_pursuit.pursue(codes[block], linear, batch.energy[block], products, limits)
            if start is not None:
                # A greedy search may end above the code of before.
                before = penalty.prox(start[block].astype(dtype), 0.0)
                worse = _values(codes[block], linear, gram) > _values(before, linear, gram)
                codes[block][worse] = before[worse]

        over_rows(code, len(codes), products.size)
        return Codes(codes, np.zeros(len(codes)))


def _values(codes: NDArray, linear: NDArray, gram: NDArray) -> NDArray:
    """Return the squared errors of codes, halved, less half the squared lengths of the samples."""
    exact = codes.astype(np.float64, copy=False)
    return np.einsum("ij,ij->i", 0.5 * (exact @ gram) - linear, exact)
