"""Archetypes are convex factorization by another name."""

import numpy as np
from numpy.testing import assert_allclose

from atomstream import OnlineConvexMF


def test_archetypes_are_convex_factorization_with_codes_on_the_simplex(seeds, room):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        corners = rng.uniform(0, 10, (3, 6))
        X = rng.dirichlet([0.4] * 3, 1000) @ corners + 0.05 * rng.standard_normal((1000, 6))
        model = OnlineConvexMF(3, codes="simplex", alpha=0, random_state=seed).fit(X)
        codes = model.transform(X)
        assert codes.min() >= 0
        assert_allclose(codes.sum(axis=1), 1, rtol=1e-6)
        assert_allclose(model.weights_.sum(axis=1), 1, rtol=1e-6)
        assert model.weights_.min() >= 0
        apart = np.linalg.norm(corners[:, None] - model.components_, axis=2).min(axis=1)
        sides = np.linalg.norm(corners[:, None] - corners, axis=2)[np.triu_indices(3, 1)]
        room.error(apart.max() / sides.mean(), at_most=0.15)
