"""Verdicts on structure: how often they are right, and where there is none."""

import tracemalloc
from importlib import import_module

import numpy as np
import pages  # noqa: F401 - knows where the scripts lie
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from atomstream.fields.consensus.structure import MIN_UNITS, judge

verdicts = import_module("verdicts")
GENERATORS = {
    each.__name__: kind for kind, halves in verdicts.KINDS.items() for each in sum(halves, ())
}


def said(planted, seeds, rows):
    """The verdicts on a table of each generator and seed."""
    return [
        judge(verdicts.made(getattr(verdicts, name), seed, planted, rows)[0][:1000], seed=seed)
        for name, kind in GENERATORS.items()
        for seed in seeds
        if not (planted and kind == "one profile")
    ]


def share(found, structured):
    return np.mean([each.structured is structured for each in found])


ROWS = [
    pytest.param((150, 250), id="some rows"),
    pytest.param((60, 150), id="few rows", marks=pytest.mark.long),
    pytest.param((1000, 3000), id="many rows", marks=[pytest.mark.long, pytest.mark.weekly]),
]


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
def test_planted_atoms_are_structure(rows, seeds, room):
    found = said(True, seeds, rows)
    assert len(found) >= 20
    room.share(share(found, True), at_least=0.8)
    room.error(share(found, False), at_most=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
def test_independent_columns_and_sizes_of_rows_have_none(rows, seeds, room):
    found = said(False, [100 + seed for seed in seeds], rows)
    assert len(found) >= 24
    room.share(share(found, False), at_least=0.75)
    room.error(share(found, True), at_most=0.05)


def planted(n_rows=120, n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    atoms = rng.random((3, n_columns)) * (rng.random((3, n_columns)) < 0.5)
    return rng.poisson(5 * rng.exponential(size=(n_rows, 3)) @ atoms).astype(float)


@pytest.mark.parametrize("n_rows", [1, 5, 20, MIN_UNITS - 1])
def test_too_few_rows_are_not_judged_and_are_told_how_many_are_needed(n_rows):
    found = judge(planted()[:n_rows])
    assert found.structured is None
    assert found.p_value is None
    assert f"at least {MIN_UNITS} rows are needed, got {n_rows}" in found.sentence
    assert judge(planted()[:MIN_UNITS]).structured


def test_texts_of_few_words_need_more_rows_by_their_own_count():
    rng = np.random.default_rng(0)
    X = (rng.random((40, 30)) < 0.08).astype(float)
    found = judge(X)
    assert found.structured is None
    needed = int(found.sentence.partition("at least ")[2].split()[0])
    assert MIN_UNITS < needed < 100
    assert judge(np.repeat(X, 3, axis=0)).structured is not None


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((60, 5)), "at least 4 columns that are not zero in 4 rows or more"),
        (planted()[:, :3], "at least 4 columns"),
        (np.full((60, 8), np.nan), "at least 4 columns"),
    ],
)
def test_what_cannot_be_judged_is_told(X, words):
    found = judge(X)
    assert found.structured is None
    assert "no structure" not in found.sentence
    assert words in found.sentence


def test_where_most_is_missing_there_is_no_verdict_and_where_some_is_there_is():
    rng = np.random.default_rng(0)
    X, gone = planted(), rng.random((120, 12))
    assert "of the entries must be observed" in judge(np.where(gone < 0.5, np.nan, X)).sentence
    assert judge(np.where(gone < 0.2, np.nan, X)).structured
    alone = rng.permuted(X, axis=0)
    assert judge(np.where(gone < 0.2, np.nan, alone)).structured is False


def test_a_missing_entry_tells_nothing_sparse_is_dense_and_units_do_not_count():
    X = planted()
    found = judge(X, seed=3)
    for other in (sp.csr_array(X), sp.csr_matrix(X), X.astype(np.float32), X[:, ::-1][:, ::-1]):
        assert judge(other, seed=3) == found
    assert_allclose(judge(1e-150 * X, seed=3).correlation, found.correlation, rtol=1e-6)
    gaps = X.copy()
    gaps[::7, 2] = np.nan
    holed = sp.csr_array(np.nan_to_num(gaps, nan=-1.0))
    holed.data[holed.data == -1] = np.nan
    assert_allclose(judge(holed, seed=3).correlation, judge(gaps, seed=3).correlation, rtol=1e-6)
    assert judge(gaps, seed=3).structured


def test_columns_of_any_scale_and_place_count_alike():
    """Signed data are judged about their means, also where these are far from zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 10))
    X += rng.standard_normal(X.shape)
    scales = 10.0 ** rng.integers(-5, 5, 10)
    assert judge(X).structured
    found = judge(X * scales + 1e6 * scales * (-1) ** np.arange(10))
    assert_allclose(found.correlation, judge(X).correlation, rtol=1e-4)
    alone = rng.permuted(X, axis=0) * rng.lognormal(0, 1, (100, 1))  # rows vary unevenly
    assert judge(alone).structured is False
    assert judge(alone).explanation == "columns that vary independently of each other"


@pytest.mark.parametrize(
    "X",
    [
        np.ones((50, 6)),
        np.outer(np.arange(1.0, 51), np.arange(1.0, 7)),
        np.tile(planted()[:1], (50, 1)),
    ],
)
def test_what_is_explained_but_for_rounding_has_no_structure(X):
    assert judge(X).structured is False


def test_rows_of_a_block_are_one():
    """Walks that have nothing to do with each other go together for a while."""
    rng = np.random.default_rng(0)
    X, blocks = np.zeros((900, 8)), np.arange(900) // 30
    for i in range(1, 900):
        X[i] = 0.8 * X[i - 1] + rng.standard_normal(8)
    assert judge(X).structured
    assert not judge(X, blocks).structured
    assert judge(X + 3 * np.outer(X[:, 0], np.ones(8)), blocks).structured
    assert "30 blocks are needed, got 20" in judge(X[:600], blocks[:600]).sentence


def test_a_wide_sparse_table_is_never_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array((1000, 200_000), density=5e-4, format="csr", rng=rng)
    tracemalloc.start()
    found = judge(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.structured is False
    assert found.n_columns <= 262
    assert peak < 100e6  # dense it takes 1,600 MB


def test_counts_that_vary_more_than_poisson_counts_are_known():
    rng = np.random.default_rng(0)
    means = np.outer(rng.lognormal(0, 1, 200), rng.gamma(1, 20, 15))
    assert_allclose(judge(rng.poisson(means)).dispersion, 1, atol=0.15)
    assert judge(rng.negative_binomial(1, 1 / (1 + means))).dispersion > 5
    assert judge(means).dispersion is None


def test_a_verdict_tells_what_it_compared_with_and_by_how_much():
    X = planted()
    found = judge(X)
    for number in (found.p_value, found.correlation, found.expected):
        assert f"{number:.2g}" in found.sentence
    assert found.explanation in found.sentence
    assert found.sentence.startswith("The data show structure beyond")
    alone = judge(np.random.default_rng(0).permuted(X, axis=0))
    assert alone.sentence.startswith("The data show no structure beyond")
    assert judge(X, seed=1) == judge(X, seed=1)
