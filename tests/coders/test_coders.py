"""Codes against exact solutions: supports enumerated, scipy's NNLS, optimality conditions."""

import contextlib
import functools
import itertools
import warnings
from dataclasses import replace

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import Bounds, minimize, nnls
from strategies import CODERS, PENALTIES, coding_problems

import atomstream.coders as coders
from atomstream._kernels import active_set, cholesky, descent, lanes, pivoting, simplex, steepest
from atomstream._kernels.certificate import duality_gap as kernel_gap
from atomstream._kernels.constants import MIN_OBJECTIVE
from atomstream.base import threads
from atomstream.coders import ActiveSet, ProjectedGradient, quadratic
from atomstream.coders.certificates import DualBound, duality_gap
from atomstream.dictionaries import Rows
from atomstream.losses import Squared
from atomstream.penalties import Box, Free, Nonnegative, Simplex
from atomstream.penalties.base import kernel_form
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective

EXACT = Accuracy(gap=1e-10)
INTERVALS = [p for p in PENALTIES if p.couples == "entries"]
POLYHEDRAL = [p for p in PENALTIES if p.polyhedral]


def objective(codes):
    return Objective(Squared(), codes, Free())


def encode(X, atoms, penalty, accuracy=EXACT, coder=None, start=None):
    return (coder or ActiveSet()).encode(Batch(X), Rows(atoms), objective(penalty), accuracy, start)


def value(X, codes, atoms, penalty):
    return objective(penalty).values(Batch(X), np.asarray(codes), Rows(atoms))


def pairs():
    for coder, penalty in itertools.product(CODERS, PENALTIES):
        if isinstance(coder, ProjectedGradient) or penalty.polyhedral:
            yield coder, penalty


def slow(coder, penalty):
    return not getattr(coder, "momentum", True) and penalty.couples == "entries"


def test_every_coder_is_in_the_list():
    public = {getattr(coders, name) for name in coders.__all__}
    others = {
        coders.Auto,
        coders.Coder,
        coders.MatchingPursuit,
        coders.Multiplicative,
        coders.ProjectedSubgradient,
        coders.Trimming,
    }  # tested in test_matching.py, and in test_divergences.py and test_trimmed.py of tests/losses
    assert {type(part) for part in CODERS} == {
        part for part in public if hasattr(part, "needs")
    } - others
    assert len(list(pairs())) == 47
    assert len(INTERVALS) == 11
    assert len(POLYHEDRAL) == 13


# -- certified solutions
# ---------------------------------------------------------------------------------------------


def patterns(penalty, r):
    """Every way to put entries at zero, at a bound, or free with a sign."""
    if isinstance(penalty, Simplex):
        return itertools.product(["zero", "plus"], repeat=r)
    low, high = penalty.shape[:2]
    bounds = [name for name, at in (("low", low), ("high", high)) if np.isfinite(at)]
    return itertools.product(["zero", "plus", "minus", *bounds], repeat=r)


def enumerate_supports(X, atoms, penalty):
    """Least objective of each row over all patterns: a linear system each, and what is feasible."""
    best, (low, high, _, total) = np.full(len(X), np.inf), penalty.shape
    for pattern in patterns(penalty, len(atoms)):
        at = np.array([{"low": low, "high": high}.get(s, 0.0) for s in pattern])
        h = np.tile(at, (len(X), 1))
        free = np.array([s in ("plus", "minus") for s in pattern])
        if free.any():
            a, sign = atoms[free], np.array([1.0 if s == "plus" else -1.0 for s in pattern])[free]
            system = a @ a.T + penalty.l2 * np.eye(free.sum())
            target = a @ (X - at @ atoms).T - penalty.l1 * sign[:, None]
            if total:
                edge = np.ones((1, free.sum()))
                system = np.block([[system, edge.T], [edge, 0]])
                target = np.vstack([target, np.full(len(X), total)])
            h[:, free] = np.linalg.lstsq(system, target, rcond=None)[0][: free.sum()].T
        h = penalty.prox(h, 0.0)
        best = np.minimum(best, 0.5 * ((X - h @ atoms) ** 2).sum(axis=1) + penalty.value(h))
    return best


