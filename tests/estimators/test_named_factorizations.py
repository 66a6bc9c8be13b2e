"""A factorization that others have a name for: semi-NMF."""

import numpy as np

from atomstream import OnlineDictionaryLearning


def semi_nmf(X, start, n_rounds):
    """Return codes and atoms of semi-NMF by the multiplicative updates of its paper.

    Ding, Li, Jordan (2010), "Convex and semi-nonnegative matrix factorizations", eqs. (8), (9).
    """
    H = start.copy()
    for _ in range(n_rounds):
        atoms = np.linalg.pinv(H.T @ H) @ H.T @ X
        cross, gram = X @ atoms.T, atoms @ atoms.T
        up = np.maximum(cross, 0) + H @ np.maximum(-gram, 0)
        down = np.maximum(-cross, 0) + H @ np.maximum(gram, 0)
        H *= np.sqrt(up / np.maximum(down, 1e-300))
    return H, np.linalg.lstsq(H, X)[0]


def test_semi_nmf_is_dictionary_learning_with_nonnegative_codes(seeds, room):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.random((300, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal(
            (300, 12)
        )
        model = OnlineDictionaryLearning(4, alpha=0, codes="nonnegative", random_state=seed).fit(X)
        assert model.components_.min() < 0
        assert model.transform(X).min() >= 0
        ours = np.sum((X - model.inverse_transform(model.transform(X))) ** 2)
        ends = [semi_nmf(X, rng.random((300, 4)) + 0.2, 1500) for _ in range(5)]
        best = min(np.sum((X - H @ atoms) ** 2) for H, atoms in ends)
        room.ratio(ours / best, at_most=1.03)
