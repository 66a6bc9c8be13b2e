"""Sets and penalties: the proximal operator against a grid, projections, values."""

import itertools
from dataclasses import fields

import numba
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import PENALTIES, matrix

import atomstream.penalties as penalties
from atomstream._kernels.block_coordinate import _prox
from atomstream.testing import check_penalty

parametrize = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


@numba.njit
def compiled_prox(row, step, penalty):
    """Call the part of kernels from compiled code: from Python it is a plain function."""
    _prox(row, step, penalty)


def test_every_set_is_in_the_list():
    public = {getattr(penalties, name) for name in penalties.__all__}
    # These tie the rows together: tested in test_subgradient.py and test_cp.py. Two are not convex:
    # tested in test_matching.py and below, and in test_sphere.py.
    public -= {penalties.Penalty, penalties.Covering, penalties.NormBall}
    public -= {penalties.TopK, penalties.UnitSphere}
    assert {type(part) for part in PENALTIES} == public
    assert len(PENALTIES) == 17


def candidates(penalty, n=41):
    """Points of the set in two dimensions, fine near the corners."""
    if isinstance(penalty, penalties.Simplex):
        share = np.linspace(0, penalty.total, 2001)
        return np.stack([share, penalty.total - share], axis=1)
    line = np.unique(np.concatenate([np.linspace(-3, 3, n), [0.0, 0.25, 0.75, 1.0, -0.5]]))
    points = np.array(list(itertools.product(line, line)))
    angles = np.linspace(0, 2 * np.pi, 721)
    points = np.concatenate([points, np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    return points[np.isfinite(penalty.value(points))]


@pytest.mark.cover(2)
@pytest.mark.slow
@parametrize
@pytest.mark.parametrize("step", [0.0, 0.7, 3.0])
@given(X=matrix(4, 2))
def test_prox_beats_a_grid_of_points(penalty, step, X):
    points = candidates(penalty)
    values = penalty.value(points)
    best = penalty.prox(X, step)
    for x, u in zip(X, best, strict=True):
        assert np.isfinite(penalty.value(u[None]))
        reached = 0.5 * ((u - x) ** 2).sum() + step * penalty.value(u[None])[0]
        offered = 0.5 * ((points - x) ** 2).sum(axis=1) + step * values
        assert reached <= offered.min() + 1e-5


@pytest.mark.slow
@parametrize
@given(X=matrix(3, 2))
def test_conjugate_is_the_largest_of_a_grid_of_points(penalty, X):
    points = candidates(penalty)
    offered = X @ points.T - penalty.value(points)
    conjugate = penalty.conjugate(X)
    assert (offered.max(axis=1) <= conjugate + 1e-9).all()
    for x, value in zip(X, conjugate, strict=True):
        if np.isfinite(
            value
        ):  # a grid step of 0.15, a slope of at most 3 + l1, and points out to 3
            reached = penalty.prox(1e9 * x[None], 1e9)[0]  # as the step grows: the maximiser
            near = x @ reached - penalty.value(reached[None])[0]
            assert value == pytest.approx(near, abs=1e-6)


@parametrize
@pytest.mark.parametrize(("seed", "n_features"), [(0, 1), (1, 2), (2, 6)])
def test_every_set_is_what_its_members_say(penalty, seed, n_features):
    check_penalty(penalty, seed=seed, n_features=n_features)


@pytest.mark.parametrize("penalty", [penalties.TopK(2), penalties.UnitSphere()], ids=repr)
def test_sets_that_are_not_convex_are_what_they_say(penalty):
    check_penalty(penalty)


@parametrize
def test_normalizing_takes_rows_of_any_size(penalty):
    X = np.abs(np.random.default_rng(0).standard_normal((4, 6)))
    X[1] = 0
    for power in (-1000, -500, -200, 200, 500, 1000):
        assert_array_equal(penalty.normalize(np.ldexp(X, power)), penalty.normalize(X))
    assert np.isfinite(penalty.normalize(X)).all()


@parametrize
def test_value_is_the_elastic_net_inside_and_infinite_outside(penalty):
    x = penalty.prox(np.array([[0.3, 0.4, 0.5]]), 0.0)
    net = penalty.l1 * np.abs(x).sum() + 0.5 * penalty.l2 * (x**2).sum()
    assert penalty.value(x)[0] == pytest.approx(net)
    if not isinstance(penalty, penalties.Free):
        assert np.isinf(penalty.value(np.array([[5.0, -5.0, 9.0]]))[0])


@pytest.mark.slow
@parametrize
@given(X=matrix(3, 6))
def test_compiled_prox_is_the_plain_one(penalty, X):
    for step in (0.3, 2.0):
        expected = penalty.prox(X, step)
        for x, y in zip(X.copy(), expected, strict=True):
            compiled_prox(
                x, step, (float(penalty.l1), float(penalty.l2), *map(float, penalty.shape))
            )
            assert_allclose(x, y, atol=1e-12)


@parametrize
def test_prox_keeps_float32(penalty):
    x = np.array([[0.5, -2.0, 1.0]], dtype=np.float32)
    assert penalty.prox(x, 0.5).dtype == np.float32
    assert penalty.normalize(x).dtype == np.float32


def test_parts_print_compare_and_refuse():
    assert penalties.Box(low=0, high=2) == penalties.Box(low=0, high=2) != penalties.Box()
    assert "l1=0.3" in repr(penalties.Free(l1=0.3))
    assert all({"l1", "l2"} <= {f.name for f in fields(part)} for part in PENALTIES)
    for total in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="Simplex needs total to be a number above 0, got"):
            penalties.Simplex(total=total)
    with pytest.raises(ValueError, match="low < high, got low=2"):
        penalties.Box(low=2, high=1)
    with pytest.raises(ValueError, match=r"Nonnegative needs l1 to be a number from 0 .*got -1"):
        penalties.Nonnegative(l1=-1)
    with pytest.raises(ValueError, match="total to be a number above 0, got -1"):
        penalties.Simplex(total=-1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_simplex_projection_of_large_rows(dtype):
    row = np.array([[3e7, 0, 1]], dtype=dtype)
    assert_allclose(penalties.Simplex().prox(row, 0.0), [[1, 0, 0]])
    double = row[0].astype(float)
    compiled_prox(double, 1.0, (0.0, 0.0, 0.0, np.inf, np.inf, 1.0))
    assert_allclose(double, [1, 0, 0])


@given(X=matrix(3, 4))
@pytest.mark.parametrize("sign", ["free", "nonnegative"])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_largest_entries_are_the_nearest_point_of_the_set(k, sign, X):
    penalty = penalties.TopK(k, sign)
    nearest = penalty.prox(X, 0.7)
    assert np.isfinite(penalty.value(nearest)).all()
    whole = np.maximum(X, 0) if sign == "nonnegative" else X
    for x, target, u in zip(X, whole, nearest, strict=True):
        offered = [
            ((x - target * np.isin(np.arange(4), some)) ** 2).sum()
            for some in itertools.combinations(range(4), min(k, 4))
        ]
        assert ((x - u) ** 2).sum() <= min(offered) + 1e-12