@pytest.mark.cover(2)
@pytest.mark.slow
@given(problem=coding_problems())
@pytest.mark.parametrize("penalty", POLYHEDRAL, ids=repr)
def test_the_active_set_reaches_the_enumerated_optimum_and_its_gap_covers_the_rest(
    penalty, problem
):
    X, atoms = problem
    codes = encode(X, atoms, penalty, Accuracy(gap=1e-12))
    values = value(X, codes.values, atoms, penalty)
    best = enumerate_supports(X, atoms, penalty)
    assert (values <= best + 1e-9 * (1 + best)).all()
    rough = encode(X, atoms, penalty, Accuracy(gap=0.5))
    floor = 0.5 * MIN_OBJECTIVE * (X**2).sum(axis=1)
    rest = value(X, rough.values, atoms, penalty) - values
    covered = rough.residual * np.maximum(value(X, rough.values, atoms, penalty), floor)
    assert (rest <= covered + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coder", "penalty"),
    [
        # Where entries are free of each other, steps without momentum take seconds.
        pytest.param(*pair, marks=[pytest.mark.long] if n % 3 or slow(*pair) else [])
        for n, pair in enumerate(pairs())
    ],
    ids=repr,
)
def test_both_doors_reach_the_same_objective(coder, penalty):
    rng = np.random.default_rng(0)
    X, atoms = rng.random((20, 12)), rng.random((8, 12))
    codes = encode(X, atoms, penalty, EXACT, coder)
    assert codes.residual.max() <= EXACT.gap
    assert_allclose(value(X, codes.values, atoms, penalty), reference_values(penalty), rtol=1e-7)


@functools.cache
def reference_values(penalty):
    """What accelerated gradient steps reach on the problem above, once for each penalty."""
    rng = np.random.default_rng(0)
    X, atoms = rng.random((20, 12)), rng.random((8, 12))
    codes = encode(X, atoms, penalty, Accuracy(gap=1e-11), ProjectedGradient(max_iter=50_000))
    return value(X, codes.values, atoms, penalty)


@pytest.mark.parametrize("shape", [(100, 40), (40, 100), (30, 30), (1, 5), (5, 1)])
@pytest.mark.parametrize("signed", [False, True])
def test_nonnegative_least_squares_agrees_with_scipy(shape, signed):
    rng = np.random.default_rng(1)
    atoms, X = rng.random(shape), rng.random((25, shape[1]))
    if signed:
        atoms, X = atoms - 0.5, X - 0.5
    codes = encode(X, atoms, Nonnegative())
    ours = np.linalg.norm(X - codes.values @ atoms, axis=1)
    exact = np.array([nnls(atoms.T, x)[1] for x in X])
    assert_allclose(ours, exact, rtol=1e-6, atol=1e-8)


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("penalty", INTERVALS, ids=repr)
def test_intervals_agree_with_an_interior_point_method(penalty):
    """In the positive and the negative part of the code, where the l1 penalty is linear."""
    rng = np.random.default_rng(2)
    atoms, X = rng.standard_normal((6, 10)), rng.standard_normal((3, 10))[:1]
    (low, high), split = penalty.shape[:2], np.concatenate([np.eye(6), -np.eye(6)])
    bounds = Bounds(
        [max(low, 0.0)] * 6 + [max(-high, 0.0)] * 6, [max(high, 0.0)] * 6 + [max(-low, 0.0)] * 6
    )
    system, inner = split @ (atoms @ atoms.T + penalty.l2 * np.eye(6)) @ split.T, split @ atoms
    for x, reached in zip(
        X, value(X, encode(X, atoms, penalty).values, atoms, penalty), strict=True
    ):
        solution = minimize(
            lambda v, x=x: 0.5 * v @ system @ v - v @ (inner @ x - penalty.l1),
            np.clip(np.full(12, 0.3), bounds.lb, bounds.ub),
            jac=lambda v, x=x: system @ v - (inner @ x - penalty.l1),
            hess=lambda v: system,
            method="trust-constr",
            bounds=bounds,
            options={"gtol": 1e-10, "xtol": 1e-14, "barrier_tol": 1e-10, "maxiter": 2000},
        ).x
        theirs = value(x[None], penalty.prox((solution @ split)[None], 0.0), atoms, penalty)[0]
        assert reached <= theirs + 1e-12
        assert reached == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.005])
def test_never_worse_than_positive_lars(alpha):
    rng = np.random.default_rng(3)
    atoms, X = rng.random((60, 30)), rng.random((40, 30))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.decomposition.sparse_encode(
            X, atoms, algorithm="lasso_lars", alpha=alpha, positive=True, max_iter=5000
        )
    penalty = Nonnegative(l1=alpha)
    ours = encode(X, atoms, penalty)
    assert ours.residual.max() <= EXACT.gap
    assert (
        value(X, ours.values, atoms, penalty) <= value(X, theirs, atoms, penalty) * (1 + 1e-12)
    ).all()


# -- optimality conditions
# -------------------------------------------------------------------------------------------


def violation(X, h, atoms, penalty):
    """How far each entry is from its best value, in units of atom and remainder."""
    curvature = (atoms**2).sum(axis=1) + penalty.l2
    z = h * curvature - ((h @ atoms - X) @ atoms.T + penalty.l2 * h)
    best = np.clip(
        np.sign(z) * np.maximum(np.abs(z) - penalty.l1, 0) / curvature, *penalty.shape[:2]
    )
    scale = np.linalg.norm(X - h @ atoms, axis=1)
    scale = np.maximum(scale, np.sqrt(0.05 * penalty.l1 * np.abs(h).sum(axis=1)))
    scale = np.maximum(scale, 1e-4 * np.linalg.norm(X, axis=1))
    return (np.abs(best - h) * np.sqrt(curvature)).max(axis=1) / scale


