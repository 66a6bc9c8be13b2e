"""What must hold of losses, sets, updaters and chains: pairs of a truth and what to say without it.

Each function yields them in the order in which a reader would mend the faults: members, shapes,
numbers.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from atomstream.coders import Codes
from atomstream.loop import Algorithm, CodingOptions, absorb
from atomstream.losses import Loss
from atomstream.losses.majorisers import power_step
from atomstream.memory.state import State
from atomstream.penalties import Nonnegative, Penalty
from atomstream.problem import Batch, Clock, Objective
from atomstream.samplers import Chain
from atomstream.updates import Updater

Truths: TypeAlias = Iterator[tuple[Any, str]]

SHIFT = 1e-6  # of finite differences, relative
ROUNDING = 1e-9  # of sums, relative
DIFFERENCE = 1e-5  # of finite differences, relative: rounding is enlarged by one over SHIFT
LONG = 1e6  # a step after which a proximal point is as good as the point of the conjugate
N_DRAWS = 5_000  # from the law of a chain, each followed by one step
MIN_DRAWS = 5  # of a state, for a normal approximation
DEVIATIONS = 5.0  # of chi-square, that count as chance


def is_a(part: object, base: Any) -> Truths:
    """Yield that a part is an instance with the members of its base class."""
    yield not isinstance(part, type), f"give an instance, not the class {part!r}"
    for name in sorted(base.__abstractmethods__):
        yield hasattr(part, name), f"defines no {name}"
    role = ".".join([*base.__module__.split(".")[:2], base.__name__])
    yield isinstance(part, base), f"does not inherit from {role}, which has all other members"


def samples(rng: np.random.Generator, shape: tuple[int, int], domain: str) -> NDArray:
    """Return numbers of a domain over two decades."""
    found = 2.0 * 10 ** rng.uniform(-1, 1, shape)
    if domain == "nonnegative":
        found[rng.random(shape) < 0.3] = 0
    return found * rng.choice([-1, 1], shape) if domain == "real" else found


def of_values(loss: Loss, X: NDArray, Y: NDArray) -> Truths:
    """Yield what must hold of the values of a loss."""
    values = np.asarray(loss.value(X, Y))
    yield values.shape == (len(X),), f"value has shape {values.shape}; needed is {(len(X),)}"
    kind = np.asarray(loss.value(X.astype(np.float32), Y.astype(np.float32))).dtype
    yield kind == np.float64, f"value returns {kind} of float32; sum in float64"
    yield values.min() > 0, f"value is {values.min():.4g} off the sample; needed: above 0"
    # Next to zeros, which are no reconstruction where that must be positive.
    least = loss.value(X, np.where(X == 0, 1e-300, X))
    good = (least <= 1e-12 * np.maximum(1, (X**2).sum(axis=1))).all()
    yield good, f"value is {least.max():.4g} at the sample; needed: 0"


def of_slopes(loss: Loss, X: NDArray, Y: NDArray, Z: NDArray) -> Truths:
    """Yield what must hold of gradient, curvature, smoothness and tangents of a loss."""
    slopes, values, shift = np.asarray(loss.gradient(X, Y)), loss.value(X, Y), SHIFT * np.abs(Y)
    yield slopes.shape == Y.shape, f"gradient has shape {slopes.shape}; needed is {Y.shape}"
    moves = [np.where(np.arange(Y.shape[1]) == f, shift, 0) for f in range(Y.shape[1])]
    rises = [loss.value(X, Y + move) - loss.value(X, Y - move) for move in moves]
    found = np.stack(rises, axis=1) / (2 * shift)
    room = DIFFERENCE * (np.abs(found) + values[:, None] / np.abs(Y))
    fault = "has the wrong sign" if (np.abs(slopes + found) <= room).all() else "is wrong"
    at = np.unravel_index((np.abs(slopes - found) / room).argmax(), Y.shape)
    where = f"{slopes[at]:.6g} at x = {X[at[0]]}, y = {Y[at[0]]}, entry {at[1]}"
    good = (np.abs(slopes - found) <= room).all()
    yield good, f"gradient {fault}, {where}; value changes by {found[at]:.6g} a unit"
    if not loss.has_kinks:
        after, before = loss.gradient(X, Y + shift) - slopes, slopes - loss.gradient(X, Y - shift)
        found, room = (after + before) / (2 * shift), np.abs(slopes / Y) + np.abs(after / shift)
        # At a threshold it jumps: what lies left and right of one is not compared.
        off = np.abs(np.asarray(loss.curvature(X, Y)) - found) > DIFFERENCE * (room + 1)
        smooth = np.abs(after - before) <= 1e-4 * shift * (room + 1)
        yield not (off & smooth).any(), "curvature is no second derivative of value"
    if loss.smoothness is not None:
        change = np.linalg.norm(slopes - loss.gradient(X, Z), axis=1)
        steepest = (change / np.linalg.norm(Y - Z, axis=1)).max()
        good = steepest <= loss.smoothness * (1 + ROUNDING)
        yield good, f"gradient changes by {steepest:.6g} a unit; smoothness is {loss.smoothness}"
    if loss.convex:
        Y = np.where((np.arange(len(Y)) % 8 == 0)[:, None] & (X > 0), X, Y)  # some have kinks there
        own, other, line = loss.value(X, Y), loss.value(X, Z), loss.gradient(X, Y) * (Z - Y)
        room = ROUNDING * (own + other + np.abs(line).sum(axis=1))
        good = (other - own - line.sum(axis=1) >= -room).all()
        yield good, "lies below one of its tangents; say convex = False"


def of_split(loss: Loss, X: NDArray, rng: np.random.Generator) -> Truths:
    """Yield what must hold of the majoriser of a loss."""
    exponents: Any = loss.exponents
    yield type(loss).split is not Loss.split, "has exponents and no split; a majoriser needs both"
    codes, atoms = rng.random((len(X), 4)) + 0.01, rng.random((4, X.shape[1])) + 0.01
    for number in range(20):
        Y = codes @ atoms
        plus, minus = (np.broadcast_to(part, Y.shape) for part in loss.split(X, Y))
        yield min(plus.min(), minus.min()) >= 0, "a part of split is negative"
        # Later, where almost nothing is left, parts may be floored.
        off = np.abs(plus - minus - loss.gradient(X, Y)) <= ROUNDING * (plus + minus) + 1e-12
        yield number or off.all(), "the parts of split, plus - minus, are not the gradient"
        codes = power_step(codes, plus @ atoms.T, minus @ atoms.T, exponents, Nonnegative())
        before, after = loss.value(X, Y), loss.value(X, codes @ atoms)
        good = (after <= before * (1 + ROUNDING) + ROUNDING).all()
        yield good, f"a step with split and exponents {exponents} raises it"


def of_projection(penalty: Penalty, X: NDArray) -> Truths:
    """Yield what must hold of a set and of its projection."""
    kinds, couples = ("entries", "rows", "columns", "all"), getattr(penalty, "couples", None)
    yield couples in kinds, f"couples must be one of {', '.join(kinds)}, got {couples!r}"
    inside, point = np.asarray(penalty.prox(X, 0.0)), penalty.prox(X, 0.7)
    yield inside.shape == X.shape, f"prox has shape {inside.shape}; needed is {X.shape}"
    kind = penalty.prox(X.astype(np.float32), 0.5).dtype
    yield kind == np.float32, f"prox returns {kind} of float32; keep the type of the rows"
    moved = np.abs(penalty.prox(inside, 0.0) - inside).max()
    yield moved <= ROUNDING * (1 + np.abs(inside).max()), f"prox moves a projection by {moved:.4g}"
    yield not penalty.nonnegative or inside.min() >= 0, "says nonnegative and holds numbers below 0"
    yield np.isfinite(penalty.value(inside)).all(), "value is infinite at a projection"
    scaled = penalty.normalize(np.abs(X))
    yield np.isfinite(penalty.value(scaled)).all(), "normalize leaves the set"
    if penalty.rowwise:
        alone = np.concatenate([penalty.prox(row[None], 0.7) for row in X])
        good = np.allclose(alone, point, atol=ROUNDING)
        yield good, "prox of a row depends on others; see couples"
    if couples == "entries":
        alone = np.column_stack([penalty.prox(column[:, None], 0.7) for column in X.T])
        good = np.allclose(alone, point, atol=ROUNDING)
        yield good, "prox of an entry depends on others of its row"


def of_prox(penalty: Penalty, X: NDArray, step: float, inside: list[NDArray]) -> Truths:
    """Yield that no other point is better than the proximal one."""

    def objective(rows: NDArray) -> NDArray:
        return 0.5 * ((rows - X) ** 2).sum(axis=1) + step * penalty.value(rows)

    best = penalty.prox(X, step)
    own = objective(best)
    # Towards a point of a convex set the objective may only rise, at once and further on.
    for share in (1.0, 0.1, 0.01) if penalty.convex else (1.0,):
        for rows in inside:
            other = best + share * (rows - best)
            loss = own - objective(other) - ROUNDING * (1 + np.abs(own))
            i = loss.argmax()
            point = f"prox of {X[i]} with step {step} is {best[i]}"
            yield loss[i] <= 0, f"{point}, and {other[i]} is better"
    if penalty.convex and penalty.rowwise:
        spread, apart = (np.linalg.norm(np.diff(rows, axis=0), axis=1) for rows in (best, X))
        yield (spread <= apart + ROUNDING).all(), "prox spreads two points; say convex = False"


def of_conjugate(penalty: Penalty, X: NDArray, inside: list[NDArray]) -> Truths:
    """Yield that the conjugate is the largest value of what it is defined by."""
    bound = np.asarray(penalty.conjugate(X))
    yield bound.shape == (len(X),), f"conjugate has shape {bound.shape}; needed is {(len(X),)}"
    for rows in inside:
        reached = (X * rows).sum(axis=1) - penalty.value(rows)
        good = (reached <= bound + ROUNDING * (1 + np.abs(reached))).all()
        yield good, "conjugate is below <v, u> - P(u) at a point u of the set"
    if penalty.convex:
        best = penalty.prox(LONG * X, LONG)
        reached = (X * best).sum(axis=1) - penalty.value(best)
        high = np.isfinite(bound) & (bound > reached + 1e-5 * (1 + np.abs(reached)))
        yield not high.any(), "conjugate is above all values of <v, u> - P(u)"


def of_step(
    batch: Batch, algorithm: Algorithm, state: State, clock: Clock, rng: np.random.Generator
) -> Truths:
    """Yield what must hold of one step of an updater, which it makes."""
    updater, objective, before = algorithm.updater, algorithm.objective, state.snapshot()
    how = CodingOptions(clock.tolerance, rng)
    codes, delta, latest = algorithm.explain(batch, state.dictionary, how)

    def measured(rows: slice) -> Any:
        part = Codes(codes.values[rows], codes.residual[rows])
        return updater.statistics.measure(Batch(batch.X[rows]), part, state.dictionary, objective)

    whole, halves = measured(slice(None)), measured(slice(7)) + measured(slice(7, None))
    for name in (field.name for field in fields(whole)):
        one, two = (np.asarray(getattr(part, name)) for part in (whole, halves))
        good = one.dtype == object or np.allclose(one, two, rtol=ROUNDING, atol=ROUNDING)
        yield good, f"the {name} of two halves of a batch must add up to that of the whole"
    past, copies = before.memory, _copies(before.memory)
    absorb(delta, state, clock)
    value, twin, memory = _value(updater, state, objective), state.snapshot(), state.memory
    held = _copies(memory)
    updater.update(twin, objective, clock)  # without codes no update may raise what it minimises
    for mine, kept in ((past, copies), (memory, held)):
        for name, array in kept.items():
            same = np.array_equal(vars(mine)[name], array)
            yield same, f"memory.{name} is written into; put a new array in its place"
    after = _value(updater, twin, objective)
    # Outside of the set it is infinite, which the last sentence says.
    good = not value + ROUNDING * abs(value) < after < np.inf
    yield good, f"update raises value, {value} to {after}"
    updater.update(state, objective, clock, latest)
    inside = np.isfinite(objective.atoms.value(state.dictionary.atoms())).all()
    yield inside, f"update leaves {objective.atoms!r}; end with objective.atoms.prox"


def _copies(memory: object) -> dict[str, NDArray]:
    arrays = {name: value for name, value in vars(memory).items() if isinstance(value, np.ndarray)}
    return {name: value.copy() for name, value in arrays.items()}


def _value(updater: Updater, state: State, objective: Objective) -> float:
    try:
        return updater.value(state, objective)
    except TypeError:  # a memory without a surrogate
        return np.nan


def of_runs(chain: Chain[Any], seed: int) -> Truths:
    """Yield what must hold of the runs of a chain."""
    state, rng = chain.init(np.random.default_rng(seed)), np.random.default_rng(seed)
    yield isinstance(state, np.ndarray), f"init must return an array, got {state!r:.80}"
    again = chain.init(np.random.default_rng(seed), state)
    yield np.array_equal(again, state), "init does not return the position that it is given"
    kept, stepped = state.copy(), state
    found, last = chain.run(np.random.default_rng(seed), state, 21)
    third, end = chain.run(np.random.default_rng(seed), state, 7, 3)
    for sample in found:
        stepped = chain.step(rng, stepped)[0]
        same = np.array_equal(np.reshape(sample, np.shape(stepped)), stepped)
        yield same, "run and step part from one state and seed; take all chance from rng"
        yield np.array_equal(state, kept), "the state given is written into; copy it"
    good = np.array_equal(last, stepped) and np.array_equal(end, last)
    yield good and np.array_equal(third, found[2::3]), "run returns other states with thin=3"


def of_law(chain: Chain[Any], states: NDArray, law: NDArray, rng: np.random.Generator) -> Truths:
    """Yield that one step from the law of a chain leads to the law."""
    places = {state.tobytes(): place for place, state in enumerate(states)}
    counts = np.zeros(len(states))
    for start in states[rng.choice(len(states), N_DRAWS, p=law)]:
        after = np.asarray(chain.step(rng, start)[0], states.dtype)
        yield after.tobytes() in places, f"a step leads to {after}, which the law excludes"
        counts[places[after.tobytes()]] += 1
    often = N_DRAWS * law > MIN_DRAWS
    wanted = np.append(N_DRAWS * law[often], N_DRAWS * law[~often].sum())
    counts = np.append(counts[often], counts[~often].sum())
    off, freedom = (counts - wanted) ** 2 / np.maximum(wanted, 1), max(len(wanted) - 1, 1)
    at = off.argmax()
    numbers = f"{counts[at]:.0f} of {N_DRAWS} steps lead where {wanted[at]:.0f} do"
    good = off.sum() <= freedom + DEVIATIONS * np.sqrt(2 * freedom)
    yield good, f"a step does not keep the law: {numbers} by it; is a ratio upside down"
