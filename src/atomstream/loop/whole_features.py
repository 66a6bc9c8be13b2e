"""Codes of all features under a robust loss, where outliers do not ask for others."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from atomstream.dictionaries.rows import Rows
from atomstream.loop.explaining import MIN_FEATURES_PER_ATOM, cross_fit
from atomstream.loop.first_dictionary import least_squares
from atomstream.loop.online import Algorithm
from atomstream.loop.settling import rounds
from atomstream.memory.state import State
from atomstream.problem import Accuracy, Batch, Clock
from atomstream.problem.batch import judged_rows, some_rows
from atomstream.updates.reseeding import starting_atoms

MAX_ROWS = 2048  # that are tried, or less than twice as many
N_PARTS = 10  # of the features: codes are found on nine tenths, nearly as well as on all
MAX_ROUNDS = 30
ACCURACY = Accuracy(violation=0.05)


def left_unseen(
    batch: Batch, dictionary: Rows, algorithm: Algorithm, rng: np.random.Generator
) -> float:
    """Return the loss of features that codes have not seen, summed over the rows of a batch."""
    folded = replace(algorithm, updater=replace(algorithm.updater, folds=N_PARTS))  # type: ignore[type-var]
    rows = Rows(dictionary.atoms().astype(np.float64))
    return float(cross_fit(batch, rows, folded, ACCURACY, rng)[1].objective)


def settle_on_whole_features(
    blocks: Sequence[Batch],
    state: State,
    algorithm: Algorithm,
    clock: Clock,
    rng: np.random.Generator,
    late: Callable[[], bool],
) -> None:
    """Go on with codes of all features, and keep that where it predicts features better.

    Atoms that explain features by codes which have not seen them do not learn outliers. Without
    outliers they explain less than those of the plain alternation, several times less where few
    columns are large. Which of both is right features tell that codes have not seen. A few rows
    try it, from the atoms at hand and from those of least squares. No round is made once ``late``
    says that the time is over.
    """
    n_components, n_features = state.dictionary.shape
    # Of few features they are explained as a whole already.
    if n_features < MIN_FEATURES_PER_ATOM * n_components:
        return
    whole = replace(algorithm, updater=replace(algorithm.updater, folds=1))  # type: ignore[type-var]
    few, batch = some_rows(blocks, MAX_ROWS), judged_rows(blocks)
    seed, starts = rng.integers(2**63), [state.dictionary]
    if not algorithm.updater.fixed:
        drawn = starting_atoms(
            few, n_components, "samples", penalty=algorithm.objective.atoms, rng=rng
        )
        starts.append(least_squares(few, Rows(drawn), algorithm))
    # One seed for all: the same parts of the features.
    least = left_unseen(batch, state.dictionary, algorithm, np.random.default_rng(seed))
    best = None
    for start in starts:
        tried = state.snapshot()
        tried.dictionary = Rows(start.atoms().copy())
        for _ in rounds([few], tried, whole, clock, most=MAX_ROUNDS):
            if late():
                return
        left = left_unseen(batch, tried.dictionary, algorithm, np.random.default_rng(seed))
        if left < least:
            least, best = left, tried.dictionary
    if best is not None:
        state.dictionary = best
        for _ in rounds(blocks, state, whole, clock, most=MAX_ROUNDS):
            if late():
                return
