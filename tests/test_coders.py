"""Codes against exact solutions: supports enumerated, scipy's NNLS, optimality conditions."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from strategies import CODERS, PENALTIES, coding_problems

import atomstream.coders as coders
from atomstream._kernels import coordinate_descent
from atomstream.coders import CoordinateDescent, ProjectedGradient
from atomstream.dictionaries import Rows
from atomstream.learner import Batch
from atomstream.losses import Squared
from atomstream.objective import Objective
from atomstream.penalties import Box, Free, Nonnegative, Simplex

EXACT = 1e-9


def objective(codes):
    return Objective(Squared(), codes, Free())


def pairs():
    for coder, penalty in itertools.product(CODERS, PENALTIES):
        if isinstance(coder, ProjectedGradient) or penalty.entrywise:
            yield coder, penalty


def test_every_coder_is_in_the_list():
    public = {getattr(coders, name) for name in coders.__all__}
    assert {type(part) for part in CODERS} == {
        part for part in public if hasattr(part, "needs") and part is not coders.Coder
    }
    assert len(list(pairs())) == 36


def enumerate_supports(x, atoms, penalty):
    """Least objective over all ways to set entries to a bound, to zero, or free with a sign (entrywise sets)."""
    best = np.inf
    low, high = penalty.shape[:2]
    states = ["zero", "plus", "minus"] + [b for b in ("low", "high") if np.isfinite({"low": low, "high": high}[b])]
    for pattern in itertools.product(states, repeat=len(atoms)):
        h = np.array([{"low": low, "high": high}.get(s, 0.0) for s in pattern])
        free = np.array([s in ("plus", "minus") for s in pattern])
        sign = np.array([1.0 if s == "plus" else -1.0 for s in pattern])[free]
        if free.any():
            a = atoms[free]
            system = a @ a.T + penalty.l2 * np.eye(free.sum())
            target = a @ (x - h @ atoms) - penalty.l1 * sign
            h[free] = np.linalg.lstsq(system, target, rcond=None)[0]
        h = np.clip(h, low, high)
        value = 0.5 * ((x - h @ atoms) ** 2).sum() + penalty.value(h[None])[0]
        best = min(best, value)
    return best


@given(problem=coding_problems())
@pytest.mark.parametrize("penalty", [p for p in PENALTIES if p.entrywise], ids=repr)
def test_coordinate_descent_reaches_the_enumerated_optimum(penalty, problem):
    X, atoms = problem
    codes = CoordinateDescent().encode(Batch(X), Rows(atoms), objective(penalty), 1e-11)
    values = objective(penalty).values(Batch(X), codes.values, Rows(atoms))
    for x, value in zip(X, values, strict=True):
        best = enumerate_supports(x, atoms, penalty)
        assert value <= best + 1e-8 * (1 + best)


@pytest.mark.parametrize(("coder", "penalty"), list(pairs()), ids=repr)
def test_both_doors_reach_the_same_objective(coder, penalty):
    rng = np.random.default_rng(0)
    X, atoms = rng.random((20, 12)), rng.random((8, 12))
    codes = coder.encode(Batch(X), Rows(atoms), objective(penalty), EXACT)
    assert codes.residual.max() <= EXACT
    reference = ProjectedGradient(max_iter=50_000).encode(Batch(X), Rows(atoms), objective(penalty), 1e-11)
    got, wanted = (objective(penalty).values(Batch(X), c.values, Rows(atoms)) for c in (codes, reference))
    assert_allclose(got, wanted, rtol=1e-7)


@pytest.mark.parametrize("shape", [(100, 40), (40, 100), (30, 30)])
def test_nonnegative_least_squares_agrees_with_scipy(shape):
    rng = np.random.default_rng(1)
    atoms, X = rng.random(shape), rng.random((25, shape[1]))
    codes = CoordinateDescent().encode(Batch(X), Rows(atoms), objective(Nonnegative()), 1e-10)
    ours = np.linalg.norm(X - codes.values @ atoms, axis=1)
    exact = np.array([nnls(atoms.T, x)[1] for x in X])
    assert_allclose(ours, exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [Free(l1=0.01), Nonnegative(l1=0.01), Box(high=0.4, l2=0.01)], ids=repr)
def test_residual_is_the_violation_of_the_optimality_conditions(dtype, penalty):
    """Also where the Gram matrix has condition 1e7."""
    rng = np.random.default_rng(2)
    atoms = rng.random((30, 30)) @ np.diag(np.logspace(0, -3.5, 30)) @ rng.random((30, 50))
    X = (rng.random((40, 30)) @ atoms).astype(dtype)
    atoms = atoms.astype(dtype)
    tolerance = 10 * np.sqrt(np.finfo(dtype).eps)
    codes = CoordinateDescent().encode(Batch(X), Rows(atoms), objective(penalty), tolerance)
    assert codes.values.dtype == dtype
    assert codes.residual.max() <= tolerance
    h, a = codes.values.astype(float), atoms.astype(float)
    slope = (h @ a - X) @ a.T
    curvature = (a**2).sum(axis=1)
    target = penalty.prox(h - slope / curvature.max(), 1 / curvature.max())
    violation = (
        np.abs(h - target).max(axis=1)
        * curvature.max()
        / np.sqrt(
            np.maximum(((X - h @ a) ** 2).sum(axis=1), np.sqrt(np.finfo(dtype).eps) * (X**2).sum(axis=1))
            * curvature.max()
        )
    )
    assert violation.max() <= 5 * tolerance


def test_tighter_tolerance_never_raises_the_objective():
    rng = np.random.default_rng(3)
    X, atoms = rng.random((50, 20)), rng.random((15, 20))
    values = [
        objective(Nonnegative(l1=0.05)).values(
            Batch(X),
            CoordinateDescent().encode(Batch(X), Rows(atoms), objective(Nonnegative(l1=0.05)), t).values,
            Rows(atoms),
        )
        for t in (1e-1, 1e-3, 1e-6)
    ]
    assert (values[1] <= values[0] + 1e-12).all()
    assert (values[2] <= values[1] + 1e-12).all()


@pytest.mark.parametrize("coder", CODERS[:2], ids=repr)
def test_zero_rows_zero_atoms_and_twins(coder):
    atoms = np.array([[1.0, 0, 0], [0, 0, 0], [1.0, 0, 0], [0, 1.0, 1.0]])
    X = np.array([[0.0, 0, 0], [2.0, 1.0, 1.0]])
    codes = coder.encode(Batch(X), Rows(atoms), objective(Nonnegative()), EXACT)
    assert_array_equal(codes.values[0], 0)
    assert codes.residual[0] == 0
    assert_allclose(codes.values @ atoms, X, atol=1e-7)
    assert codes.values[1, 1] == 0


@pytest.mark.parametrize("shape", [(100, 40), (30, 8), (60, 60)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [Free(l1=0.05), Free(l1=1e-3), Nonnegative(), Free(), Box(-1, 1)], ids=repr)
def test_dependent_atoms_neither_stall_nor_overflow(shape, dtype, penalty):
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal(shape)
    atoms = (atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).astype(dtype)
    X = np.abs(rng.standard_normal((300, shape[1]))).astype(dtype)
    tolerance = float(np.sqrt(np.finfo(dtype).eps))
    codes = CoordinateDescent().encode(Batch(X), Rows(atoms), objective(penalty), tolerance)
    assert np.isfinite(codes.values).all()
    assert (codes.residual <= tolerance).mean() >= (0.99 if dtype == np.float32 else 1)
    reference = ProjectedGradient().encode(Batch(X), Rows(atoms), objective(penalty), 1e-3)
    ours, theirs = (objective(penalty).values(Batch(X), c.values, Rows(atoms)) for c in (codes, reference))
    assert (ours <= theirs * (1 + 1e-4) + 1e-4).all()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("coder", CODERS[:2], ids=repr)
def test_short_and_long_atoms_count_alike(coder, scale):
    rng = np.random.default_rng(0)
    atoms, X = rng.random((6, 20)), rng.random((10, 20))
    scaled = atoms * np.where(np.arange(6) < 3, scale, 1.0)[:, None]
    if isinstance(coder, ProjectedGradient):  # first order: reaches scales near each other only
        scaled = atoms * np.where(np.arange(6) < 3, 0.3, 1.0)[:, None]
    codes = [coder.encode(Batch(X), Rows(a), objective(Nonnegative()), 1e-7) for a in (atoms, scaled)]
    values = [
        objective(Nonnegative()).values(Batch(X), c.values, Rows(a))
        for c, a in zip(codes, (atoms, scaled), strict=True)
    ]
    assert_allclose(values[1], values[0], rtol=1e-6)
    lone = CoordinateDescent().encode(
        Batch(np.c_[0.0, 1.0]), Rows(np.diag([1, scale])), objective(Nonnegative()), 1e-8
    )
    assert_allclose(lone.values, [[0, 1 / scale]])


def test_nan_in_a_code_is_never_called_converged():
    codes, residual = np.zeros((1, 2)), np.zeros(1)
    gram, linear = np.array([[1.0, np.nan], [np.nan, 1.0]]), np.array([[1.0, 1.0]])
    coordinate_descent.descend(codes, residual, gram, linear, np.ones(1), (0.0, 0.0, 0.0, np.inf), 1e-6, 9)
    assert not residual[0] <= 1e-6


def test_row_products_do_not_depend_on_companions():
    rng = np.random.default_rng(0)
    X, atoms = rng.random((300, 50)), Rows(rng.random((31, 50)))
    together = atoms.correlate(X)
    for size in (1, 2, 3, 7, 8, 100):
        apart = np.concatenate([atoms.correlate(X[i : i + size]) for i in range(0, 300, size)])
        assert_allclose(apart, together, rtol=1e-14)


@pytest.mark.parametrize("coder", CODERS, ids=repr)
def test_permuting_atoms_permutes_codes(coder):
    rng = np.random.default_rng(4)
    X, atoms, order = rng.random((10, 9)), rng.random((5, 9)), rng.permutation(5)
    straight, permuted = (
        coder.encode(Batch(X), Rows(a), objective(Nonnegative(l1=0.1)), 1e-11).values for a in (atoms, atoms[order])
    )
    assert_allclose(straight[:, order], permuted, atol=1e-7)


def test_encode_is_pure():
    rng = np.random.default_rng(5)
    X, atoms = rng.random((10, 9)), rng.random((5, 9))
    kept = X.copy(), atoms.copy()
    CoordinateDescent().encode(Batch(X), Rows(atoms), objective(Nonnegative()), EXACT)
    assert_array_equal(X, kept[0])
    assert_array_equal(atoms, kept[1])


def test_sparse_rows_are_coded_as_dense_ones():
    rng = np.random.default_rng(6)
    X, atoms = rng.random((30, 20)) * (rng.random((30, 20)) < 0.2), rng.random((6, 20))
    for coder in CODERS[:2]:
        dense, sparse = (
            coder.encode(Batch(Y), Rows(atoms), objective(Nonnegative(l1=0.1)), 1e-11).values
            for Y in (X, sp.csr_array(X))
        )
        assert_allclose(sparse, dense, atol=1e-8)


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(7)
    X, atoms = rng.random((1500, 40)).astype(np.float32), rng.random((25, 40)).astype(np.float32)
    codes = [
        CoordinateDescent(n_jobs=n).encode(Batch(X), Rows(atoms), objective(Nonnegative()), 1e-4).values
        for n in (1, 2, 3)
    ]
    assert_array_equal(codes[0], codes[1])
    assert_array_equal(codes[0], codes[2])


def test_kernel_is_its_plain_function():
    rng = np.random.default_rng(8)
    X, atoms = rng.random((4, 12)), rng.random((6, 12))
    results = []
    for descend in (coordinate_descent.descend, coordinate_descent.descend.py_func):
        codes, residual = np.zeros((4, 6)), np.empty(4)
        net = (np.float64(0.1), np.float64(0.01), np.float64(0), np.float64(np.inf))  # with a dtype, for py_func
        descend(codes, residual, atoms @ atoms.T, X @ atoms.T, (X**2).sum(axis=1), net, 1e-10, 1000)
        results.append(codes)
    assert_allclose(results[0], results[1], atol=1e-10)


def test_limits_on_work_are_kept_and_told():
    rng = np.random.default_rng(9)
    X, atoms = rng.random((5, 30)), rng.random((20, 30))
    codes = ProjectedGradient(max_iter=3).encode(Batch(X), Rows(atoms), objective(Simplex()), 1e-12)
    assert codes.residual.max() > 1e-12
    assert_allclose(codes.values.sum(axis=1), 1)
