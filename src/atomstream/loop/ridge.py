"""The strength of the squared penalty on codes where entries are missing, found on hidden ones."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Choice
from atomstream.dictionaries import Dictionary
from atomstream.loop.online import Algorithm
from atomstream.loop.settling import rounds
from atomstream.memory.state import State, Usage
from atomstream.problem import Accuracy, Batch, Clock
from atomstream.schedules import Harmonic

# From strong to weak, for atoms of length one: each goes on from the atoms of the one before.
RIDGES = 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4
N_USUAL = 6  # of these: weaker ones are for data without noise, whose error they halve at least
HIDDEN_SHARE = 0.1  # of the observed entries
ENOUGH_HIDDEN = 5_000  # entries that tell ridges apart; where fewer are hidden, it is done again
MAX_REPEATS = 3
GAIN = 3e-3  # share of the objective below which a round is the last one: the next ridge goes on
AS_GOOD = 1.01  # times the least error: of such ridges the strongest, which few entries ask for
CLEARLY_WORSE = 1.2  # times the least error: weaker ridges are not tried
ACCURACY = Accuracy(violation=1e-4, gap=1e-6)  # of codes that predict

# What makes a starting dictionary of a batch.
Start = Callable[[Batch, np.random.Generator], Dictionary]


def ridge_for(batch: Batch, algorithm: Algorithm, start: Start) -> Choice:
    """Return the ridge whose atoms and codes predict hidden entries of a batch best.

    Atoms are learned from the rows without a tenth of their observed entries, first with a strong
    ridge and then with weaker ones. Near the least error on the hidden entries this is taken for a
    parabola in the logarithm of the ridge.

    Parameters
    ----------
    batch : Batch
        With missing entries.
    algorithm : Algorithm
        What will learn, under the squared loss; its codes take a ridge.
    start : callable
    """
    rng = np.random.default_rng(0)  # a source of its own: nothing else that is drawn changes
    mask: Any = batch.mask
    n_hidden = HIDDEN_SHARE * np.count_nonzero(mask)
    n_repeats = min(max(math.ceil(ENOUGH_HIDDEN / n_hidden), 1), MAX_REPEATS)
    errors = [_hidden_errors(batch, algorithm, start, rng) for _ in range(n_repeats)]
    n_tried = min(map(len, errors))
    total = np.sum([each[:n_tried] for each in errors], axis=0)
    return Choice(_least(total), "it predicts hidden entries best", guessed=True)


def _hidden_errors(
    batch: Batch, algorithm: Algorithm, start: Start, rng: np.random.Generator
) -> list[float]:
    """Return the sum of squared errors on entries hidden at random, for each ridge tried."""
    mask: Any = batch.mask
    hidden = (mask > 0) & (rng.random(mask.shape) < HIDDEN_SHARE)
    seen = replace(batch, mask=np.where(hidden, mask.dtype.type(0), mask))
    dictionary, loss = start(seen, rng), algorithm.objective.loss
    memory = algorithm.statistics.start(*dictionary.shape, loss)
    state, errors = State(dictionary, memory, Usage(dictionary.shape[0])), list[float]()
    for ridge in RIDGES:
        codes = algorithm.objective.codes.with_params(l2=ridge)
        tried = replace(algorithm, objective=replace(algorithm.objective, codes=codes))
        for _ in rounds([seen], state, tried, Clock(Harmonic()), gain=GAIN, fast=True):
            pass
        found = tried.coder.encode(seen, state.dictionary, tried.objective, ACCURACY)
        left = (batch.X - state.dictionary.decode(found.values))[hidden]
        errors.append(float((mask[hidden] * left**2).sum(dtype=np.float64)))
        if len(errors) > 2 and min(errors[-2:]) > CLEARLY_WORSE * min(errors):
            break
    return errors


def _least(errors: NDArray) -> float:
    """Return the ridge of the least error, between those tried by the parabola through three."""
    if errors.min() > errors[:N_USUAL].min() / 2:
        errors = errors[:N_USUAL]
    places, best = np.log(RIDGES[: len(errors)]), int(errors.argmin())
    strongest = int((errors <= AS_GOOD * errors[best]).argmax())
    if strongest < best or not 0 < best < len(errors) - 1:
        return RIDGES[strongest]
    near = slice(best - 1, best + 2)
    bend, slope, _ = np.polyfit(places[near], np.log(errors[near]), 2)
    if bend <= 0:
        return RIDGES[best]
    return float(np.exp(np.clip(-slope / (2 * bend), places[best + 1], places[best - 1])))
