"""Learning in float32 ends where learning in float64 does; codes are certified in float64."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineNMF, sparse_encode
from atomstream._kernels.single import certify
from atomstream.base import threads
from atomstream.coders import ActiveSet, quadratic, rounded
from atomstream.coders.certificates import DualBound, duality_gap
from atomstream.dictionaries import Rows
from atomstream.losses import Squared
from atomstream.penalties import Box, Free, Nonnegative
from atomstream.penalties.base import kernel_form
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy
from atomstream.problem.objective import Objective

PROBLEMS = {(600, 30, 6): 0, (600, 60, 6): 9, (300, 200, 5): 7}  # rows, features, atoms; seeds


def data(n, d, r, seed):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, r)) * (rng.random((n, r)) < 0.4)
    atoms = rng.random((r, d)) * (rng.random((r, d)) < 0.5)
    return codes @ atoms + 0.01 * rng.random((n, d))


@pytest.mark.parametrize("shape", PROBLEMS)
def test_float32_learns_as_well_as_float64(shape, room):
    X, r = data(*shape, PROBLEMS[shape]), shape[2]
    objectives = []
    for dtype in (np.float64, np.float32):
        settings = {"random_state": 0, "n_epochs": 3, "batch_size": 64}
        atoms = OnlineNMF(r, **settings).fit(X.astype(dtype)).components_
        judge = OnlineNMF.from_components(atoms.astype(np.float64))
        objectives.append(judge.objective(X))
    room.ratio(objectives[1] / objectives[0], at_most=1.02)


def wide(seed, n=40, n_atoms=100, n_features=320):
    """Return float32 rows of lengths between 1 and 30, under atoms of length one."""
    rng = np.random.default_rng(seed)
    atoms = rng.random((n_atoms, n_features)) ** 3
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    X = rng.gamma(0.1, size=(n, n_atoms)) @ atoms + 0.02 * rng.random((n, n_features))
    X *= rng.uniform(1, 30, (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), atoms.astype(np.float32)


def exact_gaps(codes, X, atoms, penalty):
    """Return the gaps of codes, with all products in float64."""
    X, atoms = X.astype(np.float64), atoms.astype(np.float64)
    linear, gram = X @ atoms.T, atoms @ atoms.T
    bound = DualBound.of(gram, penalty)
    return duality_gap(codes, codes @ gram - linear, linear, (X**2).sum(axis=1), penalty, bound)


@pytest.mark.parametrize(
    "penalty",
    [Nonnegative(l1=0.5), Free(l1=0.3), Free(l1=0.3, l2=0.1), Box(-0.2, 0.4, l1=0.3)],
    ids=repr,
)
def test_gaps_do_not_depend_on_what_products_are_off(penalty):
    """Errors a thousand times those of float32, as large as they are said to be at most."""
    rng = np.random.default_rng(2)
    X, atoms = wide(2, n_atoms=60)
    # Zeros are nearly the codes of half of the rows: one slope is a little beyond l1.
    X[20:] *= penalty.l1 * 1.0001 / (X[20:] @ atoms.T).max(axis=1, keepdims=True)
    X[30:] *= -1 if penalty.shape.low < 0 else 1
    off, lengths = 3e-3, np.linalg.norm(X.astype(float), axis=1)
    exact, gram = X.astype(float) @ atoms.astype(float).T, atoms.astype(float) @ atoms.T
    signs = rng.choice([-1, -0.9, 0.9, 1], exact.shape)
    signs[20:] = -np.sign(exact[20:])
    linear = exact + off * lengths[:, None] * signs
    form, bound = kernel_form(penalty)[:4], tuple(DualBound.of(gram, penalty))
    codes = penalty.prox(rng.choice([0, 0, 0, 0.01], exact.shape) * exact, 0.0)
    codes[20:], gaps = 0.0, np.zeros(len(X))
    for fixed in (X, atoms):
        fixed.flags.writeable = False
    samples = (linear, lengths**2)
    certify(codes, gaps, samples, (gram, form, bound), (X, atoms, off * (1 + 1e-6)))
    assert_allclose(gaps, exact_gaps(codes, X, atoms, penalty), rtol=1e-9)
    assert 0.02 < (linear == exact).mean() < 0.9


def encode(X, atoms, penalty, start=None):
    objective = Objective(Squared(), penalty, Free())
    return ActiveSet().encode(Batch(X), Rows(atoms), objective, Accuracy(gap=1e-6), start)


@pytest.fixture
def exact_products(monkeypatch):
    """How many rows had all their products formed in float64."""
    rows, form = [], quadratic._products

    def counted(dictionary, X, dtype):
        rows.append(len(X))
        return form(dictionary, X, dtype)

    monkeypatch.setattr(quadratic, "_products", counted)
    return rows


@pytest.mark.parametrize("n_atoms", [40, 100, 150])
@pytest.mark.parametrize("kind", [Nonnegative, Free])
def test_sparse_float32_rows_are_certified_without_exact_products(kind, n_atoms, exact_products):
    """Short rows are sparse at this l1, long ones are not: some go each way."""
    X, atoms = wide(3, n=600, n_atoms=n_atoms)
    penalty = kind(l1=1.0)
    codes = encode(X, atoms, penalty)
    assert 60 < sum(exact_products) < 540
    assert codes.values.dtype == np.float32
    assert codes.residual.max() <= 1e-6
    wide_codes = encode(X.astype(np.float64), atoms.astype(np.float64), penalty).values
    assert_allclose(codes.values, wide_codes, atol=2e-3)
    gaps = exact_gaps(codes.values.astype(np.float64), X, atoms, penalty)
    assert gaps.max() <= 1e-5  # of the codes in float32
    start = encode(X, atoms, penalty, start=codes.values)
    assert_allclose(start.values, codes.values, atol=2e-3)
    assert start.residual.max() <= 1e-6


def test_codes_from_rounded_products_do_not_depend_on_companions_or_threads(any_work):
    X, atoms = wide(4, n=700)
    whole = encode(X, atoms, Nonnegative(l1=1.0))
    for n_jobs in (2, 3):
        with threads(n_jobs):
            assert_array_equal(encode(X, atoms, Nonnegative(l1=1.0)).values, whole.values)
    for rows in (slice(5, 6), slice(3, 30), slice(600, 90, -3)):
        some = encode(X[rows], atoms, Nonnegative(l1=1.0))
        assert_allclose(some.values, whole.values[rows], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("unit", [1e-22, 1e-12, 1e12, 1e18])
def test_products_that_float32_cannot_hold_are_exact(unit):
    X, atoms = wide(5)
    codes = encode(X * np.float32(unit), atoms * np.float32(unit), Nonnegative(l1=unit**2))
    plain = encode(X, atoms, Nonnegative(l1=1.0))
    assert_allclose(codes.values, plain.values, atol=2e-3)
    assert codes.residual.max() <= 1e-6


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_any_layout_are_coded_alike(order):
    X, atoms = wide(6)
    plain = sparse_encode(X, atoms, alpha=1.0)
    other = np.asarray(X, order=order)
    other.flags.writeable = False
    assert_allclose(sparse_encode(other, atoms, alpha=1.0), plain, atol=1e-5)
    assert len(certify.signatures) == 1


def test_rounded_products_are_left_alone_where_they_would_not_pay():
    X, atoms = wide(7, n=20)

    def pays(X, atoms, l1=1.0, **batch):
        return rounded.pays(Batch(X, **batch), Rows(atoms), l1)

    assert pays(X, atoms)
    assert not pays(X.astype(float), atoms)
    assert not pays(X, atoms.astype(float))
    assert not pays(X, atoms, l1=0.0)
    assert not pays(X[:, :200], atoms[:, :200])
    assert not pays(X, np.concatenate([atoms, atoms]))
    assert not pays(X, atoms, mask=X > 0.1)
    assert not pays(sp.csr_array(X), atoms)
