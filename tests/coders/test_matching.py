"""Codes with a given number of entries, against enumeration and scikit-learn's pursuit."""

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.linear_model import orthogonal_mp

from atomstream import OnlineDictionaryLearning, OnlineNMF, sparse_encode
from atomstream._kernels import gram_pursuit
from atomstream.base import threads
from atomstream.coders import MatchingPursuit
from atomstream.dictionaries import Rows
from atomstream.exceptions import IncompatiblePartsError
from atomstream.losses import Squared
from atomstream.penalties import Free, TopK
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective


def encode(X, atoms, penalty, coder=None, start=None):
    objective = Objective(Squared(), penalty, Free())
    coder = coder or MatchingPursuit()
    return coder.encode(Batch(X), Rows(atoms), objective, Accuracy(gap=1e-9), start).values


def errors(X, codes, atoms):
    return ((X - codes @ atoms) ** 2).sum(axis=1)


def least_errors(X, atoms, penalty):
    """The least error of each row over all supports of k atoms."""
    best = np.full(len(X), np.inf)
    for support in itertools.combinations(range(len(atoms)), penalty.k):
        some = atoms[list(support)]
        if penalty.nonnegative:
            left = np.array([nnls(some.T, x)[1] ** 2 for x in X])
        else:
            left = errors(X, np.linalg.lstsq(some.T, X.T, rcond=None)[0].T, some)
        best = np.minimum(best, left)
    return best


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def little_alike(n_atoms, n_features, most, rng):
    """Atoms of length one with no cosine above ``most``, by drawing until there are enough."""
    atoms = np.empty((0, n_features))
    while len(atoms) < n_atoms:
        one = unit(rng.standard_normal((1, n_features)))
        if np.abs(atoms @ one.T).max(initial=0) < most:
            atoms = np.concatenate([atoms, one])
    return atoms


@given(
    seed=st.integers(0, 10_000), k=st.integers(1, 3), sign=st.sampled_from(["free", "nonnegative"])
)
def test_sparse_codes_are_found_where_pursuit_is_exact(seed, k, sign):
    """Tropp (2004): cosines below 1 / (2k - 1), samples that k atoms make up."""
    rng = np.random.default_rng(seed)
    atoms = little_alike(6, 60, 1 / max(2 * k - 1, 2), rng)
    codes = np.zeros((5, 6))
    for row in codes:
        row[rng.choice(6, k, replace=False)] = rng.uniform(0.5, 2, k)
    codes *= rng.choice([-1, 1], codes.shape) if sign == "free" else 1
    found = encode(codes @ atoms, atoms, TopK(k, sign=sign))
    assert_allclose(found, codes, atol=1e-8)


@given(seed=st.integers(0, 10_000), sign=st.sampled_from(["free", "nonnegative"]))
def test_one_atom_is_the_best_one(seed, sign):
    rng = np.random.default_rng(seed)
    X, atoms, penalty = rng.standard_normal((8, 4)), rng.standard_normal((6, 4)), TopK(1, sign=sign)
    found = errors(X, encode(X, atoms, penalty), atoms)
    assert_allclose(found, least_errors(X, atoms, penalty), atol=1e-10)


@pytest.mark.parametrize("renewed", [True, False])
@pytest.mark.parametrize("sign", ["free", "nonnegative"])
def test_atoms_at_right_angles_are_thresholded(renewed, sign):
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.standard_normal((9, 9)))[0][:7]
    X, penalty = rng.standard_normal((20, 9)), TopK(3, sign=sign)
    codes = encode(X, atoms, penalty, MatchingPursuit(renewed=renewed))
    assert_allclose(codes, penalty.prox(X @ atoms.T, 0.0), atol=1e-10)
    assert_allclose(errors(X, codes, atoms), least_errors(X, atoms, penalty), atol=1e-10)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (np.float64, 1e-8),
        pytest.param(np.float32, 1e-3, marks=pytest.mark.long),  # a kernel that no other test needs
    ],
)
def test_signed_codes_are_those_of_scikit_learn(dtype, tolerance):
    rng = np.random.default_rng(1)
    X, atoms = rng.standard_normal((40, 30)), unit(rng.standard_normal((90, 30)))
    theirs = orthogonal_mp(atoms.T, X.T, n_nonzero_coefs=6).T
    ours = encode(X.astype(dtype), atoms.astype(dtype), TopK(6))
    assert ours.dtype == dtype
    assert_allclose(ours, theirs, atol=tolerance)