def ill_conditioned(rng, dtype, condition):
    """Nonnegative atoms whose Gram matrix has this condition, and samples they nearly make."""
    atoms = (
        rng.random((30, 30))
        @ np.diag(np.logspace(0, -np.log10(condition) / 2, 30))
        @ rng.random((30, 50))
    )
    return (rng.random((40, 30)) @ atoms + rng.random((40, 50))).astype(dtype), atoms.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("condition", [1e2, 1e7])
@pytest.mark.parametrize(
    "penalty",
    [Free(l1=0.01), Nonnegative(l1=0.01), Nonnegative(), Box(high=0.4, l2=0.01), Free(l2=0.1)],
    ids=repr,
)
def test_exact_codes_meet_the_optimality_conditions(dtype, condition, penalty):
    X, atoms = ill_conditioned(np.random.default_rng(2), dtype, condition)
    codes = encode(X, atoms, penalty, Accuracy(gap=1e-9))
    assert codes.values.dtype == dtype
    assert codes.residual.max() <= 1e-9
    exact = encode(X.astype(float), atoms.astype(float), penalty, Accuracy(gap=1e-9))
    found = violation(X.astype(float), exact.values, atoms.astype(float), penalty)
    assert found.max() <= 1e-5
    best = value(X.astype(float), exact.values, atoms.astype(float), penalty)
    rounded = value(X.astype(float), codes.values.astype(float), atoms.astype(float), penalty)
    assert_allclose(rounded, best, rtol=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("coder", CODERS[:2], ids=repr)
@pytest.mark.parametrize(
    "penalty", [Free(l1=0.3), Nonnegative(), Box(-0.5, 1.0, l1=0.2, l2=0.4)], ids=repr
)
@pytest.mark.parametrize("wanted", [0.3, 0.05, 1e-4])
def test_a_violation_asked_for_is_kept(coder, penalty, wanted):
    rng = np.random.default_rng(4)
    X, atoms = rng.standard_normal((50, 15)), rng.standard_normal((10, 15))
    codes = encode(X, atoms, penalty, Accuracy(violation=wanted), coder)
    found = violation(X, codes.values, atoms, penalty)
    slack = (
        3 if isinstance(coder, ProjectedGradient) else 1 + 1e-9
    )  # there by a common step for all entries
    assert found.max() <= slack * wanted
    assert found.max() > 0


def test_a_twentieth_of_the_l1_penalty_counts_as_unexplained():
    # Where atoms leave next to nothing of a row its objective is the penalty, and what is gained
    # by refining codes until violations are small against the remainder alone is next to nothing.
    rng = np.random.default_rng(5)
    atoms = rng.random((20, 50))
    X = rng.exponential(size=(60, 20)) @ atoms
    penalty, wanted = Nonnegative(l1=0.005), 0.1
    codes = encode(X, atoms, penalty, Accuracy(violation=wanted)).values
    remainder = np.linalg.norm(X - codes @ atoms, axis=1)
    least = np.sqrt(0.05 * penalty.l1 * codes.sum(axis=1))
    assert (violation(X, codes, atoms, penalty) * least > wanted * remainder).mean() > 0.5


def test_more_accuracy_never_raises_the_objective():
    rng = np.random.default_rng(3)
    X, atoms, penalty = rng.random((50, 20)), rng.random((15, 20)), Nonnegative(l1=0.05)
    wanted = (
        Accuracy(violation=0.1),
        Accuracy(violation=1e-3),
        Accuracy(gap=1e-6),
        Accuracy(gap=1e-12),
    )
    values = [
        value(X, encode(X, atoms, penalty, accuracy).values, atoms, penalty) for accuracy in wanted
    ]
    for rough, fine in itertools.pairwise(values):
        assert (fine <= rough + 1e-12).all()
    assert (values[-1] < values[0] - 1e-6).any()


@pytest.mark.cover(2)
@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@given(problem=coding_problems(), scale=st.sampled_from([0.0, 0.1, 1.0]))
def test_the_gap_of_any_code_covers_what_it_lacks(penalty, problem, scale):
    """Both twins of the certificate, at codes nobody optimised."""
    X, atoms = problem
    codes = penalty.prox(scale * (X @ np.ones((X.shape[1], len(atoms)))), 0.0)
    rows, gram = Rows(atoms), atoms @ atoms.T
    linear, energy = rows.correlate(X), (X**2).sum(axis=1)
    slope, bound = codes @ gram - linear, DualBound.of(gram, penalty)
    gaps = duality_gap(codes, slope, linear, energy, penalty, bound)
    reached, floor = value(X, codes, atoms, penalty), 0.5 * MIN_OBJECTIVE * energy
    exact = ActiveSet() if penalty.polyhedral else ProjectedGradient()
    best = value(X, encode(X, atoms, penalty, Accuracy(gap=1e-8), exact).values, atoms, penalty)
    assert (reached - best <= gaps * np.maximum(reached, floor) + 1e-8).all()
    if penalty.couples == "entries":
        net = (float(penalty.l1), float(penalty.l2), *map(float, penalty.shape[:2]))
        # The certificate jumps where a slope changes its sign: the twins may stand on either side.
        slope = np.where(np.abs(slope) < 1e-13, 1e-13, slope)
        plain = duality_gap(codes, slope, linear, energy, penalty, bound)
        compiled = [
            certify(h, g + penalty.l2 * h, (c, e, 1e-16), net, tuple(bound))
            for h, g, c, e in zip(codes, slope, linear, energy, strict=True)
        ]
        assert_allclose(compiled, np.maximum(plain, 0), rtol=1e-7, atol=1e-9)


@numba.njit
def certify(h, gradient, sample, net, bound):
    return kernel_gap(h, gradient, sample, net, bound)


# -- degenerate problems
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coder", CODERS[:2], ids=repr)
def test_zero_rows_zero_atoms_and_twins(coder):
    atoms = np.array([[1.0, 0, 0], [0, 0, 0], [1.0, 0, 0], [0, 1.0, 1.0]])
    X = np.array([[0.0, 0, 0], [2.0, 1.0, 1.0]])
    codes = encode(X, atoms, Nonnegative(), EXACT, coder)
    assert_array_equal(codes.values[0], 0)
    assert codes.residual[0] == 0
    assert_allclose(codes.values @ atoms, X, atol=1e-4)
    assert codes.values[1, 1] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [(30, 8), *(pytest.param(shape, marks=pytest.mark.long) for shape in ((100, 40), (60, 60)))],
)
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
@pytest.mark.parametrize(
    "penalty",
    [Free(l1=0.05), Free(l1=1e-3), Nonnegative(), Free(), Box(-1, 1), Simplex()],
    ids=repr,
)
def test_more_atoms_than_features_neither_stall_nor_overflow(shape, dtype, penalty):
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal(shape)
    atoms = (atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).astype(dtype)
    X = np.abs(rng.standard_normal((100, shape[1]))).astype(dtype)
    for accuracy in (Accuracy(violation=0.1), Accuracy(gap=1e-9)):
        codes = encode(X, atoms, penalty, accuracy)
        assert np.isfinite(codes.values).all()
        if accuracy.gap:
            assert codes.residual.max() <= accuracy.gap
    reference = encode(X, atoms, penalty, Accuracy(violation=1e-3), ProjectedGradient())
    ours, theirs = (value(X, c.values, atoms, penalty) for c in (codes, reference))
    assert (ours <= theirs * (1 + 1e-5) + 1e-5).all()


