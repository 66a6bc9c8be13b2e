"""A golden model of walks: how it was learned, and what it gives."""

from pathlib import Path

from atomstream import RandomWalkFactorization

HERE = Path(__file__).parents[1] / "golden"


def learned(states):
    return RandomWalkFactorization(n_components=2, random_state=0).fit(states)


def walk(model, states):
    names = "left right singular_values embedding stationary".split()  # noqa: SIM905 - readable
    for name in names:
        yield name, getattr(model, f"{name}_")
    yield "n_steps", model.n_steps_
    yield "partition", model.partition(2)
    yield "after_right", model.partial_fit(states).right_


CASES = {"RandomWalkFactorization": (HERE, learned, walk)}
assert len(CASES) == 1
