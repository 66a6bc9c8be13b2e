"""A model whose file `fuzz.py` damages, and what it does after it was loaded."""

from atomstream import RandomWalkFactorization

CASES = {
    "RandomWalkFactorization": (
        lambda: RandomWalkFactorization(2, random_state=0).fit([0, 1, 2, 1, 0, 2] * 9),
        lambda model: (model.embedding_.shape, model.partial_fit([0, 1]).n_steps_ >= 0),
    ),
}
