"""One atom instead of many, where outliers in every row leave no more than that to be learned."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.dictionaries.rows import Rows
from atomstream.exceptions import DataWarning
from atomstream.loop.explaining import MIN_FEATURES_PER_ATOM
from atomstream.loop.first_dictionary import inside
from atomstream.loop.online import Algorithm
from atomstream.loop.whole_features import left_unseen
from atomstream.memory.state import State
from atomstream.problem import Batch
from atomstream.problem.batch import judged_rows

N_ROUNDS = 20


def keep_one_atom(
    blocks: Sequence[Batch], state: State, algorithm: Algorithm, rng: np.random.Generator
) -> None:
    """Put the best single atom in place of all, where that predicts features better than they do.

    Codes of many atoms follow outliers more than those of one. A loss of whole rows cannot tell
    outliers of single entries from what atoms explain, but features that codes have not seen can.

    Warns
    -----
    DataWarning
        Where a single atom is better.
    """
    n_components, n_features = state.dictionary.shape
    # Of few features they are explained as a whole, and fixed atoms have no other in their place.
    if n_features < MIN_FEATURES_PER_ATOM * n_components or algorithm.updater.fixed:
        return
    batch, seed = judged_rows(blocks), rng.integers(2**63)
    one = _one_atom(batch, algorithm)
    # One seed for both: the same parts of the features.
    many, single = (
        left_unseen(batch, rows, algorithm, np.random.default_rng(seed))
        for rows in (state.dictionary, Rows(one[None]))
    )
    if single < many:
        state.dictionary.assign(np.tile(one, (n_components, 1)))
        warnings.warn(
            "A single atom predicts features that its codes have not seen better than all atoms: "
            "they are all equal now. Where each row has outliers, take loss='trimmed'.",
            DataWarning,
            stacklevel=7,  # the caller of fit
        )


def _one_atom(batch: Batch, algorithm: Algorithm) -> NDArray:
    """Return the atom of least loss: multiplicative steps of a rank of one are least squares."""
    loss, X = algorithm.objective.loss, dense(batch.X)
    weights = batch.row_weights
    code, atom, tiny = np.ones(len(X)), weights @ X, np.finfo(float).tiny
    for _ in range(N_ROUNDS):
        fitted = np.outer(code, atom)
        plus, minus = loss.split(X, fitted if batch.mask is None else batch.mask * fitted)
        code = code * (minus @ atom) / np.maximum(plus @ atom, tiny)
        fitted = np.outer(code, atom)
        plus, minus = loss.split(X, fitted if batch.mask is None else batch.mask * fitted)
        atom = atom * ((weights * code) @ minus) / np.maximum((weights * code) @ plus, tiny)
    return inside(atom[None], algorithm)[0]
