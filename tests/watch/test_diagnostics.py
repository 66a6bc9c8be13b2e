"""Autocorrelation times against chains whose times are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import lfilter

from atomstream import OnlineNMF
from atomstream.watch.diagnostics import mcmc_diagnostics


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.97, -0.4])
def test_autoregressive_chains_have_their_time(rho):
    noise = np.random.default_rng(0).standard_normal(200_000)
    found = mcmc_diagnostics(lfilter([1], [1, -rho], noise))
    assert_allclose(found.autocorrelation_time, (1 + rho) / (1 - rho), rtol=0.15)
    assert_allclose(found.autocorrelation[:3], rho ** np.arange(3), atol=0.03)
    assert_allclose(found.effective_size, 200_000 / found.autocorrelation_time)
    assert found.trustworthy


def test_the_standard_error_of_a_mean_is_that_of_effective_values():
    rng, rho = np.random.default_rng(0), 0.9
    chains = lfilter([1], [1, -rho], rng.standard_normal((300, 5000)), axis=1)
    effective = np.mean([mcmc_diagnostics(chain).effective_size for chain in chains])
    assert_allclose(chains.mean(axis=1).var(), chains.var() / effective, rtol=0.2)


def test_advice_follows_the_time():
    rng = np.random.default_rng(0)
    assert "Nearly independent" in mcmc_diagnostics(rng.standard_normal(1000)).advice
    assert (
        "thin by" in mcmc_diagnostics(lfilter([1], [1, -0.9], rng.standard_normal(20_000))).advice
    )
    assert "too short to tell" in mcmc_diagnostics(np.cumsum(rng.standard_normal(500))).advice


@pytest.mark.parametrize(
    "wrong", [np.ones(10), [1.0, 2.0], np.ones((5, 5)), [1.0, np.nan, 2.0, 3.0]]
)
def test_what_cannot_be_judged_is_refused(wrong):
    with pytest.raises(ValueError, match="values"):
        mcmc_diagnostics(wrong)


def test_a_stream_of_batches_is_judged_by_the_loss_along_it():
    # Rows that stay the same for 20 steps: each loss counts for 20.
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.random((1000, 6)), 20, axis=0)
    model = OnlineNMF(2, random_state=0).partial_fit(rng.random((300, 6)))
    losses = model.losses(rows)
    assert_allclose(losses.mean(), -model.score(rows))
    assert_allclose(losses[:1], model.inspect_sample(rows[:1]).loss)
    found = mcmc_diagnostics(
        (rows[start : start + 1000] for start in range(0, 20_000, 1000)), model
    )
    assert found.autocorrelation_time == mcmc_diagnostics(losses).autocorrelation_time
    assert (
        14 < found.autocorrelation_time < 26
    )  # 20, with a standard error of 0.14 of it (Sokal); seen 16.8
    assert "thin by 8 to 17" in found.advice
    assert "(M2)" in found.advice
    with pytest.raises(ValueError, match="at least 4"):
        mcmc_diagnostics([], model)