@pytest.mark.parametrize(
    "penalty", [Nonnegative(), Nonnegative(l1=0.1), Free(l1=0.1), Simplex()], ids=repr
)
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-7, 1e-3])
def test_near_twins_of_atoms_end_with_a_certificate(penalty, noise):
    rng = np.random.default_rng(5)
    atoms = rng.random((10, 30))
    atoms = np.concatenate([atoms, atoms + noise * rng.standard_normal(atoms.shape), atoms[:5]])
    X = rng.random((100, 30))
    codes = encode(X, atoms, penalty, Accuracy(gap=1e-9))
    assert codes.residual.max() <= (
        1e-8 if noise == 1e-7 else 1e-9
    )  # taken for dependent, though not quite
    merged = atoms[:20] if noise > 1e-6 else atoms[:10]
    lone = encode(X, merged, penalty, Accuracy(gap=1e-9))
    assert_allclose(
        value(X, codes.values, atoms, penalty), value(X, lone.values, merged, penalty), rtol=1e-6
    )


def test_atoms_equal_up_to_a_few_ulps_on_the_simplex():
    rng = np.random.default_rng(6)
    for _ in range(300):
        r, d = rng.integers(2, 5), rng.integers(1, 3)
        atoms = rng.random((r, d))
        atoms[1] = atoms[0] * (1 + 10.0 ** -rng.integers(11, 16))
        codes = encode(rng.random((5, d)), atoms, Simplex())
        assert np.isfinite(codes.values).all()
        assert_allclose(codes.values.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_trials", [20, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "penalty", [Free(), Nonnegative(), Box(0, 1e4), Free(l1=1e-3), Free(l2=1e-6)], ids=repr
)
def test_near_dependence_never_makes_codes_run_away(penalty, n_trials):
    """Pivots of such atoms are rounding: steps along them are taken only if they go downhill."""
    rng, unsettled = np.random.default_rng(7), 0
    for number in range(n_trials):
        atoms = rng.standard_normal((10, 5))
        atoms[5:] = atoms[:5] + 10.0 ** -rng.integers(2, 9) * rng.standard_normal((5, 5))
        X = rng.standard_normal((6, 5))
        energy, codes = (X**2).sum(axis=1), encode(X, atoms, penalty)
        reached, settled = value(X, codes.values, atoms, penalty), codes.residual <= EXACT.gap
        assert (reached <= 0.5 * energy * (1 + 1e-12)).all()
        unsettled += int((~settled).sum())
        if number % 10 == 0:
            theirs = encode(X, atoms, penalty, Accuracy(gap=1e-5), ProjectedGradient(max_iter=2000))
            offered = value(X, theirs.values, atoms, penalty)
            assert (reached <= offered + np.where(settled, 1e-9, 1e-4) * energy).all()
    assert unsettled <= 0.6 * n_trials  # of six times as many


