"""One atom instead of many, where outliers in every row leave no more than that to be learned."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.dictionaries.rows import Rows
from atomstream.exceptions import DataWarning
from atomstream.loop.explaining import MIN_FEATURES_PER_ATOM, cross_fit
from atomstream.loop.first_dictionary import inside
from atomstream.loop.online import Algorithm
from atomstream.memory.state import State
from atomstream.problem import Accuracy, Batch

MAX_ROWS = 512  # that both are compared on, or less than twice as many
N_PARTS = 10  # of the features: codes are found on nine tenths, nearly as well as on all
N_ROUNDS = 20
ACCURACY = Accuracy(violation=0.05)


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
    some = blocks[0].of(slice(None, None, max(1, blocks[0].X.shape[0] // MAX_ROWS)))
    # The majoriser of a row that is explained exactly, such as zeros, is too steep for float32.
    batch = replace(some, X=some.X.astype(np.float64))
    folded = replace(algorithm, updater=replace(algorithm.updater, folds=N_PARTS))  # type: ignore[type-var]
    one, seed = _one_atom(batch, algorithm), rng.integers(2**63)
    # One seed for both: the same parts of the features.
    many, single = (
        cross_fit(batch, rows, folded, ACCURACY, np.random.default_rng(seed))[1].objective
        for rows in (Rows(state.dictionary.atoms().astype(np.float64)), Rows(one[None]))
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
