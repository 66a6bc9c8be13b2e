"""Sources of air and water: the rules of the field for tables, factors in its words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from shared import DATA, needs_data

from atomstream import bootstrap_sources, find_sources, sources
from atomstream.exceptions import InputError


def site(n=200, seed=0, noise=0.1):
    """Three sources at a made site, with a total and the uncertainties that made the noise."""
    rng = np.random.default_rng(seed)
    profiles = rng.gamma(0.4, 1, (3, 8)) + 0.02
    contributions = rng.gamma(0.8, 1, (n, 3)) + 0.05
    clean = contributions @ profiles
    uncertainties = noise * clean + 0.02
    values = np.maximum(clean + uncertainties * rng.standard_normal(clean.shape), 0)
    dates = np.datetime64("2024-01-01T00") + np.arange(n)
    total = contributions @ [3.0, 1.0, 2.0]
    table = sources.SpeciesTable(values, uncertainties, [*"abcdefgh"], dates, total=total)
    return table, profiles, contributions


def test_profiles_contributions_and_residuals_are_the_table():
    table, _, _ = site()
    found = find_sources(table, 3, n_starts=3, random_state=0)
    made = found.contributions @ found.profiles + found.residuals * table.uncertainties
    assert_allclose(made, table.values, atol=1e-9)
    assert_allclose(found.contributions.mean(axis=0), 1)
    assert_allclose(found.per_cent().sum(axis=0), 100)
    assert_allclose(found.q_true, (found.residuals**2).sum())


def test_planted_sources_are_found(room):
    table, profiles, contributions = site()
    found = find_sources(table, 3, n_starts=3, random_state=0)
    room.share(min(np.corrcoef(found.contributions.T, contributions.T)[:3, 3:].max(axis=0)), at_least=0.97)
    assert found.q_expected == 200 * 8 - 3 * 208
    room.near(found.q_true / found.q_expected, 1, abs=0.25)
    room.share(np.corrcoef(found.of_total.sum(axis=1), table.total)[0, 1], at_least=0.97)
