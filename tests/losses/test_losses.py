"""Losses against finite differences and the laws every loss obeys."""

from inspect import isabstract

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import LOSSES

import atomstream.losses as losses
from atomstream.dictionaries import Rows
from atomstream.losses import (
    L1,
    L2,
    Alpha,
    Beta,
    Hellinger,
    Huber,
    ItakuraSaito,
    KullbackLeibler,
    Mahalanobis,
    Squared,
)
from atomstream.penalties import Free
from atomstream.problem.batch import Batch
from atomstream.problem.objective import Objective
from atomstream.testing import check_loss

parametrize = pytest.mark.parametrize("loss", LOSSES, ids=repr)
seeds = given(seed=st.integers(0, 2**32 - 1))


def pair(loss, seed, shape=(4, 3), scale=2.0):
    """Data and reconstructions in the domain of the loss, over two decades."""
    rng = np.random.default_rng(seed)
    X, Y = (scale * 10 ** rng.uniform(-1, 1, shape) for _ in range(2))
    if loss.data == "real":
        X *= rng.choice([-1, 1], shape)
    if loss.data == "nonnegative":
        X[rng.random(shape) < 0.3] = 0
    if loss.reconstruction == "real":
        Y *= rng.choice([-1, 1], shape)
    return X, Y


def test_every_loss_is_in_the_list():
    public = {getattr(losses, name) for name in losses.__all__}
    classes = {part for part in public if isinstance(part, type) and not isabstract(part)}
    assert {type(part) for part in LOSSES} == classes


@pytest.mark.cover(2)
@parametrize
@pytest.mark.parametrize("seed", range(5))
def test_every_loss_is_what_its_members_say(loss, seed):
    check_loss(loss, seed=seed)


@parametrize
def test_only_some_losses_have_kinks(loss):
    assert loss.has_kinks == (type(loss) in (L1, L2, Mahalanobis))


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.convex], ids=repr)
def test_a_loss_that_is_said_not_to_be_convex_is_not(loss):
    X, Y = pair(loss, 0, shape=(1000, 3))
    if loss.trims:  # flat beyond the threshold, and so below its tangents there
        above = loss.value(X, Y) - loss.value(X, X + 0.5) - 0.5 * (Y - X - 0.5).sum(axis=1)
        assert (above < 0).any()
        return
    assert (loss.curvature(X, Y) < 0).any()


@parametrize
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_dense_also_where_almost_nothing_is_left(loss, dtype):
    rng = np.random.default_rng(0)
    codes, atoms = rng.random((20, 4)).astype(dtype), rng.random((4, 3)).astype(dtype)
    for X in (rng.random((20, 3)), codes @ atoms + 1e-3 * rng.random((20, 3))):
        if loss.data != "positive":
            X[rng.random(X.shape) < 0.4] = 0
        X = X.astype(dtype)
        objective = Objective(loss, Free(), Free())
        sparse = objective.losses(Batch(sp.csr_array(X)), codes, Rows(atoms))
        expected = loss.value(X.astype(float), codes.astype(float) @ atoms.astype(float))
        # In float32 what is left of a sum is known up to the rounding of the whole sum.
        rtol, atol = (1e-3, 1e-5) if dtype == np.float32 else (1e-7, 0)
        assert_allclose(sparse, expected, rtol=rtol, atol=atol)


def test_where_zeros_ask_for_sums_no_dense_product_is_made(monkeypatch):
    rng = np.random.default_rng(0)
    X = Batch(sp.random_array((300, 20_000), density=1e-3, rng=rng, format="csr"))
    dictionary = Rows(rng.random((5, 20_000)))
    monkeypatch.setattr("atomstream.problem.products.DenseProducts", None)
    for loss in (KullbackLeibler(), Hellinger(), Alpha(0.3)):
        objective = Objective(loss, Free(), Free())
        assert np.isfinite(objective.losses(X, rng.random((300, 5)), dictionary)).all()


