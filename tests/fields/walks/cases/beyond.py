"""Settings of walks that need a number."""

from atomstream import RandomWalkFactorization

CASES = {
    "n_states": lambda value: RandomWalkFactorization(2, n_states=value).fit([0, 1]),
    "tau": lambda value: RandomWalkFactorization(2, tau=value).fit([0, 1]),
    "step": lambda value: RandomWalkFactorization(2, step=value).fit([0, 1]),
}
