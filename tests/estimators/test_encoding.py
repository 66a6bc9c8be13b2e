"""sparse_encode, sparse codes out of models, codes of streams: the public border of coding."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import NotConvergedWarning, OnlineDictionaryLearning, OnlineNMF, sparse_encode
from atomstream.coders import ActiveSet
from atomstream.penalties import Box, Simplex, TopK, UnitBall

RNG = np.random.default_rng(0)
X, ATOMS = RNG.random((60, 20)), RNG.random((12, 20))


def test_codes_are_those_of_a_model_with_the_same_atoms():
    model = OnlineNMF.from_components(ATOMS, alpha=0.3, ridge=0.1)
    assert_allclose(sparse_encode(X, ATOMS, alpha=0.3, ridge=0.1), model.transform(X), atol=1e-12)
    signed = OnlineDictionaryLearning.from_components(ATOMS, alpha=0.3)
    codes = sparse_encode(X, ATOMS, alpha=0.3, sign="free")
    assert_allclose(codes, signed.transform(X), atol=1e-12)
    assert codes.min() < 0


@pytest.mark.parametrize(
    ("penalty", "low", "high"),
    [(Box(0.1, 0.2), 0.1, 0.2), (Simplex(), 0.0, 1.0), (UnitBall(l1=0.1), -1.0, 1.0)],
)
def test_any_set_of_codes_is_taken(penalty, low, high):
    codes = sparse_encode(X, ATOMS, sign=penalty)
    assert codes.min() >= low - 1e-12
    assert codes.max() <= high + 1e-12
    assert np.isfinite(penalty.value(codes)).all()


@pytest.mark.parametrize(
    "make", [np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame, lambda x: x[:, ::1].tolist()]
)
def test_data_of_every_kind_give_the_same_codes(make):
    assert_allclose(
        sparse_encode(make(X), ATOMS, alpha=0.2), sparse_encode(X, ATOMS, alpha=0.2), atol=1e-9
    )


def test_float32_stays_float32_and_comes_near():
    codes = sparse_encode(X.astype(np.float32), ATOMS, alpha=0.2)
    assert codes.dtype == np.float32
    assert_allclose(codes, sparse_encode(X, ATOMS, alpha=0.2), atol=1e-4)
    assert sparse_encode(X.astype(int), ATOMS).dtype == np.float64


@pytest.mark.parametrize("sparse_x", [False, True])
def test_sparse_output_holds_the_same_codes(sparse_x):
    samples = sp.csr_array(X) if sparse_x else X
    dense, sparse = (
        sparse_encode(samples, ATOMS, alpha=1.0, sparse_output=out) for out in (False, True)
    )
    assert isinstance(sparse, sp.csr_array)
    assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == np.count_nonzero(dense) < 0.5 * dense.size
    model = OnlineNMF.from_components(ATOMS, alpha=1.0)
    assert_array_equal(
        model.transform(samples, sparse_output=True).toarray(), model.transform(samples)
    )
    parts = list(model.transform_stream([samples[:20], samples[20:]], sparse_output=True))
    assert_allclose(sp.vstack(parts).toarray(), dense, atol=1e-9)
    assert_allclose(model.inverse_transform(parts[0]), dense[:20] @ ATOMS)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_known_codes_are_a_start_and_not_more(kind):
    codes = sparse_encode(X, ATOMS, alpha=0.2)
    near = ATOMS + 0.01 * RNG.random(ATOMS.shape)
    assert_allclose(
        sparse_encode(X, near, alpha=0.2, start=kind(codes)),
        sparse_encode(X, near, alpha=0.2),
        atol=1e-5,
    )


@pytest.mark.usefixtures("any_work")
def test_threads_do_not_change_the_bits():
    many = np.tile(X, (20, 1))
    assert_array_equal(sparse_encode(many, ATOMS, n_jobs=2), sparse_encode(many, ATOMS))
    assert_array_equal(sparse_encode(many, ATOMS, n_jobs=-1), sparse_encode(many, ATOMS))


def test_inputs_stay_as_they_are():
    kept = X.copy(), ATOMS.copy()
    for array in (X, ATOMS):
        array.flags.writeable = False
    sparse_encode(X, ATOMS, alpha=0.1)
    assert_array_equal(X, kept[0])
    assert_array_equal(ATOMS, kept[1])


BAD = [
    ({"alpha": -1}, "alpha must be a number of at least 0, got -1"),
    ({"ridge": "x"}, "ridge must be a number of at least 0, got 'x'"),
    ({"sign": "positive"}, "sign='positive' is unknown; choose one of free, nonnegative"),
    ({"sign": Box(l1=0.1), "alpha": 0.2}, "both set the penalty"),
    ({"n_jobs": 0}, "n_jobs must be None, or a number of threads .-1 for all., got 0"),
    (
        {"start": np.ones((3, 3))},
        r"start must be of shape \(60, 12\), one code per row of X, got \(3, 3\)",
    ),
    ({"start": np.full((60, 12), np.nan)}, "start contains NaN"),
    ({"dictionary": ATOMS[:, :5]}, "dictionary has 5 features and X has 20; they must agree"),
    ({"dictionary": np.full((12, 20), np.inf)}, "dictionary contains infinity"),
    ({"X": np.full((60, 20), np.nan)}, "X contains NaN"),
    ({"X": X[0]}, "Expected 2D array"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=str)
def test_bad_input_gets_one_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        sparse_encode(**{"X": X, "dictionary": ATOMS, **settings})


def test_what_was_not_reached_is_told():
    model = OnlineNMF.from_components(ATOMS, coder=ActiveSet(max_rounds=1))
    with pytest.warns(
        NotConvergedWarning,
        match=r"of 60 codes stopped at a residual of up to .* \(wanted: 1e-09\)",
    ):
        model.transform(X)


def test_a_gap_of_choice_is_kept_on_both_doors():
    """With so many atoms: few are freed one by one, which ends at the optimum whatever the gap."""
    rng = np.random.default_rng(20)
    X, atoms = rng.random((60, 90)), rng.random((80, 90))
    model = OnlineNMF.from_components(atoms, alpha=0.2)

    def objective(codes):
        return 0.5 * ((X - codes @ atoms) ** 2).sum(axis=1) + 0.2 * codes.sum(axis=1)

    best = objective(model.transform(X, gap=1e-12))
    for gap in (0.2, 1e-2, 1e-5):
        rough = model.transform(X, gap=gap)
        assert_array_equal(sparse_encode(X, atoms, alpha=0.2, gap=gap), rough)
        assert (objective(rough) <= best / (1 - gap) + 1e-12).all()
    assert objective(model.transform(X, gap=0.2)).sum() > best.sum() + 1e-6
    for gap in (-0.1, np.nan, "small"):
        with pytest.raises(ValueError, match="gap must be a number of at least 0"):
            model.transform(X, gap=gap)
        with pytest.raises(ValueError, match="gap must be a number of at least 0"):
            sparse_encode(X, atoms, gap=gap)


def test_a_number_of_entries_in_place_of_a_penalty():
    rng = np.random.default_rng(21)
    X, atoms = rng.standard_normal((40, 12)), rng.standard_normal((9, 12))
    for sign in ("free", "nonnegative"):
        codes = sparse_encode(X, atoms, sign=sign, max_nonzero=3)
        assert_array_equal(codes, sparse_encode(X, atoms, sign=TopK(3, sign)))
        assert (codes != 0).sum(axis=1).max() <= 3
    with pytest.raises(ValueError, match="max_nonzero must be a whole number of at least 1"):
        sparse_encode(X, atoms, max_nonzero=0)
    with pytest.raises(ValueError, match="max_nonzero=3 needs sign 'nonnegative' or 'free'"):
        sparse_encode(X, atoms, max_nonzero=3, sign="simplex")
    with pytest.raises(ValueError, match=r"alpha=0\.5 needs a part with a field 'l1'"):
        sparse_encode(X, atoms, max_nonzero=3, alpha=0.5)
