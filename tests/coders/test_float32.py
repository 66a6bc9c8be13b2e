"""Learning in float32 ends where learning in float64 does, also where rows are explained well."""

import numpy as np
import pytest

from atomstream import OnlineNMF

PROBLEMS = {(600, 30, 6): 0, (600, 60, 6): 9, (300, 200, 5): 7}  # rows, features, atoms; seeds


def data(n, d, r, seed):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, r)) * (rng.random((n, r)) < 0.4)
    atoms = rng.random((r, d)) * (rng.random((r, d)) < 0.5)
    return codes @ atoms + 0.01 * rng.random((n, d))


@pytest.mark.parametrize("shape", PROBLEMS)
def test_float32_learns_as_well_as_float64(shape, room):
    X, r = data(*shape, PROBLEMS[shape]), shape[2]
    objectives = []
    for dtype in (np.float64, np.float32):
        settings = {"random_state": 0, "n_epochs": 3, "batch_size": 64}
        atoms = OnlineNMF(r, **settings).fit(X.astype(dtype)).components_
        judge = OnlineNMF.from_components(atoms.astype(np.float64))
        objectives.append(judge.objective(X))
    room.ratio(objectives[1] / objectives[0], at_most=1.02)
