"""The names that scikit-learn has for coders: a sentence each, and codes that are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import sparse_encode as their_encode

from atomstream import OnlineDictionaryLearning, OnlineNMF, sparse_encode
from atomstream.coders import pursue
from atomstream.estimators.registry import CODERS, FOREIGN, SETS


def problem():
    rng = np.random.default_rng(0)
    D = rng.standard_normal((12, 20))
    return rng.standard_normal((30, 20)), D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["omp", "lars", "lasso_lars", "lasso_cd", "threshold", "cd", "mu"])
@pytest.mark.parametrize("argument", ["coder", "codes"])
def test_their_names_say_what_to_write(name, argument):
    for kind in (OnlineNMF, OnlineDictionaryLearning):
        with pytest.raises(ValueError, match=f"{argument}='{name}' is a name of scikit-learn: "):
            kind(3, **{argument: name}).fit(np.eye(4))
    assert not {name} & {*CODERS, *SETS}
    assert name in FOREIGN


def test_other_names_are_unknown_as_before():
    with pytest.raises(ValueError, match="coder='nonsense' is unknown; choose one of active_set"):
        OnlineNMF(3, coder="nonsense").fit(np.eye(4))


@pytest.mark.parametrize("algorithm", ["lasso_lars", "lasso_cd"])
def test_the_lasso_has_one_minimum(algorithm):
    X, D = problem()
    theirs = their_encode(X, D, algorithm=algorithm, alpha=0.2, max_iter=10_000)
    assert_allclose(sparse_encode(X, D, alpha=0.2, sign="free"), theirs, atol=1e-3)


def test_pursuit_is_omp():
    X, D = problem()
    theirs = their_encode(X, D, algorithm="omp", n_nonzero_coefs=3)
    assert_allclose(pursue(X, D, 0.0, 3), theirs, atol=1e-8)


def test_thresholds_are_codes_of_atoms_at_right_angles():
    X, _ = problem()
    D = np.linalg.qr(np.random.default_rng(1).standard_normal((20, 20)))[0][:12]
    theirs = their_encode(X, D, algorithm="threshold", alpha=0.2)
    assert_allclose(sparse_encode(X, D, alpha=0.2, sign="free"), theirs, atol=1e-6)
