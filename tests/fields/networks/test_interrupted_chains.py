"""Chains live through interrupts of compiled calls."""

import signal

import numpy as np
import pytest
from fields.networks.cases.interrupts import NETWORK
from torn import INTERRUPTS, interrupted

from atomstream.samplers import IsingGibbs, RandomWalk

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here"),
    # Within a callback of the garbage collector (hypothesis has one) an interrupt is swallowed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "chain", [IsingGibbs((9, 9), 2.0), RandomWalk(NETWORK)], ids=["ising", "walk"]
)
def test_chains_survive_interrupts_in_compiled_calls(chain):
    rng = np.random.default_rng(0)
    at = chain.init(rng)
    for seconds in rng.uniform(0, 2e-3, INTERRUPTS // 6):

        def run(at=at):
            for _ in range(1000):
                at = chain.run(rng, at, 3)[1]

        interrupted(run, seconds)
