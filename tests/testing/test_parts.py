"""Each check passes on every part of the package, and finds each fault with a sentence of its own.

The tests of the roles call the checks on the parts; here are the faults.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from atomstream.losses import Huber, KullbackLeibler, Squared
from atomstream.memory import GramSums
from atomstream.penalties import Free, Nonnegative, Simplex, UnitBall
from atomstream.samplers import Chain
from atomstream.testing import check_loss, check_penalty, check_sampler, check_updater
from atomstream.updates import BlockCoordinate, Majorise, SubgradientStep


def faulty(part, **members):
    """A part of which some members are others: methods, or values of properties."""
    kind = type(part)
    return type(f"Faulty{kind.__name__}", (kind,), members)(**part.get_params())


LOSS_FAULTS = {
    "gradient has the wrong sign, ": {"gradient": lambda self, X, Y: X - Y},
    "gradient is wrong, ": {"gradient": lambda self, X, Y: 2 * (Y - X)},
    r"gradient has shape \(40,\); needed is \(40, 3\)": {
        "gradient": lambda self, X, Y: (Y - X).sum(axis=1)
    },
    r"value has shape \(\); needed is \(40,\)": {"value": lambda self, X, Y: ((X - Y) ** 2).sum()},
    "value returns float32 of float32; sum in float64": {
        "value": lambda self, X, Y: 0.5 * ((X - Y) ** 2).sum(axis=1)
    },
    "value is 1 at the sample; needed: 0": {
        "value": lambda self, X, Y: 1.0 + 0.5 * ((X - Y).astype(float) ** 2).sum(axis=1)
    },
    "value is 0 off the sample; needed: above 0": {
        "value": lambda self, X, Y: np.zeros(len(X)),
    },
    "curvature is no second derivative of value": {
        "curvature": lambda self, X, Y: np.full_like(Y, 2.0)
    },
    "gradient changes by 1 a unit; smoothness is 0.5": {"smoothness": 0.5},
    "the parts of split, plus - minus, are not the gradient": {
        "split": lambda self, X, Y: (2 * Y, X)
    },
    "a part of split is negative": {"split": lambda self, X, Y: (Y - X, 0 * X)},
}


@pytest.mark.parametrize("sentence", LOSS_FAULTS)
def test_a_fault_of_a_loss_is_named(sentence):
    with pytest.raises(AssertionError, match=f"FaultySquared: {sentence}"):
        check_loss(faulty(Squared(), **LOSS_FAULTS[sentence]))


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (faulty(KullbackLeibler(), exponents=(0.3, 0.0)), r"exponents \(0.3, 0.0\) raises it"),
        (
            faulty(KullbackLeibler(), gradient=lambda self, X, Y: np.sign(Y - X) * 0),
            "gradient is wrong",
        ),
        (faulty(Huber(0.7), convex=True, value=lambda self, X, Y: _cut(X, Y)), "gradient is wrong"),
        (Squared, "give an instance, not the class"),
        (object(), "object: defines no gradient"),
    ],
)
def test_other_faults_of_losses_are_named(loss, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_loss(loss)


def _cut(X, Y):
    return np.minimum((X - Y) ** 2, 0.1).sum(axis=1, dtype=float)


def test_exponents_without_a_split_and_a_loss_that_is_not_convex_are_named():
    from atomstream.losses import Entrywise

    @dataclass(frozen=True)
    class Welsch(Entrywise):
        def entries(self, x, y):
            return 1 - np.exp(-((x - y) ** 2))

        def gradient(self, X, Y):
            return 2 * (Y - X) * np.exp(-((X - Y) ** 2))

    @dataclass(frozen=True)
    class Split(Welsch):
        convex: ClassVar[bool] = False
        exponents: ClassVar[tuple] = (2.0, 1.0)

    with pytest.raises(AssertionError, match="lies below one of its tangents; say convex = False"):
        check_loss(Welsch())
    with pytest.raises(AssertionError, match="has exponents and no split; a majoriser needs both"):
        check_loss(Split())


SET_FAULTS = {
    "couples must be one of entries, rows, columns, all, got None": {"couples": None},
    r"prox has shape \(30,\); needed is": {"prox": lambda self, rows, step: rows.sum(axis=1)},
    "prox returns float64 of float32": {
        "prox": lambda self, rows, step: np.maximum(rows.astype(float), 0)
    },
    "prox moves a projection by": {"prox": lambda self, rows, step: np.maximum(rows, 0) / 2},
    "says nonnegative and holds numbers below 0": {"prox": lambda self, rows, step: rows},
    "prox of a row depends on others; see couples": {
        "prox": lambda self, rows, step: rows - rows.mean(axis=0)
    },
    "prox of an entry depends on others of its row": {
        "prox": lambda self, rows, step: rows - rows.mean(axis=1, keepdims=True)
    },
    r"prox of .* is .*, and .* is better": {
        "prox": lambda self, rows, step: np.maximum(np.abs(rows), 0)
    },
    "conjugate is below <v, u> - P.u. at a point": {
        "conjugate": lambda self, rows: np.zeros(len(rows))
    },
    "conjugate is above all values of <v, u> - P.u.": {
        "conjugate": lambda self, rows: np.full(len(rows), 1e3)
    },
    "conjugate has shape": {"conjugate": lambda self, rows: 0.0},
}


@pytest.mark.parametrize("sentence", SET_FAULTS)
def test_a_fault_of_a_set_is_named(sentence):
    part = Free() if "depends on" in sentence else Nonnegative()
    part = Simplex() if sentence.startswith("conj") else part
    with pytest.raises(AssertionError, match=sentence):
        check_penalty(faulty(part, **SET_FAULTS[sentence]))


def test_a_set_that_is_not_convex_has_to_say_so():
    def on_the_sphere(self, rows, step):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    kinds = {"prox": on_the_sphere, "value": lambda self, rows: np.zeros(len(rows))}
    with pytest.raises(AssertionError, match=r"is better|say convex = False"):
        check_penalty(faulty(UnitBall(), **kinds))


def _along_the_gradient(self, state, objective, clock, latest=()):
    memory, atoms = state.memory, state.dictionary.atoms()
    slope = memory.gram @ atoms - np.asarray(memory.cross)
    state.dictionary.assign(objective.atoms.prox(atoms + 0.1 * slope, 0.0))


def _outside(self, state, objective, clock, latest=()):
    state.dictionary.assign(2 + state.dictionary.atoms())


def _writing(self, state, objective, clock, latest=()):
    BlockCoordinate.update(self, state, objective, clock, latest)
    state.memory.gram[0, 0] = 0.0


def _loose(self, state, objective, clock, latest=()):
    BlockCoordinate().update(state, objective, clock, latest)


@dataclass(frozen=True)
class Means(GramSums):
    """Measures means where sums are needed."""

    def measure(self, batch, codes, dictionary, objective):
        delta = super().measure(batch, codes, dictionary, objective)
        return type(delta)(**{**vars(delta), "gram": delta.gram / batch.mass})


UPDATER_FAULTS = {
    r"update raises value, .* to ": {"update": _along_the_gradient},
    "does it step along the gradient": {
        "update": _along_the_gradient,
        "value": lambda self, state, objective: np.nan,
    },
    r"update leaves NonnegativeBall.*; end with objective.atoms.prox": {"update": _outside},
    "memory.gram is written into; put a new array in its place": {"update": _writing},
    "fixed=1 does not keep the first atom": {"update": _loose},
    "the gram of two halves of a batch must add up": {"statistics": Means()},
    r"statistics must be memory.Statistics, such as memory.GramSums\(\), got None": {
        "statistics": None
    },
}


@pytest.mark.parametrize("sentence", UPDATER_FAULTS)
def test_a_fault_of_an_updater_is_named(sentence):
    with pytest.raises(AssertionError, match=f"FaultyBlockCoordinate: .*{sentence}"):
        check_updater(faulty(BlockCoordinate(), **UPDATER_FAULTS[sentence]))


@pytest.mark.parametrize(
    ("updater", "loss"),
    [
        (BlockCoordinate(), None),
        (BlockCoordinate(damping=0.1, n_sweeps=3), None),
        (Majorise(), KullbackLeibler()),
        (Majorise(newton=False), KullbackLeibler()),
        (Majorise(folds=2), Huber(0.5)),
        (SubgradientStep(), Huber(0.5)),
    ],
    ids=repr,
)
def test_the_updaters_of_the_package_are_what_they_say(updater, loss):
    check_updater(updater, loss=loss)


@dataclass(frozen=True)
class Moves(Chain):
    """A walk on 0, 1, 2 with weights 1, 2, 4 by Metropolis steps, right or with a fault."""

    fault: str = ""
    hidden: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def init(self, rng, position=None):
        """Start at 0, or at the position."""
        return np.zeros(1, int) if position is None or self.fault == "lost" else position.copy()

    def step(self, rng, state):
        """Propose a neighbour, and accept it by the ratio of weights."""
        source = self.hidden if self.fault == "hidden" else rng
        new = state if self.fault == "writes" else state.copy()
        place, there = state[0], state[0] + source.choice([-1, 1])
        ratio = 2.0 ** (place - there if self.fault == "upside down" else there - place)
        if 0 <= there <= (3 if self.fault == "leaves" else 2) and source.random() < ratio:
            new[0] = there
        return new, None


LAW = np.arange(3)[:, None], [1.0, 2.0, 4.0]


def test_a_right_chain_passes():
    check_sampler(Moves(), law=LAW)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("hidden", "run and step part from one state and seed; take all chance from rng"),
        ("writes", "run and step part|the state given is written into; copy it"),
        ("leaves", r"a step leads to \[3\], which the law excludes"),
        ("upside down", "a step does not keep the law: .* is a ratio upside down"),
    ],
)
def test_a_fault_of_a_chain_is_named(fault, sentence):
    with pytest.raises(AssertionError, match=f"Moves: {sentence}"):
        check_sampler(Moves(fault), law=LAW)
