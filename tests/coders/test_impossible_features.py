"""Features that no atom has: no code changes what they cost, so they change no code."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import LOSSES

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.losses import Alpha, Beta, Mahalanobis

ATOMS = np.random.default_rng(0).dirichlet(np.ones(8), 3)
# Errors of a trimmed loss are judged beside each other, whatever the features.
APART = [x for x in LOSSES if not (isinstance(x, Mahalanobis) or x.trims)]
APART += [Beta(-2.0), Beta(-4.0), Beta(6.0), Alpha(-2.0), Alpha(-4.0)]
CODERS = ["auto", "multiplicative", "projected_subgradient", "projected_gradient", "active_set"]
PLACES = [0, 4, 9]  # of features that are 0 in all atoms


def samples():
    rng = np.random.default_rng(1)
    return rng.gamma(2, 10, size=(20, 3)) @ ATOMS * rng.gamma(20, 1 / 20, size=(20, 8))


def widened(array, fill=0.0):
    wide = np.full((len(array), 11), fill, array.dtype)
    wide[:, np.setdiff1d(np.arange(11), PLACES)] = array
    return wide


def known(atoms, dtype, loss, coder):
    """Return a model of atoms; None where the coder is not for the loss."""
    try:
        return OnlineNMF.from_components(atoms.astype(dtype), loss=loss, coder=coder)
    except TypeError:
        return None


@pytest.mark.parametrize("loss", APART, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_that_no_atom_has_change_no_code(loss, dtype):
    X = samples().astype(dtype)
    for coder in CODERS:
        model, wide = (known(atoms, dtype, loss, coder) for atoms in (ATOMS, widened(ATOMS)))
        if model is None:
            continue
        codes = model.transform(X)
        for fill in (0.0, 1.0):
            with np.errstate(divide="raise", invalid="raise"):
                found = wide.transform(widened(X, fill))
            assert_allclose(found, codes, atol=1e-4 * codes.max())


@pytest.mark.parametrize("loss", APART, ids=repr)
@pytest.mark.parametrize("updater", ["auto", "spsg"])
@pytest.mark.filterwarnings("ignore::atomstream.NotConvergedWarning")
def test_rows_and_features_of_zeros_divide_nothing_by_zero(loss, updater):
    X, atoms = samples(), np.vstack([widened(ATOMS), np.zeros(11)])
    X[3] = 0
    model = OnlineNMF.from_components(atoms, loss=loss, updater=updater, random_state=0)
    with np.errstate(divide="raise", invalid="raise"):
        for _ in range(4):
            model.partial_fit(widened(X))
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(widened(X))).all()


@pytest.mark.parametrize("codes", ["simplex", "box", "nonnegative"])
@pytest.mark.parametrize("loss", ["kl", "hellinger", "beta:0.5", "alpha:2", "is"])
def test_steps_from_rows_of_zeros_are_finite(codes, loss):
    model = OnlineNMF.from_components(
        ATOMS, loss=loss, codes=codes, coder="projected_subgradient", alpha=0.0
    )
    X = samples()
    X[3] = 0
    with np.errstate(all="raise", under="ignore"):
        model.partial_fit(X)
    found = model.transform(X)
    assert np.isfinite(found).all()
    alone = model.transform(X[3:4])
    assert_allclose(found[3:4], alone, atol=1e-9)


@pytest.mark.parametrize("atoms", ["free", "unit_ball", "nonnegative", "box", "simplex"])
def test_known_atoms_of_any_set_are_learned_on(atoms):
    model = OnlineDictionaryLearning.from_components(ATOMS, atoms=atoms, codes="nonnegative")
    model.partial_fit(samples())
    assert np.isfinite(model.components_).all()
