"""What holds of every chain: starts, steps, runs, and going on from a saved state."""

import copy
from inspect import isabstract

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from strategies import SAMPLERS

from atomstream import samplers
from atomstream.samplers import Chain, samples

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


@parametrize
def test_a_run_is_that_many_steps(chain):
    state = chain.init(np.random.default_rng(0))
    found, last = chain.run(np.random.default_rng(1), state, 20)
    rng, stepped = np.random.default_rng(1), state
    for sample in found:
        stepped, _ = chain.step(rng, stepped)
        assert_array_equal(np.reshape(sample, stepped.shape), stepped)
    assert_array_equal(last, stepped)
    slow, _ = Chain.run(chain, np.random.default_rng(1), state, 20)
    assert_array_equal(slow.reshape(found.shape), found)


@parametrize
def test_a_thinned_run_is_every_third_state(chain):
    state = chain.init(np.random.default_rng(0))
    every, last = chain.run(np.random.default_rng(1), state, 21)
    third, after = chain.run(np.random.default_rng(1), state, 7, thin=3)
    assert_array_equal(third, every[2::3])
    assert_array_equal(after, last)


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
