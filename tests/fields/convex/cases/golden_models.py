"""A golden model of atoms made of samples: how it was learned, and what it gives."""

from pathlib import Path

import numpy as np
from golden.outputs import rows

from atomstream import OnlineConvexMF

HERE = Path(__file__).parents[1] / "golden"


def learned(X):
    return OnlineConvexMF(n_components=3, n_representatives=18, batch_size=50, random_state=0).fit(
        X
    )


def convex(model, X):
    yield "weights", model.weights_
    yield "ids", np.concatenate([each.ids for each in model.representatives_])
    yield from rows(model, X)


CASES = {"OnlineConvexMF": (HERE, learned, convex)}
assert len(CASES) == 1
