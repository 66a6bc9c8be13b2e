"""The Ising sampler against enumeration of all states, and against Onsager's solution."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ellipk

from atomstream.samplers import IsingGibbs, samples
from atomstream.watch.diagnostics import mcmc_diagnostics

SETTINGS = [("free", 0.0), ("torus", 0.0), ("free", 0.3), ("torus", -0.5)]


def states(n):
    return np.array(list(itertools.product((-1, 1), repeat=n)), np.int8)


def law(chain, all_states):
    weights = np.exp(-chain.energy(all_states.reshape(-1, *chain.shape)) / chain.temperature)
    return weights / weights.sum()


def site_kernels(chain, all_states):
    """One transition matrix per site: what an update of that site does."""
    n_sites = all_states.shape[1]
    place = {state.tobytes(): k for k, state in enumerate(all_states)}
    kernels = np.zeros((n_sites, len(all_states), len(all_states)))
    for k, state in enumerate(all_states):
        up = chain.probability(state.reshape(chain.shape)).ravel()
        for site in range(n_sites):
            for spin, chance in ((1, up[site]), (-1, 1 - up[site])):
                after = state.copy()
                after[site] = spin
                kernels[site, k, place[after.tobytes()]] += chance
    return kernels


@pytest.mark.parametrize(("boundary", "field"), SETTINGS)
def test_every_update_is_in_detailed_balance_with_the_law(boundary, field):
    chain = IsingGibbs((3, 3), temperature=1.7, field=field, boundary=boundary)
    pi = law(chain, states(9))
    kernels = site_kernels(chain, states(9))
    assert_allclose(kernels.sum(axis=2), 1, atol=1e-12)
    for kernel in kernels:
        flow = pi[:, None] * kernel
        assert_allclose(flow, flow.T, atol=1e-12)
    assert_allclose(pi @ kernels.mean(axis=0), pi, atol=1e-12)  # random sites
    order = [
        i * 3 + j for colour in (0, 1) for i in range(3) for j in range((i + colour) % 2, 3, 2)
    ]
    moved = pi
    for site in order:  # a checkerboard sweep
        moved = moved @ kernels[site]
    assert_allclose(moved, pi, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("sweep", ["random", "checkerboard"])
@pytest.mark.parametrize(("boundary", "field"), SETTINGS)
@pytest.mark.cover(2)
def test_steps_have_the_probabilities_that_are_said(boundary, field, sweep):
    """Chi-square on where steps from one state lead; 4 deviations of its law are allowed."""
    chain = IsingGibbs((3, 3), temperature=2.0, field=field, boundary=boundary, sweep=sweep)
    rng, all_states = np.random.default_rng(1), states(9)
    begin = chain.init(rng)
    kernels = site_kernels(chain, all_states)
    place = {state.tobytes(): k for k, state in enumerate(all_states)}
    row = np.zeros(512)
    row[place[begin.tobytes()]] = 1
    if sweep == "random":
        row = row @ kernels.mean(axis=0)
    else:
        for site in (0, 2, 4, 6, 8, 1, 3, 5, 7):
            row = row @ kernels[site]
    n = 40_000
    counts = np.zeros(512)
    for _ in range(n):
        counts[place[chain.step(rng, begin)[0].tobytes()]] += 1
    expected = n * row
    assert counts[row == 0].sum() == 0
    common = expected > 5
    chi = ((counts - expected)[common] ** 2 / expected[common]).sum()
    freedom = common.sum() - 1
    assert abs(chi - freedom) < 4 * np.sqrt(2 * freedom)


@pytest.mark.slow
@pytest.mark.parametrize("sweep", ["random", "checkerboard"])
@pytest.mark.parametrize(("boundary", "field"), SETTINGS)
@pytest.mark.cover(2)
def test_mean_energies_are_those_of_all_states_of_4_by_4(boundary, field, sweep):
    chain = IsingGibbs((4, 4), temperature=2.5, field=field, boundary=boundary, sweep=sweep)
    energies = chain.energy(states(16).reshape(-1, 4, 4))
    exact = energies @ law(chain, states(16))
    rng = np.random.default_rng(0)
    frames, _ = chain.run(rng, chain.init(rng), 40_000, 1 if sweep == "checkerboard" else 16)
    means = chain.energy(frames).reshape(40, 1000).mean(axis=1)
    assert abs(means.mean() - exact) < 4 * means.std(ddof=1) / np.sqrt(40)


def onsager(temperature):
    """Energy per site of the infinite lattice (Onsager 1944)."""
    k = 2 * np.sinh(2 / temperature) / np.cosh(2 / temperature) ** 2
    inner = 1 + 2 / np.pi * (2 * np.tanh(2 / temperature) ** 2 - 1) * ellipk(k**2)
    return -inner / np.tanh(2 / temperature)


@pytest.mark.slow
@pytest.mark.parametrize(
    "temperature", [3.0, *(pytest.param(t, marks=pytest.mark.long) for t in (1.5, 5.0))]
)
def test_energies_on_a_large_torus_are_onsagers(temperature):
    chain = IsingGibbs((64, 64), temperature=temperature, boundary="torus", sweep="checkerboard")
    rng = np.random.default_rng(0)
    _, state = chain.run(rng, chain.init(rng, np.ones((64, 64))), 1, 2000)
    frames, _ = chain.run(rng, state, 2000, 5)
    means = chain.energy(frames).reshape(40, 50).mean(axis=1) / 64**2
    assert abs(means.mean() - onsager(temperature)) < 4 * means.std(ddof=1) / np.sqrt(40) + 1e-4


def test_a_saved_state_goes_on_exactly():
    chain = IsingGibbs((10, 12), temperature=2.0)
    rng = np.random.default_rng(0)
    start = chain.init(rng)
    kept = start.copy()
    first, middle = chain.run(rng, start, 3, 100)
    assert_array_equal(start, kept)
    saved = rng.bit_generator.state
    on, _ = chain.run(rng, middle, 3, 100)
    rng.bit_generator.state = saved
    again, _ = chain.run(rng, middle, 3, 100)
    assert_array_equal(on, again)
    whole_rng = np.random.default_rng(0)
    whole, _ = chain.run(whole_rng, chain.init(whole_rng), 6, 100)
    assert_array_equal(whole, np.concatenate([first, on]))
    stream_rng = np.random.default_rng(0)
    stream = samples(chain, stream_rng, chain.init(stream_rng), 3, thin=100)
    assert_array_equal(next(stream)[0], first)
    assert_array_equal(next(stream)[0], on)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"shape": (2, 5), "temperature": 1, "boundary": "torus"}, "two sides of at least 3"),
        ({"shape": (4,), "temperature": 1}, "two sides of at least 1"),
        ({"shape": (4, 4), "temperature": 0}, "temperature to be a number above 0"),
        ({"shape": (4, 4), "temperature": 1, "field": np.nan}, "field to be a number"),
        ({"shape": (4, 4), "temperature": 1, "boundary": "round"}, "boundary to be free or torus"),
        (
            {"shape": (4, 4), "temperature": 1, "sweep": "both"},
            "sweep to be random or checkerboard",
        ),
    ],
)
def test_settings_out_of_range_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        IsingGibbs(**settings)


def test_positions_that_are_no_spins_are_refused():
    chain = IsingGibbs((3, 3), temperature=1.0)
    for wrong in (np.zeros((3, 3)), np.ones((2, 3))):
        with pytest.raises(ValueError, match="an array of 1 and -1 of shape"):
            chain.init(np.random.default_rng(0), wrong)


def test_a_cold_chain_is_slower_than_a_hot_one():
    times = []
    for temperature in (2.4, 5.0):
        chain, rng = (
            IsingGibbs((16, 16), temperature, sweep="checkerboard"),
            np.random.default_rng(0),
        )
        frames, _ = chain.run(rng, chain.init(rng), 5000)
        times.append(mcmc_diagnostics(frames.mean(axis=(1, 2))).autocorrelation_time)
    assert times[0] > 5 * times[1]
