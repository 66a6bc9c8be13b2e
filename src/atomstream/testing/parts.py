"""Checks of losses, sets, updaters and chains: they raise the first sentence that does not hold."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from atomstream.base import ArrayLike
from atomstream.coders import Auto
from atomstream.dictionaries.rows import Rows
from atomstream.loop import Algorithm, check_compatible, explainer_for
from atomstream.losses import Loss, Squared
from atomstream.memory import Statistics, Usage
from atomstream.memory.state import State
from atomstream.penalties import Penalty
from atomstream.problem import Accuracy, Batch, Clock, Objective
from atomstream.samplers import Chain
from atomstream.schedules import Harmonic
from atomstream.testing import truths
from atomstream.updates import Updater


def check_loss(loss: Loss, *, n_features: int = 3, seed: int = 0) -> None:
    """Check that a loss is what its members say.

    ``value`` must be 0 where the reconstruction is the sample and above 0 elsewhere; ``gradient``
    and ``curvature`` must be the finite differences of ``value`` and ``gradient``; ``smoothness``
    must bound the slopes; a loss that says it is ``convex`` must lie above its tangents; the parts
    of ``split`` must not be negative and make up the gradient, and steps with them and
    ``exponents`` must not raise the loss.

    Parameters
    ----------
    loss : Loss
    n_features : int, default=3
        Of the samples: what a loss with a metric of its own is made for.
    seed : int, default=0
        Of the samples, which cover two decades of the domain that ``data`` and ``reconstruction``
        name.

    Raises
    ------
    AssertionError
        With one sentence on the first thing that does not hold.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from atomstream.losses import Entrywise
    >>> from atomstream.testing import check_loss
    >>> @dataclass(frozen=True)
    ... class Quartic(Entrywise):
    ...     def entries(self, x, y):
    ...         return (x - y) ** 4
    ...
    ...     def gradient(self, X, Y):
    ...         return 4 * (X - Y) ** 3
    >>> check_loss(Quartic())
    Traceback (most recent call last):
    AssertionError: Quartic: gradient has the wrong sign, ...
    """
    _ensure(loss, truths.is_a(loss, Loss))
    rng, shape = np.random.default_rng(seed), (40, n_features)
    X, Y, Z = (truths.samples(rng, shape, name) for name in (loss.data, *2 * [loss.reconstruction]))
    _ensure(loss, truths.of_values(loss, X, Y))
    _ensure(loss, truths.of_slopes(loss, X, Y, Z))
    if loss.exponents is not None:
        _ensure(loss, truths.of_split(loss, np.abs(X) + truths.SHIFT, rng))


def check_penalty(penalty: Penalty, *, n_features: int = 4, seed: int = 0) -> None:
    """Check that a set, or a penalty on one, is what its members say.

    The projection must land in the set and stay; no other point may be better than the proximal
    one; sets that say they are ``convex`` must not spread two points; entries and rows that
    ``couples`` leaves apart must not depend on each other; ``conjugate`` must be the largest value
    of what it is defined by, where it is finite.

    Parameters
    ----------
    penalty : Penalty
    n_features : int, default=4
        Length of the rows.
    seed : int, default=0
        Of the rows.

    Raises
    ------
    AssertionError
        With one sentence on the first thing that does not hold.

    Examples
    --------
    >>> from atomstream.penalties import Simplex
    >>> from atomstream.testing import check_penalty
    >>> check_penalty(Simplex(total=2.0))
    """
    _ensure(penalty, truths.is_a(penalty, Penalty))
    rng = np.random.default_rng(seed)
    X, *others = (size * rng.standard_normal((30, n_features)) for size in (2.0, 0.3, 2.0, 8.0))
    X[::2] *= 0.1  # inside of many sets, where some projections are wrong
    _ensure(penalty, truths.of_projection(penalty, X))
    inside = [penalty.prox(rows, 0.0) for rows in (X, *others)]
    for step in (0.0, 0.7, 3.0):
        _ensure(penalty, truths.of_prox(penalty, X, step, inside))
    _ensure(penalty, truths.of_conjugate(penalty, X, inside))


def check_updater(updater: Updater, *, loss: Loss | None = None, seed: int = 0) -> None:
    """Check that an updater learns, from 400 rows of four planted atoms.

    It must name its ``statistics``. What two halves of a batch measure must add up to what the
    whole measures. An update must leave the atoms in their set and the old arrays of the memory as
    they are, keep the atoms that its field ``fixed`` names, and never raise its ``value``, where
    the memory has a surrogate. After one pass the rows must be explained better than before.

    Parameters
    ----------
    updater : Updater
        Of dictionaries of rows.
    loss : Loss, optional
        What it learns under; by default `atomstream.losses.Squared`.
    seed : int, default=0
        Of rows and starting atoms.

    Raises
    ------
    AssertionError
        With one sentence on the first thing that does not hold.
    IncompatiblePartsError
        Where its ``needs`` refuse the loss or the sets.

    Examples
    --------
    >>> from atomstream.testing import check_updater
    >>> from atomstream.updates import BlockCoordinate
    >>> check_updater(BlockCoordinate())
    """
    named: Any = getattr(updater, "statistics", None)
    sentence = f"statistics must be memory.Statistics, such as memory.GramSums(), got {named!r}"
    _ensure(updater, [*truths.is_a(updater, Updater), (isinstance(named, Statistics), sentence)])
    rng, loss = np.random.default_rng(seed), loss or Squared()
    X = rng.exponential(size=(400, 4)) @ rng.random((4, 12)) + 0.1
    objective = Objective(loss, *updater.sets(loss))
    coder = updater.coder or Auto().chosen(loss, objective.codes)
    how = Accuracy(1e-4, truths.ROUNDING)
    algorithm = Algorithm(objective, coder, updater, explainer=explainer_for(updater, objective))
    check_compatible(algorithm)
    atoms, clock = objective.atoms.normalize(rng.random((4, 12))), Clock(Harmonic(), 1e-3)
    state, mean, batch = State(Rows(atoms), named.start(4, 12, loss), Usage(4)), [], Batch(X)
    for first in range(-20, len(X), 20):
        if first >= 0:
            part = Batch(X[first : first + 20])
            _ensure(updater, truths.of_step(part, algorithm, state, clock, rng))
        if first in (-20, len(X) - 20):
            codes = coder.encode(batch, state.dictionary, objective, how).values
            mean.append(objective.values(batch, codes, state.dictionary).mean())
    rise = f"one pass raises the mean objective from {mean[0]:.6g} to {mean[1]:.6g}"
    _ensure(updater, [(mean[1] < mean[0], f"{rise}; does it step along the gradient?")])
    if hasattr(updater, "with_params") and "fixed" in updater.get_params():
        held = replace(algorithm, updater=updater.with_params(fixed=1))
        state = State(Rows(atoms), named.start(4, 12, loss), Usage(4))
        held.step(Batch(X), state, Clock(Harmonic()), rng)
        stays = np.array_equal(state.dictionary.atoms()[0], atoms[0])
        _ensure(updater, [(stays, "fixed=1 does not keep the first atom")])


def check_sampler(
    chain: Chain[Any], *, law: tuple[ArrayLike, ArrayLike] | None = None, seed: int = 0
) -> None:
    """Check that a chain runs as it steps, goes on from any state, and keeps its law.

    Everything that moves it must be its state and the generator given: `run` makes the steps of
    `step`, and a state that was saved goes on. A state given is never written into. With a law,
    states drawn from it and moved by one step must have that law again, which no chain does whose
    acceptance is upside down.

    Parameters
    ----------
    chain : Chain
    law : (array-like of shape (n_states, ...), array-like of shape (n_states,)), optional
        All states of a small space and their weights, such as
        `atomstream.samplers.homomorphisms` returns.
    seed : int, default=0

    Raises
    ------
    AssertionError
        With one sentence on the first thing that does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream.samplers import MotifGlauber, homomorphisms
    >>> from atomstream.testing import check_sampler
    >>> network = np.ones((4, 4)) - np.eye(4)
    >>> check_sampler(MotifGlauber(network, "path:3"), law=homomorphisms(network, "path:3"))
    """
    _ensure(chain, truths.is_a(chain, Chain))
    _ensure(chain, truths.of_runs(chain, seed))
    if law is not None:
        states, weights = map(np.asarray, law)
        rng = np.random.default_rng(seed)
        _ensure(chain, truths.of_law(chain, states, weights / weights.sum(), rng))


def _ensure(part: object, found: Iterable[tuple[Any, str]]) -> None:
    for holds, sentence in found:
        if not holds:
            raise AssertionError(f"{type(part).__name__}: {sentence}.")