def test_nonnegative_codes_fit_their_atoms_and_gain_with_each():
    rng = np.random.default_rng(2)
    X, atoms = rng.random((50, 12)), rng.random((20, 12))
    before = (X**2).sum(axis=1)
    for k in (1, 2, 4, 8):
        codes = encode(X, atoms, TopK(k, sign="nonnegative"))
        assert codes.min() >= 0
        assert (codes > 0).sum(axis=1).max() <= k
        slope = (X - codes @ atoms) @ atoms.T
        assert np.abs(slope[codes > 0]).max() < 1e-9
        now = errors(X, codes, atoms)
        assert (now <= before + 1e-12).all()
        before = now


def test_twins_and_zero_atoms_and_more_entries_than_features():
    X = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 1.0]])
    atoms = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1e-9, 0.0]])
    for sign in ("free", "nonnegative"):
        codes = encode(X, atoms, TopK(50, sign=sign))
        assert np.isfinite(codes).all()
        assert not codes[:, 2].any()
        assert not codes[1].any()
    assert_allclose(encode(X, atoms, TopK(50)) @ atoms, X, atol=1e-9)


def test_a_better_start_is_kept():
    """Pursuit takes the bisector first, and never leaves it; the two atoms that it bisects fit."""
    atoms = unit(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.3]]))
    X = np.array([[1.0, 1.0, 0.0]])
    start = np.array([[1.0, 1.0, 0.0]])
    assert errors(X, encode(X, atoms, TopK(2)), atoms) > 1e-3
    assert_array_equal(encode(X, atoms, TopK(2), start=start), start)


@pytest.mark.usefixtures("any_work")
def test_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    X, atoms = rng.standard_normal((700, 20)), rng.standard_normal((50, 20))
    codes = []
    for n_jobs in (1, 3):
        with threads(n_jobs):
            codes.append(encode(X, atoms, TopK(4), MatchingPursuit()))
    assert_array_equal(*codes)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_kernel_is_its_plain_function(interpreted, nonnegative):
    rng = np.random.default_rng(4)
    X, atoms = rng.standard_normal((4, 8)), rng.standard_normal((70, 8))
    results = []
    for plain in (False, True):
        codes = np.empty((4, 70))
        with interpreted() if plain else contextlib.nullcontext():
            limits = (4, nonnegative, True)
            gram_pursuit.pursue(codes, X @ atoms.T, (X**2).sum(axis=1), atoms @ atoms.T, limits)
        results.append(codes)
    assert_allclose(*results, atol=1e-10)


def test_a_model_finds_the_atoms_of_a_sparse_model(room):
    rng = np.random.default_rng(5)
    truth = unit(rng.standard_normal((30, 20)))
    codes = np.zeros((6000, 30))
    for row in codes:
        row[rng.choice(30, 3, replace=False)] = rng.standard_normal(3) + np.sign(
            rng.standard_normal(3)
        )
    X = codes @ truth + 0.01 * rng.standard_normal((6000, 20))
    model = OnlineDictionaryLearning(40, codes=TopK(3), alpha=0.0, n_epochs=6, random_state=0).fit(
        X
    )
    found = np.abs(truth @ unit(model.components_).T).max(axis=1)
    room.share((found > 0.95).mean(), at_least=0.9)
    assert (model.transform(X[:50]) != 0).sum(axis=1).max() <= 3


def test_doors_and_refusals():
    rng = np.random.default_rng(6)
    X, atoms = rng.random((30, 8)), rng.random((5, 8))
    codes = sparse_encode(X, atoms, sign=TopK(2, sign="nonnegative"), sparse_output=True)
    assert codes.nnz <= 60
    model = OnlineNMF(4, codes=TopK(2, sign="nonnegative"), random_state=0).fit(X)
    assert (model.transform(X) > 0).sum(axis=1).max() <= 2
    with pytest.raises(ValueError, match=r"alpha=0.1 needs a part with a field 'l1'"):
        OnlineDictionaryLearning(4, codes=TopK(2), alpha=0.1).fit(X)
    told = r"MatchingPursuit needs codes that are limited in number.*penalties.TopK\(5\)"
    with pytest.raises(IncompatiblePartsError, match=told):
        OnlineNMF(4, coder="matching_pursuit").fit(X)
    with pytest.raises(IncompatiblePartsError, match="needs complete rows"):
        OnlineNMF(4, codes=TopK(2, sign="nonnegative"), missing=True).fit(X)
    for wrong in (0, 2.5, True):
        with pytest.raises(ValueError, match="TopK needs k to be a whole number from 1"):
            TopK(wrong)
    with pytest.raises(ValueError, match="TopK needs sign to be"):
        TopK(2, sign="positive")
