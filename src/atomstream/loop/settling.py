"""Data at hand learned to the end: alternation between all codes and the dictionary."""

import logging
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import are_fixed
from atomstream.coders import Codes
from atomstream.loop.explaining import CodingOptions
from atomstream.loop.online import Algorithm, Progress
from atomstream.memory.state import State
from atomstream.problem import Accuracy, Batch, Clock

log = logging.getLogger(__name__)

MIN_GAIN = 3e-4  # share of the objective that a round gains at least, unless it is the last one
FINE_GAIN = 1e-5  # the same for loadings and for weights of entries: rounds gain little for long
EXACT = 0.03  # share of the first objective: what is below counts as that, for it may end at zero
MAX_ROUNDS = 500  # rounds
NEGLIGIBLE = 1e-6  # of the energy of the data: what is left below that is no reason to warn
UPDATES = 3  # of the dictionary in a round
# Shares of the last step that atoms move on by: the first, its growth, and what stays below one
# that was too long.
FIRST_SHARE, LONGER, LESS = 0.5, 1.05, 0.9
ACCURACY = Accuracy(violation=1e-3, gap=1e-9)  # of codes
# Codes of more atoms than features are not unique. Where there are many, exact ones take ten times
# as long, for nothing.
ROUGH, MANY_ATOMS = Accuracy(violation=0.05, gap=1e-9), 64


def rounds(
    batches: Sequence[Batch],
    state: State,
    algorithm: Algorithm,
    clock: Clock,
    most: int = MAX_ROUNDS,
    gain: float | None = None,
    fast: bool = False,
) -> Iterator[Progress]:
    """Learn from all of the data in every round, until a round gains next to nothing.

    A round finds the codes of all rows, each from its last one, and gives the updater what these
    alone add up to: nothing of earlier codes is left in the memory. So no round raises the
    objective, unlike those of the online loop, and where a round changes nothing the codes and the
    dictionary are stationary. The last round gained little, which is not the same: under
    Kullback-Leibler rounds may creep where data can be fitted exactly.

    Parameters
    ----------
    batches : sequence of Batch
        The data, cut in blocks so that what a block needs stays small.
    state, algorithm, clock
        What changes, and how; the clock stays as it is.
    most : int, default=500
        Rounds at most.
    gain : float, optional
        Share of the objective, by default 3e-4, for loadings and with weights of entries 1e-5: a
        round that gains less is the last one.
    fast : bool, default=False
        Whether codes are rough ones, which go on from those of the last round, so that the end is
        the same, and atoms move on along their last step (`_Ahead`). For squared loss.

    Yields
    ------
    Progress
        After every round, with the last block.
    """
    n_components, n_features = state.dictionary.shape
    if gain is None:
        creeps = algorithm.updater.creeps or any(batch.has_entry_weights for batch in batches)
        gain = FINE_GAIN if creeps else MIN_GAIN
    fast = fast and not algorithm.updater.creeps  # loadings are not moved on along a step of atoms
    redundant = n_components > max(n_features, MANY_ATOMS) and algorithm.objective.loss.quadratic
    accuracy = ROUGH if redundant or fast else ACCURACY
    clock = copy(clock)
    clock.weight = 1.0  # the data are all there is: a radius bounds moves by the weight of a batch
    codes: list[Codes | None] = [None] * len(batches)
    first = before = np.inf
    moves = _Ahead(algorithm) if fast else None
    for number in range(1, most + 1):
        if moves is not None and number > 1:
            moves.move(state.dictionary)
        starts = [None if last is None else last.values for last in codes]
        explained = [
            algorithm.explain(batch, state.dictionary, CodingOptions(accuracy, start=start))
            for batch, start in zip(batches, starts, strict=True)
        ]
        deltas = [delta for _, delta, _ in explained]
        delta = sum(deltas[1:], start=deltas[0])
        now = delta.objective / delta.mass
        if moves is not None and not moves.keep(state.dictionary, now <= before):
            continue
        codes = [found for found, *_ in explained]
        latest = [item for *_, items in explained for item in items]
        # A new memory in each round: all rows were coded anew, so nothing of it is past.
        loss = algorithm.objective.loss
        state.replace_past(algorithm.statistics.start(n_components, n_features, loss), delta)
        # The sums are there, and the codes are what a round takes long for.
        for _ in range(UPDATES):
            algorithm.updater.update(state, algorithm.objective, clock, latest)
        yield Progress(latest[-1].batch, latest[-1].codes, delta, 0)
        # Of the dictionary before these updates: what they gained shows in the next round.
        log.debug("Round %d over all rows: objective %.6g.", number, now)
        first = now if np.isinf(first) else first
        if np.isfinite(before) and before - now <= gain * max(abs(now), EXACT * abs(first)):
            log.info("Settled after %d rounds over all rows: objective %.6g.", number, now)
            return
        before = now


class _Ahead:
    """Atoms moved on along their last step, further as long as that lowers the objective.

    References
    ----------
    Ang, Gillis (2019), "Accelerating nonnegative matrix factorization algorithms using
    extrapolation", Neural Computation 31; here for the atoms alone, and a round that raised the
    objective is made again without it.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self._prox, self._fixed = algorithm.objective.atoms.prox, algorithm.updater.fixed
        self._share, self._most = FIRST_SHARE, 1.0  # of the last step
        self._last: NDArray | None = None
        self._back: NDArray | None = None  # the atoms before a move

    def move(self, dictionary: Any) -> None:
        """Move the atoms on, inside their set."""
        last, here = self._last, dictionary.atoms()
        self._last = here
        if last is not None:
            self._back = here
            moved = self._prox(here + here.dtype.type(self._share) * (here - last), 0.0)
            stays = are_fixed(self._fixed, len(here))
            moved[stays] = here[stays]
            dictionary.assign(moved)

    def keep(self, dictionary: Any, falls: bool) -> bool:
        """Return whether the objective ``falls``; where it does not, put the atoms back."""
        back, self._back = self._back, None
        if falls or back is None:
            self._share = min(LONGER * self._share, self._most)
            return True
        dictionary.assign(back)
        # The step that was too long is not tried again: the next round has no last one.
        self._share, self._most, self._last = self._share / 2, LESS * self._share, None
        return False


def leaves_nothing(batches: Sequence[Batch], loss: Any, objective: float) -> bool:
    """Return whether a mean squared loss is next to nothing beside the mean energy of the data."""
    if not (loss.quadratic and batches):
        return False
    energy = sum(batch.energy @ batch.row_weights for batch in batches)
    return bool(objective <= NEGLIGIBLE * 0.5 * energy / sum(batch.mass for batch in batches))
