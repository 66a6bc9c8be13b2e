"""Shrinkage against a simulation of its own law, and against the posterior worked out by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gamma

from atomstream.fields.networks.reconstruction import Shrinkage

BASE, STRENGTH, SCALE = 0.3, 4.0, 0.1


def simulated(n_pairs=4000, seed=0):
    """Return rates of pairs, and means, numbers and the sum of squares of proposals for them."""
    rng = np.random.default_rng(seed)
    # k proposals of mean m before all others: a gamma law of shape k m / c and scale c / k.
    rates = rng.gamma(STRENGTH * BASE / SCALE, SCALE / STRENGTH, n_pairs)
    visits = rng.integers(1, 30, n_pairs)
    proposals = [
        SCALE * rng.poisson(rate / SCALE, n) for rate, n in zip(rates, visits, strict=True)
    ]
    means = np.array([values.mean() for values in proposals])
    return rates, means, visits.astype(float), sum(np.square(values).sum() for values in proposals)


def test_the_law_is_found_from_its_proposals(room):
    _, means, visits, squares = simulated()
    law = Shrinkage.of(means, visits, squares)
    room.near([law.base, law.strength, law.scale], [BASE, STRENGTH, SCALE], rel=0.1)


def test_scores_are_the_best_and_intervals_hold_what_they_say(room):
    rates, means, visits, squares = simulated()
    found = Shrinkage.of(means, visits, squares).scores(means, visits)
    inside = (found.low <= rates) & (rates <= found.high)
    few = visits < 4
    room.near(inside.mean(), 0.9, abs=0.02)
    room.near(inside[few].mean(), 0.9, abs=0.05)
    best = Shrinkage(BASE, STRENGTH, SCALE).scores(means, visits).scores
    errors = [np.square(scores - rates)[few].mean() for scores in (found.scores, best, means)]
    room.ratio(errors[0] / errors[1], at_most=1.02)
    room.error(errors[1], at_most=0.6 * errors[2])


def test_the_posterior_is_that_of_the_gamma_law():
    means, visits = np.array([0.5, 0.0, 0.2]), np.array([3.0, 1.0, 0.0])
    found = Shrinkage(BASE, STRENGTH, SCALE).scores(means, visits)
    shape = (STRENGTH * BASE + visits * means) / SCALE
    law = gamma(shape, scale=SCALE / (STRENGTH + visits))
    for name, wanted in {"scores": law.mean(), "low": law.ppf(0.05), "high": law.ppf(0.95)}.items():
        assert_allclose(getattr(found, name)[:2], wanted[:2])
        assert np.isnan(getattr(found, name)[2])  # nothing is known of what was not visited
    assert_array_equal(found.visits, visits)


@pytest.mark.parametrize("n_visits", [1.0, 5.0])
@pytest.mark.parametrize("kind", ["one pair", "equal", "zeros", "exact", "nothing"])
def test_laws_of_little_data_stay_finite(kind, n_visits):
    means = {
        "one pair": np.array([0.4]),
        "equal": np.full(9, 0.4),
        "zeros": np.zeros(9),
        "exact": np.linspace(0, 1, 9),
        "nothing": np.empty(0),
    }[kind]
    visits = np.full(len(means), n_visits)
    law = Shrinkage.of(means, visits, float(visits @ means**2))  # no noise between visits
    found = law.scores(means, visits)
    assert np.isfinite([law.base, law.strength, law.scale]).all()
    for part in (found.low, found.scores, found.high):
        assert np.isfinite(part).all()
    assert (found.low <= found.scores + 1e-12).all()
    assert (found.scores <= found.high + 1e-12).all()
    if kind != "exact" or n_visits > 1:  # repeated visits that agree leave no doubt
        assert_allclose(found.scores, means, atol=1e-6)
