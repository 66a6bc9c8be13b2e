"""The dictionary that learning starts from, made from the first batch."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import are_fixed
from atomstream.coders import ActiveSet, ProjectedGradient
from atomstream.dictionaries.rows import Rows
from atomstream.loop.explaining import cross_fit
from atomstream.loop.online import Algorithm
from atomstream.loop.settling import rounds
from atomstream.losses import Squared
from atomstream.memory.state import State, Usage, repeats
from atomstream.penalties.base import directions, weakened
from atomstream.problem import Accuracy, Batch, Clock, Objective
from atomstream.schedules import Harmonic
from atomstream.updates.block_coordinate import BlockCoordinate, _size_is_free
from atomstream.updates.reseeding import (
    different_rows,
    drawn_beside,
    mean_row,
    observed_means,
    starting_atoms,
)

ACCURACY = Accuracy(violation=0.05)  # of the codes that starts are compared by
CLEARLY = 0.9  # of the other start's loss: what the atoms of least squares have to be below
MIN_ENTRY_SHARE = 0.05  # of the mean row: what entries are raised to, for zeros would not move


def first_dictionary(
    batch: Batch, n_components: int, how: str, algorithm: Algorithm, rng: np.random.Generator
) -> Rows:
    """Return a dictionary made from the first batch.

    Parameters
    ----------
    batch : Batch
    n_components : int
    how : {"auto", "samples", "spread", "svd", "random"}
        As in `starting_atoms`. "auto" means samples under the squared loss, and singular vectors
        mixed with the mean of the batch under others. For updaters that explain features by codes
        which have not seen them, samples refined by least squares stand against the latter, and
        are taken if such codes leave a tenth less of the batch. Under a trimmed loss
        `trimmed_start`.
    algorithm : Algorithm
        What learns from it.
    rng : numpy.random.Generator
    """
    objective = algorithm.objective
    few = batch.touched if algorithm.statistics.merges(objective) else None
    if few is not None and len(few) and how != "random":
        # Features in which no sample has an entry are zeros in rows and in singular vectors.
        start = first_dictionary(batch.on(few), n_components, how, algorithm, rng).atoms()
        atoms = np.zeros((len(start), batch.X.shape[1]), start.dtype)
        atoms[:, few] = start
        return Rows(atoms)
    made = partial(starting_atoms, batch, n_components, penalty=objective.atoms, rng=rng)
    soft = not objective.loss.quadratic
    if how == "auto" and objective.loss.trims:
        from atomstream.loop.trimmed_start import trimmed_start

        return trimmed_start(batch, n_components, algorithm, rng)
    if how != "auto":
        return Rows(made(how, soft=soft))
    if not soft:
        return Rows(made("samples"))
    mixed = Rows(made("svd", soft=True))
    # A single feature cannot be explained by codes found on others.
    if algorithm.updater.folds <= 1 or mixed.shape[1] < 2:
        return mixed
    # Under losses with kinks atoms that are all alike end far above what can be reached, and those
    # of least squares near it; but of few rows for the number of atoms these learn the outliers.
    refined, seed = least_squares(batch, Rows(made("samples")), algorithm), rng.integers(2**63)
    # One seed for both: the same parts of the features, so that chance does not choose.
    left = [
        cross_fit(batch, start, algorithm, ACCURACY, np.random.default_rng(seed))[1].objective
        for start in (mixed, refined)
    ]
    return refined if left[1] < CLEARLY * left[0] else mixed


def default_start(algorithm: Algorithm) -> tuple[str, str]:
    """Return what "auto" stands for in `first_dictionary`, and why it is that."""
    loss = algorithm.objective.loss
    if loss.trims:
        return "trimmed", "outliers must not become atoms"
    if loss.quadratic:
        return "samples", "the loss is quadratic"
    if algorithm.updater.folds > 1:
        return "svd or refined samples", "what explained hidden entries of the first batch better"
    return "svd", "the loss is not quadratic"


def inside(given: NDArray, algorithm: Algorithm) -> NDArray:
    """Return given atoms inside their set; fixed ones stay as they are."""
    atoms, stays = _in_set(given, algorithm), are_fixed(algorithm.updater.fixed, len(given))
    # Not in place: a set of all rows returns what was given.
    return np.where(stays[:, None], given, atoms)


def _in_set(rows: NDArray, algorithm: Algorithm) -> NDArray:
    """Return rows as atoms inside their set."""
    codes, penalty = algorithm.objective.codes, algorithm.objective.atoms
    shape = penalty.shape
    # The projection onto a simplex would cut small entries to zero.
    on_simplex = shape is not None and shape.total
    atoms = penalty.normalize(rows) if on_simplex else penalty.prox(rows, 0.0)
    damped = getattr(algorithm.updater, "damping", 0.0)
    # Where a longer atom costs nothing, short and long ones must not lead to different ends.
    if _size_is_free(codes, penalty, at_most=True) and shape.radius == 1 and not damped:
        atoms = directions(atoms).astype(rows.dtype, copy=False)
    return np.asarray(atoms)


def redraw(state: State, batch: Batch, algorithm: Algorithm, rng: np.random.Generator) -> int:
    """Replace atoms of a start that add nothing to the others by rows of the first batch.

    Those are atoms of zeros, and those parallel to another one where codes may have any size. They
    would be re-seeded, but only after many rows, in which they learn nothing; where rows are too
    few, the next ones that are badly explained replace the others. Fixed atoms stay, and all do
    where the algorithm does not re-seed.

    Parameters
    ----------
    state : State
        Of a dictionary that has not learned yet.
    batch : Batch
    algorithm : Algorithm
        What learns from it.
    rng : numpy.random.Generator

    Returns
    -------
    int
        How many atoms were replaced.
    """
    dictionary: Any = state.dictionary
    reseeding, objective = algorithm.reseeding, algorithm.objective
    if reseeding is None or not reseeding.redraws or not objective.codes.is_cone:
        return 0
    gram, stays = dictionary.gram(), are_fixed(algorithm.updater.fixed, dictionary.shape[0])
    # Of two that are alike the fixed one counts as the stronger.
    idle = (gram.diagonal() == 0) | repeats(gram, stays.astype(float))
    places = np.flatnonzero(idle & ~stays)
    if not len(places):
        return 0
    of_rows = isinstance(dictionary, Rows)
    fit = partial(_in_set, algorithm=algorithm) if of_rows else objective.atoms.normalize
    found = different_rows(batch, rng)
    rows = drawn_beside(dictionary.atoms()[~idle], len(places), found, fit, rng)
    dictionary.replace(places[: len(rows)], rows, objective.atoms)
    state.usage.wait(places[len(rows) :], reseeding.patience * len(gram))
    return len(rows)


def least_squares(batch: Batch, start: Rows, algorithm: Algorithm) -> Rows:
    """Return the dictionary that rounds over the batch lead to under the squared loss.

    Missing entries count as the means of their features.
    """
    if batch.mask is not None:
        means = observed_means(batch, batch.row_weights)
        batch = Batch(batch.complete(means), batch.weights)
    # Strengths of penalties are in units of the loss that was asked for, not of the squared one.
    codes, atoms = weakened(algorithm.objective.codes, 0.0), algorithm.objective.atoms
    coder = ActiveSet() if codes.polyhedral else ProjectedGradient()
    squared = Algorithm(Objective(Squared(), codes, atoms), coder, BlockCoordinate())
    memory = squared.statistics.start(*start.shape, squared.objective.loss)
    state = State(start, memory, Usage(start.shape[0]))
    for _ in rounds([batch], state, squared, Clock(Harmonic())):
        pass
    found = np.maximum(state.dictionary.atoms(), MIN_ENTRY_SHARE * mean_row(batch, atoms))
    return Rows(atoms.normalize(found))
