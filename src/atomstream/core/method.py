"""A named algorithm: what is minimised, the parts that do it, and one step of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Coder, Codes
from atomstream.core.batch import Batch
from atomstream.core.clock import Accuracy, Clock
from atomstream.core.objective import Objective
from atomstream.core.state import State
from atomstream.dictionaries.rows import Rows
from atomstream.exceptions import IncompatiblePartsError
from atomstream.memory.base import Delta, Statistics
from atomstream.penalties.base import weakened
from atomstream.updates.base import Explained, Updater
from atomstream.updates.reseeding import Reseeding

__all__ = ["Method", "absorb", "check_compatible", "cross_fit", "explain", "measured", "step"]

LEAST_FEATURES = 4  # times the atoms: codes found on fewer than twice as many features mean little


@dataclass(frozen=True)
class Method:
    """A named algorithm: what is minimised, and the parts that do it batch by batch.

    A method that must walk the rows one by one offers the same `step` and `reseed` and has other
    parts.

    Attributes
    ----------
    objective : Objective
    coder : Coder
    updater : Updater
        Declares the statistics and the memory that it learns from.
    reseeding : Reseeding, optional
        None leaves atoms that nothing uses as they are.
    missing : bool, default=False
        Whether entries of batches may be missing.
    """

    objective: Objective
    coder: Coder
    updater: Updater
    reseeding: Reseeding | None = None
    missing: bool = False

    @property
    def statistics(self) -> Statistics:
        """Statistics that the updater measures of a batch."""
        return self.updater.statistics

    def step(
        self, batch: Batch, state: State, clock: Clock, rng: np.random.Generator
    ) -> tuple[Codes, Delta]:
        """Make one step; see `step`."""
        return step(batch, state, self, clock, rng)

    def reseed(self, batch: Batch, codes: Codes, state: State, rng: np.random.Generator) -> int:
        """Give atoms that nothing uses a new start; return how many."""
        if self.reseeding is None:
            return 0
        return self.reseeding.reseed(batch, codes, state, self.objective, self.updater.fixed, rng)


def step(
    batch: Batch, state: State, method: Method, clock: Clock, rng: np.random.Generator
) -> tuple[Codes, Delta]:
    """Code the batch, measure what it adds, absorb it, improve the dictionary."""
    # Everything that can refuse the batch comes before the first change: a failure leaves the state
    # as it was.
    r, d = state.dictionary.shape
    if method.updater.folds > 1 and d >= LEAST_FEATURES * r:
        codes, delta, latest = cross_fit(batch, state.dictionary, method, clock.tolerance, rng)
    else:
        codes, delta = explain(batch, state.dictionary, method, clock.tolerance)
        latest = [Explained(batch, codes)]
    absorb(delta, state, clock)
    method.updater.update(state, method.objective, clock, latest)
    return codes, delta


def absorb(delta: Delta, state: State, clock: Clock) -> None:
    """Take in what samples add, as one step of the clock; the dictionary stays as it is."""
    state.memory.absorb(delta, clock.tick(delta.mass))
    # Before the update: energies belong to the atoms that the codes were made with.
    energy = state.memory.atom_energy(state.dictionary)
    state.usage.absorb(delta, energy, state.dictionary.gram())


def explain(
    batch: Batch,
    dictionary: Any,
    method: Method,
    accuracy: Accuracy,
    start: NDArray | None = None,
) -> tuple[Codes, Delta]:
    """Code a batch, from ``start`` on, and measure what it adds.

    Where features in which no sample has an entry may count as one (`Statistics.merges`), and the
    others are few, these are merged: such a feature costs a constant times its reconstruction, so
    of all of them the sum of the atoms is enough. The loss stays what it is, and the work goes by
    the features with entries.
    """
    objective = method.objective
    features = batch.touched if method.statistics.merges(objective) else None
    if features is None:
        codes = method.coder.encode(batch, dictionary, objective, accuracy, start)
        return codes, measured(batch, codes, dictionary, method)
    part = dictionary.on(features).atoms()
    rest = dictionary.totals() - part.sum(axis=1, dtype=np.float64)
    atoms = Rows(np.column_stack([part, np.maximum(rest, 0).astype(part.dtype)]))
    batch = batch.merged(features)
    codes = method.coder.encode(batch, atoms, objective, accuracy, start)
    delta: Any = method.statistics.measure(batch, codes, atoms, objective)
    return codes, _by_length(delta.touching(features, dictionary), dictionary, objective)


def measured(batch: Batch, codes: Codes, dictionary: Any, method: Method) -> Delta:
    """Return what a coded batch adds, the usage of each atom in units of its length."""
    delta = method.statistics.measure(batch, codes, dictionary, method.objective)
    return _by_length(delta, dictionary, method.objective)


def _by_length(delta: Delta, dictionary: Any, objective: Objective) -> Delta:
    """Return a delta whose absolute codes are multiplied by the lengths of their atoms."""
    return replace(delta, usage=delta.usage * lengths(dictionary, objective.atoms))


def lengths(dictionary: Any, atoms: Any) -> NDArray:
    """Return the length of each atom as its set measures it, (n_components,).

    It is Euclidean, but on a simplex the sum of the entries, which is the same for all atoms: a
    code there says how much of the sum of a sample its atom explains.
    """
    shape = getattr(atoms, "shape", None)
    if shape is not None and shape.total > 0:
        return np.full(dictionary.shape[0], shape.total)
    return np.sqrt(np.maximum(dictionary.gram().diagonal(), 0))


def cross_fit(
    batch: Batch, dictionary: Any, method: Method, accuracy: Accuracy, rng: np.random.Generator
) -> tuple[Codes, Delta, list[Explained]]:
    """Explain each part of the features, drawn anew, by codes found on all others.

    Returns
    -------
    codes : Codes
        The means over the parts.
    delta : Delta
        What the parts add together.
    latest : list of Explained
    """
    order = rng.permutation(dictionary.shape[1])
    n_parts = min(method.updater.folds, len(order))
    parts = [np.sort(part) for part in np.array_split(order, n_parts)]
    latest, deltas = [], []
    for part in parts:
        others = np.setdiff1d(order, part)
        seen, there = batch.on(others), batch.on(part)
        if seen.weights is not None:  # a row unseen on the others has no code to explain it by
            weights = 1.0 if there.weights is None else there.weights
            there = replace(there, weights=np.where(seen.weights > 0, weights, 0.0))
        # The penalty of a code counts as much as the features that it is found on.
        objective = _weaker(method.objective, len(others) / len(order))
        codes = method.coder.encode(seen, dictionary.on(others), objective, accuracy)
        objective = _weaker(method.objective, 1 / n_parts)
        deltas.append(method.statistics.measure(there, codes, dictionary.on(part), objective))
        latest.append(Explained(there, codes, part))
    values = np.mean([item.codes.values for item in latest], axis=0)
    residual = np.max([item.codes.residual for item in latest], axis=0)
    delta = type(deltas[0]).across(parts, deltas, batch.mass)
    return Codes(values, residual), _by_length(delta, dictionary, method.objective), latest


def _weaker(objective: Objective, share: float) -> Objective:
    return replace(objective, codes=weakened(objective.codes, share))


def check_compatible(method: Method) -> None:
    """Refuse a method one of whose parts needs what another does not offer.

    Parts list what they need of the loss and of the sets of codes and atoms (`Needs`).
    """
    if method.missing and not method.coder.handles_mask:
        raise IncompatiblePartsError(
            f"{type(method.coder).__name__} needs complete rows, got missing=True; "
            "choose another coder."
        )
    if method.updater.folds > 1 and not method.objective.loss.robust:
        raise IncompatiblePartsError(
            f"folds={method.updater.folds} needs a robust loss, got {method.objective.loss!r}: "
            "others are infinite where codes predict nothing; choose folds=1."
        )
    for job in ("coder", "statistics", "updater"):
        part = getattr(method, job)
        for role, names in part.needs.items():
            offer = getattr(method.objective, role)
            missing = [name for name in names if not getattr(offer, name, None)]
            if missing:
                kind = "a loss that is" if role == "loss" else f"{role} that are"
                raise IncompatiblePartsError(
                    f"{type(part).__name__} needs {kind} {' and '.join(missing)}, got {offer!r}; "
                    f"choose another {role} part or another {job}."
                )
