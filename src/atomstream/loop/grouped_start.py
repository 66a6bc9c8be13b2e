"""A start for atoms that several data sets share, and for those of each alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.dictionaries.matching import align
from atomstream.dictionaries.rows import Rows
from atomstream.loop.first_dictionary import first_dictionary
from atomstream.loop.online import Algorithm
from atomstream.loop.settling import rounds
from atomstream.memory.state import State, Usage
from atomstream.problem import Batch, Clock
from atomstream.schedules import Harmonic
from atomstream.updates.reseeding import starting_atoms

MOST_ROUNDS = 30  # over the first rows, of each data set by itself


def grouped_start(
    batch: Batch, n_groups: int, algorithm: Algorithm, rng: np.random.Generator
) -> Rows:
    """Return shared atoms, then those of each data set.

    Every data set is factorized by itself. What the others have nearly the same atom for is shared,
    and begins as the mean of these; the rest are own atoms. Those of data sets that have no row yet
    begin as rows of others.

    Parameters
    ----------
    batch : Batch
        Its labels are the numbers of the data sets.
    n_groups : int
    algorithm : Algorithm
        With a coder that tells apart which atoms are shared (`atomstream.coders.grouped.Grouped`).
    rng : numpy.random.Generator
    """
    coder: Any = algorithm.coder
    plain = Algorithm(algorithm.objective, coder.inner, algorithm.updater, None, algorithm.missing)
    labels, size = np.asarray(batch.labels), coder.n_shared + coder.n_own
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    if not sizes.any():  # rows of data sets that are not known: all atoms begin from them
        sizes[0], labels = len(labels), np.zeros(len(labels), int)
    found = {
        int(group): _learned(batch.of(np.flatnonzero(labels == group)), size, plain, rng)
        for group in np.flatnonzero(sizes)
    }
    first = int(sizes.argmax())
    pairs = {group: align(found[first], atoms) for group, atoms in found.items()}
    # With itself all are 1 up to rounding, by which their order must not go.
    others = (pair.similarity for group, pair in pairs.items() if group != first)
    alike = sum(others, np.zeros(size))
    order = np.argsort(-alike, kind="stable")
    placed = {group: atoms[pairs[group].order[order]] for group, atoms in found.items()}
    penalty = algorithm.objective.atoms
    shared = penalty.normalize(sum(atoms[: coder.n_shared] for atoms in placed.values()))
    own = [
        placed[group][coder.n_shared :]
        if group in placed
        else starting_atoms(batch, coder.n_own, "samples", penalty, rng)
        for group in range(n_groups)
    ]
    return Rows(np.concatenate([shared, *own]).astype(batch.X.dtype))


def _learned(batch: Batch, size: int, plain: Algorithm, rng: np.random.Generator) -> NDArray:
    """Return atoms of one data set, after rounds over its rows where the updater takes these."""
    start = first_dictionary(batch, size, "auto", plain, rng)
    memory = plain.statistics.start(*start.shape, plain.objective.loss)
    state = State(start, memory, Usage(size))
    if plain.updater.descends_on_full_data:
        for _ in rounds([batch], state, plain, Clock(Harmonic()), most=MOST_ROUNDS):
            pass
    return state.dictionary.atoms()
