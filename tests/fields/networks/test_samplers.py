"""What holds of every chain: starts, steps, runs, and going on from a saved state."""

import copy
import itertools
from inspect import isabstract

import numpy as np
import pytest
from fields.networks.chains import NETWORK, SAMPLERS
from numpy.testing import assert_array_equal

from atomstream import samplers
from atomstream.samplers import (
    Chain,
    IsingGibbs,
    MotifGlauber,
    MotifPivot,
    RandomWalk,
    homomorphisms,
    samples,
)
from atomstream.testing import check_sampler

parametrize = pytest.mark.parametrize("chain", SAMPLERS, ids=lambda chain: type(chain).__name__)


def test_every_sampler_is_in_the_list():
    public = {getattr(samplers, name) for name in samplers.__all__}
    chains = {
        part
        for part in public
        if isinstance(part, type) and issubclass(part, Chain) and not isabstract(part)
    }
    assert {type(part) for part in SAMPLERS} == chains
    assert len(SAMPLERS) == 4


ISING = IsingGibbs((2, 2), temperature=2.0, field=0.3)
SPINS = np.array([*itertools.product([-1, 1], repeat=4)], np.int8).reshape(-1, 2, 2)
LAWS = [
    (ISING, (SPINS, np.exp(-ISING.energy(SPINS) / ISING.temperature))),
    (MotifPivot(NETWORK, "path:3"), homomorphisms(NETWORK, "path:3")),
    (MotifGlauber(NETWORK, "path:3"), homomorphisms(NETWORK, "path:3")),
    (RandomWalk(NETWORK), (np.arange(5)[:, None], NETWORK.sum(axis=1))),
]


@parametrize
def test_every_chain_runs_as_it_steps(chain):
    check_sampler(chain)


@pytest.mark.parametrize(("chain", "law"), LAWS, ids=lambda part: type(part).__name__)
def test_a_step_keeps_the_law(chain, law):
    check_sampler(chain, law=law)


@parametrize
def test_all_at_once_is_one_by_one(chain):
    state = chain.init(np.random.default_rng(0))
    found, _ = chain.run(np.random.default_rng(1), state, 20)
    slow, _ = Chain.run(chain, np.random.default_rng(1), state, 20)
    assert_array_equal(slow.reshape(found.shape), found)


@parametrize
def test_the_state_given_stays_and_a_saved_one_goes_on(chain):
    rng = np.random.default_rng(0)
    state = chain.init(rng)
    kept = state.copy()
    stream = samples(chain, rng, state, 5)
    next(stream)
    _, saved = next(stream)
    assert_array_equal(state, kept)
    again = copy.deepcopy(rng)
    expected, _ = next(stream)
    resumed, _ = next(samples(chain, again, chain.init(again, saved), 5))
    assert_array_equal(resumed, expected)


@parametrize
def test_positions_of_another_shape_are_refused(chain):
    with pytest.raises(ValueError, match="position"):
        chain.init(np.random.default_rng(0), np.ones(7))