def test_float32_data_too_large_for_float32_squares_are_coded():
    rng = np.random.default_rng(8)
    X, atoms = rng.random((5, 4)).astype(np.float32), rng.random((3, 4)).astype(np.float32)
    large = encode(X * np.float32(1e25), atoms, Nonnegative(), Accuracy(gap=1e-6))
    plain = encode(X, atoms, Nonnegative(), Accuracy(gap=1e-6))
    assert_allclose(large.values / np.float32(1e25), plain.values, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("penalty", POLYHEDRAL, ids=repr)
def test_zero_rows_from_any_start(penalty):
    atoms = np.array([[1.0, 2.0], [3.0, 0.5], [1.0, 0.3]])
    start = np.array([[0.3, -0.7, 0.2]])
    codes = encode(np.zeros((1, 2)), atoms, penalty, start=start)
    best = enumerate_supports(np.zeros((1, 2)), atoms, penalty)
    assert_allclose(value(np.zeros((1, 2)), codes.values, atoms, penalty), best, atol=1e-12)
    assert codes.residual.max() <= EXACT.gap


@pytest.mark.parametrize("settings", [{"max_rounds": 0}, {"n_sweeps": -1}])
def test_limits_out_of_range_are_refused(settings):
    with pytest.raises(ValueError, match=f"ActiveSet needs {next(iter(settings))} to be a whole"):
        ActiveSet(**settings)


def test_the_factor_follows_entries_that_come_and_go():
    rng = np.random.default_rng(9)
    atoms = rng.standard_normal((40, 60))
    gram, factor, support = atoms @ atoms.T, np.zeros((40, 40)), []
    for _ in range(200):
        if support and rng.random() < 0.4:
            gone = rng.integers(len(support))
            cholesky.drop(factor, len(support), gone)
            support.pop(gone)
        elif len(support) < 40:
            new = rng.choice([k for k in range(40) if k not in support])
            factor[len(support), : len(support)] = gram[new, support]
            assert cholesky.append(factor, len(support), gram[new, new], 1e-12) > 0
            support.append(new)
        right = rng.standard_normal(40)
        solution = right.copy()
        cholesky.solve(factor, len(support), solution)
        inner = gram[np.ix_(support, support)]
        assert_allclose(inner @ solution[: len(support)], right[: len(support)], atol=1e-9)
    factor[len(support), : len(support)] = inner[:, 0]
    assert cholesky.append(factor, len(support), inner[0, 0], 1e-9) <= 1e-9


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_short_and_long_atoms_count_alike(scale):
    rng = np.random.default_rng(0)
    atoms, X = rng.random((6, 20)), rng.random((10, 20))
    scaled = atoms * np.where(np.arange(6) < 3, scale, 1.0)[:, None]
    values = [
        value(X, encode(X, a, Nonnegative()).values, a, Nonnegative()) for a in (atoms, scaled)
    ]
    assert_allclose(values[1], values[0], rtol=1e-6)
    lone = encode(np.c_[0.0, 1.0], np.diag([1, scale]), Nonnegative())
    assert_allclose(lone.values, [[0, 1 / scale]])


@pytest.mark.parametrize("unit", [1e-60, 1e-20, 1e20, 1e60])
def test_units_of_the_data_do_not_matter(unit):
    rng = np.random.default_rng(1)
    atoms, X = rng.random((6, 20)), rng.random((10, 20))
    plain, scaled = (encode(X * u, atoms, Nonnegative(l1=0.1 * u)) for u in (1.0, unit))
    assert_allclose(scaled.values / unit, plain.values, rtol=1e-9, atol=1e-12)
    assert scaled.residual.max() <= EXACT.gap


@pytest.mark.parametrize(
    "penalty", [Nonnegative(), Nonnegative(l1=0.1), Free(l2=0.1), Box(), Simplex()], ids=repr
)
def test_nan_in_a_code_is_never_called_converged(penalty):
    with np.errstate(invalid="ignore"):
        codes = encode(
            np.array([[np.nan, 1.0]]), np.eye(2), penalty, Accuracy(violation=0.1, gap=0.1)
        )
    assert not codes.residual[0] <= 0.1


# -- what every coder keeps
# ------------------------------------------------------------------------------------------


@pytest.mark.cover(2)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("coder", CODERS[:2], ids=repr)
def test_a_start_changes_the_way_and_not_the_end(coder, penalty):
    if isinstance(coder, ActiveSet) and not penalty.polyhedral:
        return
    rng = np.random.default_rng(6)
    X, atoms = rng.random((30, 20)), rng.random((8, 20))
    plain = encode(X, atoms, penalty, EXACT, coder)
    for start in (plain.values, rng.standard_normal(plain.values.shape)):
        kept = start.copy()
        codes = encode(X, atoms, penalty, EXACT, coder, start)
        assert_array_equal(start, kept)
        assert codes.residual.max() <= EXACT.gap
        assert_allclose(codes.values, plain.values, atol=1e-4)
    again = encode(X, atoms, penalty, EXACT, replace(coder, **LEAST[type(coder)]), plain.values)
    assert again.residual.max() <= 2 * EXACT.gap


LEAST = {ActiveSet: {"max_rounds": 1}, ProjectedGradient: {"max_iter": 1}}


def test_row_products_do_not_depend_on_companions():
    rng = np.random.default_rng(0)
    X, atoms = rng.random((300, 50)), Rows(rng.random((31, 50)))
    together = atoms.correlate(X)
    for size in (1, 2, 3, 7, 8, 100):
        apart = np.concatenate([atoms.correlate(X[i : i + size]) for i in range(0, 300, size)])
        assert_allclose(apart, together, rtol=1e-14)


@pytest.mark.cover(2)
@pytest.mark.parametrize("coder", CODERS, ids=repr)
@pytest.mark.parametrize("penalty", [Nonnegative(l1=0.1), Simplex()], ids=repr)
def test_permuting_atoms_permutes_codes(coder, penalty):
    rng = np.random.default_rng(4)
    X, atoms, order = rng.random((10, 9)), rng.random((5, 9)), rng.permutation(5)
    straight, permuted = (
        encode(X, a, penalty, Accuracy(gap=1e-13), coder).values for a in (atoms, atoms[order])
    )
    assert_allclose(straight[:, order], permuted, atol=1e-6)


def test_encode_is_pure():
    rng = np.random.default_rng(5)
    X, atoms = rng.random((10, 9)), rng.random((5, 9))
    kept = X.copy(), atoms.copy()
    encode(X, atoms, Nonnegative())
    assert_array_equal(X, kept[0])
    assert_array_equal(atoms, kept[1])


@pytest.mark.parametrize("penalty", [Nonnegative(l1=0.1), Free(l1=0.1), Simplex()], ids=repr)
def test_sparse_rows_are_coded_as_dense_ones(penalty):
    rng = np.random.default_rng(6)
    X, atoms = rng.random((30, 20)) * (rng.random((30, 20)) < 0.2), rng.random((6, 20))
    for coder in CODERS[:2]:
        dense, sparse = (
            encode(Y, atoms, penalty, Accuracy(gap=1e-13), coder).values
            for Y in (X, sp.csr_array(X))
        )
        assert_allclose(sparse, dense, atol=1e-6)


@pytest.mark.parametrize("penalty", [Nonnegative(), Free(l1=0.1), Simplex()], ids=repr)
@pytest.mark.usefixtures("any_work")
def test_the_same_bits_for_any_number_of_threads(penalty):
    rng = np.random.default_rng(7)
    X, atoms = rng.random((1500, 40)).astype(np.float32), rng.random((25, 40)).astype(np.float32)
    codes = []
    for n_jobs in (1, 2, 3):
        with threads(n_jobs):
            codes.append(encode(X, atoms, penalty, Accuracy(gap=1e-6), ActiveSet()).values)
    assert_array_equal(codes[0], codes[1])
    assert_array_equal(codes[0], codes[2])


def test_kernels_are_their_plain_functions(interpreted):
    """Interpreted, helpers included, on intervals and on the simplex."""
    rng = np.random.default_rng(8)
    X, atoms = rng.random((4, 12)), rng.random((6, 12))
    rows, energy, gram = Rows(atoms), (X**2).sum(axis=1), atoms @ atoms.T
    bound = tuple(DualBound.of(gram, Nonnegative(l1=0.1)))
    nonnegative = (gram, (0.1, 0.01, 0.0, np.inf), bound)
    boxed = (gram, (0.1, 0.01, -0.2, 0.4), bound)
    signed = (gram, (0.1, 0.01, -np.inf, np.inf), bound)
    for module, start, tail in (
        (active_set, np.zeros((4, 6)), (nonnegative, (0.0, 1e-10), (100, 1e-16))),
        (descent, np.zeros((4, 6)), (nonnegative[:2], 0.02, (50, 1e-16))),
        (pivoting, np.zeros((4, 6)), (nonnegative, 1e-10, (30, 1e-16))),
        (pivoting, np.zeros((4, 6)), (boxed, 1e-10, (30, 1e-16))),
        (steepest, np.eye(6)[:4], (signed, 1e-10, (30, 1e-16, 0.5))),
        (simplex, np.eye(6)[:4], ((gram, (0.0, 0.01, 1.0)), (0.0, 1e-10), (100, 1e-16))),
    ):
        results = []
        for plain in (False, True):
            codes, residual = start.copy(), np.empty(4)
            with interpreted() if plain else contextlib.nullcontext():
                module.encode(codes, residual, (rows.correlate(X), energy), *tail)
            results.append((codes, residual))
        assert_allclose(results[0][0], results[1][0], atol=1e-10)
        assert_allclose(results[0][1], results[1][1], atol=1e-8)


@pytest.mark.parametrize("name", ["tile", "lack", "spread"])
def test_arithmetic_on_lanes_is_its_plain_function(name):
    """What is written for LLVM against numpy, on factors whose third lane has two equal atoms."""
    rng = np.random.default_rng(0)
    atoms = rng.random((lanes.LANES, 4, 9))
    atoms[2, 3] = atoms[2, 1]
    whole = np.moveaxis(atoms @ np.swapaxes(atoms, 1, 2), 0, -1).reshape(16, lanes.LANES)
    factor = whole.copy()
    lanes.tile(factor, 0, 0, 0, 4, 1e-11)
    lines = np.concatenate([factor, rng.random((4, lanes.LANES)), whole])
    arguments = {"tile": (20, 20, 0, 4, 1e-11), "lack": (16, 8, 2), "spread": (16, 12, 3)}[name]
    plain, compiled = lines.copy(), lines.copy()
    getattr(lanes, name)(plain, *arguments)
    _run(compiled, name, arguments)
    assert_allclose(compiled, plain, rtol=1e-9, atol=1e-12)
    assert not np.array_equal(plain, lines)
    if name == "tile":
        lower = plain[20:].reshape(4, 4, lanes.LANES)
        assert lower[3, 3, 2] == 0  # the later of the equal atoms
        diagonal = np.diag(1 / lower[[0, 1, 2, 3], [0, 1, 2, 3], 0])
        exact = np.linalg.cholesky(atoms[0] @ atoms[0].T)
        assert_allclose(np.tril(lower[..., 0], -1) + diagonal, exact, rtol=1e-9)


def _run(lines, name, arguments):
    """Call a function on lanes from compiled code."""
    function, n = getattr(lanes, name), len(arguments)
    calls = {
        3: lambda lines, a: function(lines, a[0], a[1], a[2]),
        5: lambda lines, a: function(lines, a[0], a[1], a[2], a[3], a[4]),
    }
    numba.njit(calls[n])(lines, arguments)


def is_open(penalty):
    """Whether the bounds of every entry are zero or infinite."""
    return all(bound == 0 or np.isinf(bound) for bound in penalty.shape[:2])


@pytest.mark.parametrize("n_trials", [6, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("kernel", [pivoting, steepest], ids=["blocks", "steepest edge"])
def test_kernels_end_where_enumeration_does(kernel, n_trials):
    """Without the active set behind them, on atoms of which some repeat others."""
    rng = np.random.default_rng(12)
    penalties = [p for p in INTERVALS if kernel is pivoting or is_open(p)]
    for penalty, trial in itertools.product(penalties, range(n_trials)):
        X, atoms = rng.standard_normal((9, 6)), rng.standard_normal((4, 6))
        if trial % 4 == 0:
            atoms[3] = 2 * atoms[1]
        gram, energy = atoms @ atoms.T, (X**2).sum(axis=1)
        form = (penalty.l1, penalty.l2, *penalty.shape[:2])
        problem = (gram, form, tuple(DualBound.of(gram, penalty)))
        codes, gaps = penalty.prox(np.zeros((9, 4)), 0.0), np.empty(9)
        limits = (30, 2.0**-52) if kernel is pivoting else (30, 2.0**-52, 0.01 * (trial % 2))
        kernel.encode(codes, gaps, (X @ atoms.T, energy), problem, 1e-9, limits)
        ended = gaps < np.inf
        assert ended.all() or (kernel is pivoting and trial % 4 == 0)
        best = enumerate_supports(X, atoms, penalty)[ended]
        assert_allclose(value(X, codes, atoms, penalty)[ended], best, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("l1", "raised"), [(0.0, 0.0), (1e-7, 0.0), (1e-7, 1e-3), (1e-3, 0.0)])
@pytest.mark.parametrize("penalty", [Nonnegative, Free], ids=["nonnegative", "signed"])
def test_many_more_atoms_than_features_are_coded_entry_by_entry(penalty, l1, raised):
    """Smooth atoms with duplicates, next to no penalty: each row ends, no worse than elsewhere."""
    rng = np.random.default_rng(4)
    atoms = np.cumsum(rng.random((90, 12)) - 0.2, axis=1)
    atoms = np.concatenate([atoms, atoms[:10], 3 * atoms[10:15]])
    X = rng.random((20, 90)) ** 8 @ atoms[:90]
    gram, energy = atoms @ atoms.T, (X**2).sum(axis=1)
    form, bound = kernel_form(penalty(l1=l1))[:4], tuple(DualBound.of(gram, penalty(l1=l1)))
    found = []
    limits = (2000, 2.0**-52)
    for kernel, *tail in ((steepest, 1e-9, (*limits, raised)), (active_set, (0.0, 1e-9), limits)):
        codes, gaps, problem = np.zeros((20, 105)), np.empty(20), (gram, form, bound)
        kernel.encode(codes, gaps, (X @ atoms.T, energy), problem, *tail)
        found.append((value(X, codes, atoms, penalty(l1=l1)), gaps))
    (ours, gaps), (theirs, _) = found
    assert gaps.max() <= 1e-9
    assert (ours <= theirs + 1e-9 * np.maximum(theirs, 0.5 * MIN_OBJECTIVE * energy)).all()
    assert encode(X, atoms, penalty(l1=l1), Accuracy(gap=1e-9)).residual.max() <= 1e-9


def test_steps_that_end_too_early_leave_the_code_as_it_was():
    rng = np.random.default_rng(9)
    X, atoms = rng.random((5, 30)), rng.random((20, 30))
    gram, energy = atoms @ atoms.T, (X**2).sum(axis=1)
    problem = (gram, (0.0, 0.0, 0.0, np.inf), tuple(DualBound.of(gram, Nonnegative())))
    codes, gaps = np.eye(20)[:5], np.empty(5)
    steepest.encode(codes, gaps, (X @ atoms.T, energy), problem, 1e-9, (2, 2.0**-52, 0.0))
    assert_array_equal(gaps, np.inf)
    assert_array_equal(codes, np.eye(20)[:5])


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("penalty", [Nonnegative(), Nonnegative(l1=1e-5), Free(l1=0.01)], ids=repr)
def test_every_way_through_the_kernels_ends_with_a_certificate(penalty, few, monkeypatch):
    monkeypatch.setattr(quadratic, "MAX_FREED_SINGLY", few)
    rng = np.random.default_rng(3)
    atoms = np.cumsum(rng.random((200, 20)) - 0.2, axis=1)
    X = np.concatenate([rng.random((10, 200)) @ atoms, rng.random((10, 20))])
    codes = encode(X, atoms, penalty, Accuracy(gap=1e-9))
    assert codes.residual.max() <= 1e-9


@pytest.mark.parametrize("kind", [Nonnegative, Free])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_sparse_rows_free_single_entries_and_others_are_pivoted(kind, l2, monkeypatch):
    """What is sparse is said by l1 over the length of a row, so no other row matters."""
    rng, pivoted, pivot = np.random.default_rng(5), [], pivoting.encode
    atoms = rng.random((100, 30))
    X = rng.gamma(0.1, size=(64, 100)) @ atoms
    X *= rng.uniform(1, 30, (64, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    monkeypatch.setattr(
        pivoting, "encode", lambda h, *rest: pivoted.append(len(h)) or pivot(h, *rest)
    )
    found = []
    for most in (quadratic.MAX_SPARSE, 99):
        monkeypatch.setattr(quadratic, "MAX_SPARSE", most)
        found.append(encode(X, atoms, kind(l1=3.0, l2=l2), Accuracy(gap=1e-12)))
    assert 5 < pivoted[0] < 59
    assert pivoted[1:] == [64]
    assert_allclose(found[0].values, found[1].values, atol=1e-6)
    assert max(codes.residual.max() for codes in found) <= 1e-12


def test_limits_on_work_are_kept_and_told():
    rng = np.random.default_rng(9)
    X, atoms = rng.random((5, 30)), rng.random((20, 30))
    for coder in (ProjectedGradient(max_iter=3), ActiveSet(max_rounds=1)):
        codes = encode(X, atoms, Simplex(), Accuracy(gap=1e-12), coder)
        assert codes.residual.max() > 1e-12
        assert_allclose(codes.values.sum(axis=1), 1)
