"""Online NMF under every divergence: the public calls, and the laws that the squared loss does not test.

model = OnlineNMF(20, loss="kl").fit(counts)           # sparse or dense; atoms are distributions over features
OnlineNMF(20, loss=Beta(0.5)).fit(spectra)             # a family's member, as a part
OnlineNMF(20, loss="is", zeros="refuse")               # zeros are raised to 1e-8 unless refused
OnlineNMF(20, loss="huber", method="spsg")             # the paper's projected subgradient steps
robust = OnlineNMF(20, loss=Huber(30.0)).fit(pictures)
robust.clean(pictures), robust.outliers(pictures)      # what the model explains, and what goes beyond it
"""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from strategies import LOSSES

from atomstream import OnlineNMF
from atomstream.majorisers import power_step
from atomstream.penalties import Box, Nonnegative, NonnegativeBall, Simplex

SPLIT = [loss for loss in LOSSES if loss.exponents is not None]
NAMES = ["squared", "kl", "is", "hellinger", "huber", "l1", "l2"]
parametrize = pytest.mark.parametrize("loss", SPLIT, ids=repr)


def counts(n=120, d=15, seed=0, total=60):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.3), 4)
    return np.array([rng.multinomial(total, p) for p in rng.dirichlet(np.full(4, 0.3), n) @ topics]).astype(float)


def positive(n=120, d=15, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.exponential(size=(n, 4)) @ rng.random((4, d)) + 0.1) * rng.gamma(50, 1 / 50, (n, d))


@parametrize
def test_the_split_is_the_gradient_in_two_parts(loss):
    X, Y = positive(20, 6), positive(20, 6, seed=1)
    plus, minus = loss.split(X, Y)
    assert np.min(plus) >= 0
    assert np.min(minus) >= 0
    assert_allclose(np.broadcast_to(plus, Y.shape) - minus, loss.gradient(X, Y), rtol=1e-9, atol=1e-12)


@parametrize
@pytest.mark.parametrize("penalty", [Nonnegative(), Nonnegative(l1=0.5), Nonnegative(l1=0.2, l2=0.7), Box(0.01, 2.0)])
def test_a_power_step_never_raises_the_loss(loss, penalty):
    rng = np.random.default_rng(0)
    X, atoms = positive(30, 6), rng.random((4, 6)) + 0.01
    codes = penalty.prox(rng.random((30, 4)), 0.0)

    def objective(codes):
        return loss.value(X, codes @ atoms) + penalty.value(codes)

    for _ in range(20):
        plus, minus = (np.broadcast_to(part, X.shape) @ atoms.T for part in loss.split(X, codes @ atoms))
        after = power_step(codes, plus, minus, loss.exponents, penalty)
        assert (objective(after) <= objective(codes) * (1 + 1e-9) + 1e-9).all()
        codes = after


@parametrize
@pytest.mark.parametrize("penalty", [Simplex(), Simplex(2.0), NonnegativeBall()])
def test_a_power_step_on_coupled_rows_never_raises_the_loss_and_stays_inside(loss, penalty):
    rng = np.random.default_rng(0)
    X, codes = positive(30, 6), rng.random((30, 4)) + 0.01
    atoms = penalty.normalize(rng.random((4, 6)))
    for _ in range(20):
        before = loss.value(X, codes @ atoms).sum()
        plus, minus = (codes.T @ np.broadcast_to(part, X.shape) for part in loss.split(X, codes @ atoms))
        atoms = power_step(atoms, plus, minus, loss.exponents, penalty)
        assert np.isfinite(penalty.value(atoms)).all()
        assert loss.value(X, codes @ atoms).sum() <= before * (1 + 1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["auto", "spsg"])
def test_learning_by_name_lowers_the_objective(name, method):
    X = positive()
    model = OnlineNMF(4, loss=name, method=method, batch_size=30, n_epochs=1, random_state=0).fit(X)
    first = model.objective(X)
    for _ in range(20):
        for start in range(0, 120, 30):
            model.partial_fit(X[start : start + 30])
    assert model.objective(X) < first
    assert np.isfinite(model.transform(X)).all()


def test_sparse_counts_give_the_same_model_as_dense_ones():
    X = counts()
    dense = OnlineNMF(4, loss="kl", batch_size=30, n_epochs=3, random_state=0).fit(X)
    sparse = OnlineNMF(4, loss="kl", batch_size=30, n_epochs=3, random_state=0).fit(sp.csr_array(X))
    assert_allclose(sparse.components_, dense.components_, rtol=1e-6, atol=1e-9)
    assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), rtol=1e-5, atol=1e-6)