@pytest.mark.parametrize(
    ("family", "limit"),
    [
        (Beta(2.0), Squared()),
        (Beta(1.0), KullbackLeibler()),
        (Beta(0.0), ItakuraSaito()),
        (Alpha(1.0), KullbackLeibler()),
        (Alpha(0.5), Hellinger()),
        (Mahalanobis(np.eye(3)), Squared()),
        (Huber(1e6), Squared()),
    ],
    ids=repr,
)
@seeds
def test_families_meet_their_members(family, limit, seed):
    X, Y = pair(ItakuraSaito(), seed)
    assert_allclose(family.value(X, Y), limit.value(X, Y), rtol=1e-9, atol=1e-12)
    assert_allclose(family.gradient(X, Y), limit.gradient(X, Y), rtol=1e-9, atol=1e-12)
    if not family.has_kinks:
        assert_allclose(family.curvature(X, Y), limit.curvature(X, Y), rtol=1e-9)


@pytest.mark.parametrize("family", [Beta, Alpha])
@pytest.mark.parametrize("at", [0.0, 1.0])
def test_families_are_continuous_at_their_limits(family, at):
    X, Y = pair(ItakuraSaito(), 0)
    limit = family(at)
    for step in (1e-6, -1e-6, 1e-9, -1e-9):
        near = family(at + step)
        assert_allclose(near.value(X, Y), limit.value(X, Y), rtol=1e-4)
        assert_allclose(near.gradient(X, Y), limit.gradient(X, Y), rtol=1e-4, atol=1e-6)
    assert Alpha(0.0).value(X, Y) == pytest.approx(KullbackLeibler().value(Y, X))


def test_the_slopes_at_zero_are_those_of_the_losses():
    y = np.random.default_rng(0).random((5, 3)) + 0.1
    for loss in LOSSES:
        if loss.slope_at_zero is not None:
            assert_allclose(loss.value(np.zeros_like(y), y), loss.slope_at_zero * y.sum(axis=1))
            assert_allclose(loss.gradient(np.zeros_like(y), y), loss.slope_at_zero)
        elif loss.data == "nonnegative":
            slopes = loss.gradient(np.zeros_like(y), y)
            assert np.ptp(slopes) > 0


def test_itakura_saito_far_below_the_reconstruction_is_what_logarithms_say():
    x = np.array([[5e-324, 1e-300, 1e-40, 1e-17, 1e-15, 1e-4, 0.5, 1.0, 2.0]])
    for y in (1.0, 1e-3, 1e3):
        expected = (x / y - np.log(x) + np.log(y) - 1).sum(axis=1)
        found = ItakuraSaito().value(x, np.full_like(x, y))
        assert_allclose(found, expected, rtol=1e-12)


def test_itakura_saito_is_infinite_at_zeros_without_a_word():
    assert ItakuraSaito().value(np.array([[0.0, 1.0]]), np.ones((1, 2))) == np.inf


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Huber(0.0), "delta to be a number above 0, got 0.0"),
        (lambda: Huber(np.inf), "delta to be a number above 0, got inf"),
        (lambda: Beta(np.nan), "beta to be a number from .*, got nan"),
        (lambda: Alpha(np.inf), "alpha to be a number from .*, got inf"),
        (lambda: Mahalanobis(np.ones(3)), "finite square matrix A"),
        (lambda: Mahalanobis([[1.0, 2.0], [0.0, 1.0]]), "symmetric matrix A"),
        (
            lambda: Mahalanobis([[1.0, 2.0], [2.0, 1.0]]),
            "without negative eigenvalues, the smallest is -1",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_losses_are_comparable_and_can_be_saved(tmp_path):
    from atomstream.files.codec import Decoder, Encoder

    for loss in LOSSES:
        encoder = Encoder()
        encoded = encoder.encode(loss)
        again = Decoder(encoder.arrays, []).decode(encoded)
        assert again == loss
        assert hash(again) == hash(loss)
    assert Mahalanobis(np.eye(2)) != Mahalanobis(2 * np.eye(2))
    X, Y = pair(LOSSES[1], 0)
    assert_array_equal(Decoder(encoder.arrays, []).decode(encoded).value(X, Y), loss.value(X, Y))
