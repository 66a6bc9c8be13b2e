"""Batches explained by a fixed dictionary: their codes, and what these add to the memory.

Most batches are explained as a whole. Two roads lead around that, and an estimator takes them where
the loss and the updater ask for them: features without entries merged into one, and codes that have
not seen the features that they explain. The step knows neither.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.dictionaries.rows import Rows
from atomstream.memory.base import Delta
from atomstream.penalties.base import weakened
from atomstream.problem import Accuracy, Batch, Objective
from atomstream.updates.base import CodedBatch, Updater

MIN_FEATURES_PER_ATOM = 4  # codes found on fewer than twice as many features mean little


@dataclass(frozen=True)
class CodingOptions:
    """How a batch is to be coded.

    Attributes
    ----------
    accuracy : Accuracy
    rng : Generator, optional
        For ways that draw; without one they code each batch as a whole.
    start : ndarray of shape (n_samples, n_components), optional
        Codes to begin from.
    """

    accuracy: Accuracy
    rng: np.random.Generator | None = None
    start: NDArray | None = None


# Codes, what the batch adds, and what the updater is shown.
Explanation: TypeAlias = tuple[Codes, Delta, list[CodedBatch]]


class Explainer(ABC):
    """A way to code a batch and to measure what it adds."""

    @abstractmethod
    def explain(
        self, batch: Batch, dictionary: Any, algorithm: Any, how: CodingOptions
    ) -> Explanation:
        """Explain a batch by a dictionary, which stays as it is, with the parts of an algorithm."""


@dataclass(frozen=True)
class Whole(Explainer):
    """Codes found on all features, which all of them explain."""

    def explain(
        self, batch: Batch, dictionary: Any, algorithm: Any, how: CodingOptions
    ) -> Explanation:
        """Code the batch, from ``start`` on, and measure what it adds."""
        codes = algorithm.coder.encode(
            batch, dictionary, algorithm.objective, how.accuracy, how.start
        )
        return codes, measured(batch, codes, dictionary, algorithm), [CodedBatch(batch, codes)]


@dataclass(frozen=True)
class MergedFeatures(Explainer):
    """Features in which no sample has an entry count as one, where the others are few.

    Such a feature costs a constant times its reconstruction (`Statistics.merges`), so of all of
    them the sum of the atoms is enough. The loss stays what it is, and the work goes by the
    features with entries.
    """

    def explain(
        self, batch: Batch, dictionary: Any, algorithm: Any, how: CodingOptions
    ) -> Explanation:
        """Code the batch on the features with entries and one more, and measure what it adds."""
        features, objective = batch.touched, algorithm.objective
        if features is None:
            return Whole().explain(batch, dictionary, algorithm, how)
        merged, atoms = batch.merged(features), merged_atoms(dictionary, features)
        codes = algorithm.coder.encode(merged, atoms, objective, how.accuracy, how.start)
        return codes, measured(batch, codes, dictionary, algorithm), [CodedBatch(batch, codes)]


@dataclass(frozen=True)
class CrossFitted(Explainer):
    """Each part of the features is explained by codes found on all others; see `cross_fit`.

    Attributes
    ----------
    narrow : Explainer
        For data of too few features.
    """

    narrow: Explainer = field(default_factory=Whole)

    def explain(
        self, batch: Batch, dictionary: Any, algorithm: Any, how: CodingOptions
    ) -> Explanation:
        """Code the batch once for each part, and add up what the parts measure."""
        n_components, n_features = dictionary.shape
        if how.rng is None or n_features < MIN_FEATURES_PER_ATOM * n_components:
            return self.narrow.explain(batch, dictionary, algorithm, how)
        return cross_fit(batch, dictionary, algorithm, how.accuracy, how.rng)


def explainer_for(updater: Updater, objective: Objective) -> Explainer:
    """Return how batches are explained for an updater and what it minimises."""
    whole = MergedFeatures() if updater.statistics.merges(objective) else Whole()
    return CrossFitted(whole) if updater.folds > 1 else whole


def cross_fit(
    batch: Batch, dictionary: Any, algorithm: Any, accuracy: Accuracy, rng: np.random.Generator
) -> tuple[Codes, Delta, list[CodedBatch]]:
    """Explain each part of the features, drawn anew, by codes found on all others.

    Returns
    -------
    codes : Codes
        The means over the parts.
    delta : Delta
        What the parts add together.
    latest : list of CodedBatch
    """
    order = rng.permutation(dictionary.shape[1])
    # No part without a feature.
    n_parts = min(algorithm.updater.folds, len(order))
    parts = [np.sort(part) for part in np.array_split(order, n_parts)]
    latest, deltas = [], []
    for part in parts:
        others = np.setdiff1d(order, part)
        seen, there = batch.on(others), batch.on(part)
        if seen.weights is not None:  # a row unseen on the others has no code to explain it by
            weights = 1.0 if there.weights is None else there.weights
            there = replace(there, weights=np.where(seen.weights > 0, weights, 0.0))
        # The penalty of a code counts as much as the features that it is found on.
        objective = _weaker(algorithm.objective, len(others) / len(order))
        codes = algorithm.coder.encode(seen, dictionary.on(others), objective, accuracy)
        # Each part measures its share of the penalty, so that together they hold it once.
        objective = _weaker(algorithm.objective, 1 / n_parts)
        deltas.append(algorithm.statistics.measure(there, codes, dictionary.on(part), objective))
        latest.append(CodedBatch(there, codes, part))
    values = np.mean([item.codes.values for item in latest], axis=0)
    # A row is as exact as the worst of its codes.
    residual = np.max([item.codes.residual for item in latest], axis=0)
    delta = type(deltas[0]).across(parts, deltas, batch.mass)
    return Codes(values, residual), _by_length(delta, dictionary, algorithm.objective), latest


def _weaker(objective: Objective, share: float) -> Objective:
    return replace(objective, codes=weakened(objective.codes, share))


def merged_atoms(dictionary: Any, features: NDArray) -> Rows:
    """Return the atoms on these features, and the sums of all others as one more."""
    part = dictionary.on(features).atoms()
    # In float64: a small difference of two large sums.
    rest = dictionary.totals() - part.sum(axis=1, dtype=np.float64)
    # Rounding may leave the sum of nonnegative entries below zero.
    return Rows(np.column_stack([part, np.maximum(rest, 0).astype(part.dtype)]))


def measured(batch: Batch, codes: Codes, dictionary: Any, algorithm: Any) -> Delta:
    """Return what a coded batch adds, the usage of each atom in units of its length."""
    statistics, objective = algorithm.statistics, algorithm.objective
    features = batch.touched if statistics.merges(objective) else None
    if features is None:
        delta = statistics.measure(batch, codes, dictionary, objective)
    else:
        few = batch.merged(features), codes, merged_atoms(dictionary, features), objective
        delta = statistics.measure(*few).touching(features, dictionary)
    return _by_length(delta, dictionary, objective)


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
    # Rounding may leave the squared length of a tiny atom below zero.
    return np.sqrt(np.maximum(dictionary.gram().diagonal(), 0))
