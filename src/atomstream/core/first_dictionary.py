"""The dictionary that learning starts from, made from the first batch."""

from __future__ import annotations

from functools import partial

import numpy as np

from atomstream.coders import ActiveSet, ProjectedGradient
from atomstream.core.batch import Batch
from atomstream.core.clock import Accuracy, Clock
from atomstream.core.method import Method, explained
from atomstream.core.objective import Objective
from atomstream.core.settling import rounds
from atomstream.core.state import State
from atomstream.dictionaries.rows import Rows
from atomstream.losses import Squared
from atomstream.memory.usage import Usage
from atomstream.penalties.base import weakened
from atomstream.schedules import Harmonic
from atomstream.updates.block_coordinate import BlockCoordinate
from atomstream.updates.reseeding import starting_atoms

__all__ = ["first_dictionary"]

ACCURACY = Accuracy(violation=0.05)  # of the codes that starts are compared by


def first_dictionary(
    batch: Batch, n_components: int, how: str, method: Method, rng: np.random.Generator
) -> Rows:
    """Return a dictionary made from the first batch.

    Parameters
    ----------
    batch : Batch
    n_components : int
    how : {"auto", "samples", "spread", "svd", "random"}
        As in `starting_atoms`. "auto" means samples under the squared loss, and singular vectors
        mixed with the mean of the batch under others. Where features are explained by codes that
        have not seen them, samples refined by least squares stand against the latter, and those
        stay that explain the batch better.
    method : Method
        What learns from it.
    rng : numpy.random.Generator
    """
    objective = method.objective
    made = partial(starting_atoms, batch, n_components, penalty=objective.atoms, rng=rng)
    soft = not objective.loss.quadratic
    if how != "auto":
        return Rows(made(how, soft=soft))
    if not soft:
        return Rows(made("samples"))
    mixed = Rows(made("svd", soft=True))
    if method.updater.folds <= 1:
        return mixed
    # Under losses with kinks atoms that are all alike end far above what can be reached, and those
    # of least squares near it; but of few rows for the number of atoms these learn the outliers.
    starts, seed = (
        (mixed, _least_squares(batch, Rows(made("samples")), method)),
        rng.integers(2**63),
    )
    losses = [
        explained(batch, start, method, ACCURACY, np.random.default_rng(seed))[1].objective
        for start in starts
    ]
    return starts[int(np.argmin(losses))]


def _least_squares(batch: Batch, start: Rows, method: Method) -> Rows:
    """Return the dictionary that rounds over the batch lead to under the squared loss."""
    codes, atoms = weakened(method.objective.codes, 0.0), method.objective.atoms
    coder = ActiveSet() if codes.polyhedral else ProjectedGradient()
    squared = Method(Objective(Squared(), codes, atoms), coder, BlockCoordinate())
    memory = squared.statistics.start(*start.shape, squared.objective.loss)
    state = State(start, memory, Usage(start.shape[0]))
    for _ in rounds([batch], state, squared, Clock(Harmonic())):
        pass
    return state.dictionary
