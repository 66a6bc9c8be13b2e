"""Data that are no numbers, and sparse matrices that contradict themselves, at every door."""

import copy
import functools
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from no_numbers import COLUMNS, NEEDED, NO_NUMBERS, ROWS, data
from numpy.testing import assert_allclose

import atomstream
from atomstream.base.matrices import checked_numbers
from atomstream.streams import batches

MODELS = {
    "nmf": atomstream.OnlineNMF,
    "signed": atomstream.OnlineDictionaryLearning,
    **of_fields("models_of_rows"),
}


def stored(form="csr"):
    return sp.csr_array(data()).asformat(form)


def lying(form, lie):
    """A matrix that scipy takes although its parts contradict each other, and what is wrong."""
    X = stored(form)
    per_line = np.diff(X.indptr)[0]
    line, other = ("row", "column") if form == "csr" else ("column", "row")
    if lie == "far":
        X.indices[3 * per_line + 2] = 10**6
        return X, f"{line} 3 has an entry in {other} 1000000 of"
    if lie == "negative":
        X.indices[0] = -5
        return X, f"{line} 0 has an entry in {other} -5 of"
    if lie == "falling":
        X.indptr[4] = 0
        return X, f"{line} 3 runs from entry {3 * per_line} to 0"
    if lie == "beyond":
        X.indptr[-1] = 10**6
        return X, "runs to entry 1000000 and 240 are stored"
    if lie == "late":
        X.indptr[0] = 1
        return X, f"{line} 0 runs from entry 1 to {per_line}"
    X.indptr = X.indptr[:-2]
    return X, f"pointers for {X.shape[form == 'csc']} {line}s"


LIES = ["far", "negative", "falling", "beyond", "late", "few"]


@functools.cache
def fitted(name):
    model = MODELS[name](3, random_state=0, batch_size=10)
    return model.fit(data())


DOORS = {
    "fit": lambda model, X: model.fit(X),
    "partial_fit": lambda model, X: model.partial_fit(X),
    "fit_stream": lambda model, X: model.fit_stream([X]),
    "transform": lambda model, X: model.transform(X),
    "score": lambda model, X: model.score(X),
    "impute": lambda model, X: model.impute(X),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("door", DOORS)
def test_no_model_reads_outside_of_a_sparse_matrix(door, form, lie):
    X, fault = lying(form, lie)
    for name in MODELS:
        model = copy.deepcopy(fitted(name))
        with pytest.raises(ValueError, match=f"contradicts itself: .*{fault}"):
            DOORS[door](model, X)
        assert model.n_samples_seen_ == fitted(name).n_samples_seen_
        np.testing.assert_array_equal(model.components_, fitted(name).components_)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_no_function_reads_outside_of_a_sparse_matrix(form, lie):
    X, fault = lying(form, lie)
    calls = [
        lambda: atomstream.sparse_encode(X, np.eye(COLUMNS)),
        lambda: atomstream.sparse_encode(np.eye(COLUMNS), np.eye(COLUMNS), start=X),
        lambda: next(batches(X, 5)),
        lambda: fitted("nmf").inverse_transform(X),
        lambda: fitted("nmf").inspect_sample(X),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"contradicts itself: .*{fault}"):
            call()


def test_places_of_coo_and_of_blocks_are_checked_too():
    flat = sp.coo_array(data())
    flat.coords[1][7] = -1
    with pytest.raises(ValueError, match="entry 7 stands at -1 of 8 along axis 1"):
        fitted("nmf").transform(flat)
    blocks = sp.bsr_array(data(), blocksize=(2, 2))
    blocks.indices[1] = 4
    with pytest.raises(ValueError, match="row 0 has an entry in column 4 of 4"):
        fitted("nmf").transform(blocks)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_true_matrices_stay_what_they_are(form):
    X = stored(form)
    assert not (checked_numbers(X) != stored("csr")).nnz
    if form == "csr":
        assert checked_numbers(X) is X
    np.testing.assert_allclose(fitted("nmf").transform(X), fitted("nmf").transform(data()))


def test_entries_beyond_the_last_pointer_are_not_there():
    X = stored()
    X.indices, X.data = np.append(X.indices, 10**6), np.append(X.data, np.nan)
    codes = fitted("nmf").transform(X)
    np.testing.assert_allclose(codes, fitted("nmf").transform(data()))
    assert len(X.data) == ROWS * COLUMNS + 1


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_is_no_number_is_never_learned_as_one(kind):
    X = NO_NUMBERS[kind]
    for name, model in MODELS.items():
        with pytest.raises((ValueError, TypeError), match=NEEDED):
            model(2).fit(X)
        with pytest.raises((ValueError, TypeError), match=NEEDED):
            fitted(name).transform(X)
    with pytest.raises((ValueError, TypeError), match=NEEDED):
        atomstream.sparse_encode(X, np.eye(2))


def test_masked_entries_are_missing_not_read():
    mask = data() > 0.9
    masked = np.ma.masked_array(np.where(mask, 1e6, data()), mask)
    with pytest.raises(ValueError, match="contains NaN"):
        fitted("nmf").transform(masked)
    model = atomstream.OnlineNMF(3, missing=True, random_state=0)
    twin = copy.deepcopy(model).fit(np.where(mask, np.nan, data()))
    np.testing.assert_array_equal(model.fit(masked).components_, twin.components_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", ["squared", "kl"])
def test_numbers_too_small_or_large_to_be_learned_well_are_told(dtype, loss):
    def model():
        return atomstream.OnlineNMF(3, loss=loss, random_state=0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-6, 1e-3, 1, 1e9):
            model().fit((data() * scale).astype(dtype))
    small, large = (1e-50, 1e145) if dtype is np.float64 else (1e-25, 1e17)
    for scale in (small, large):
        X = (data() * scale).astype(dtype)
        with pytest.warns(UserWarning, match=r"largest entry of X is .*accuracy is lost"):
            model().fit(X)
    with pytest.raises(ValueError, match=r"entries of .*, whose sums are not finite in"):
        model().fit(np.full((3, 3), np.finfo(dtype).max))


TRIED = {"random_state": 0, "n_epochs": 3}
# What learns from data of a scale, and the least of them: below, products of four numbers are none.
OF_ANY_SIZE = {
    "nmf": (lambda scale: atomstream.OnlineNMF(3, **TRIED), 0),
    "spread": (lambda scale: atomstream.OnlineNMF(3, init="spread", **TRIED), 0),
    "signed": (lambda scale: atomstream.OnlineDictionaryLearning(3, alpha=0.1 * scale, **TRIED), 0),
    "kl": (lambda scale: atomstream.OnlineNMF(3, loss="kl", **TRIED), 1e-60),
    **of_fields("any_size"),
}


@pytest.mark.cover(2)
@pytest.mark.filterwarnings("ignore:The largest entry of X")
@pytest.mark.parametrize("scale", [1e-100, 1e-40, 1e-30, 1e30, 1e100, 1e120])
@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_data_of_any_size_are_learned_alike(name, scale):
    X, (make, least) = data(60), OF_ANY_SIZE[name]
    scale = max(scale, least)
    plain, other = make(1).fit(X), make(scale).fit(scale * X)
    unit = scale if name == "kl" else scale**2
    assert_allclose(other.objective(scale * X) / unit, plain.objective(X), rtol=1e-6)
    assert_allclose(other.stationarity(scale * X), plain.stationarity(X), rtol=1e-3, atol=1e-6)


ATOMS = np.random.default_rng(1).random((3, COLUMNS))
WITH_ATOMS = {
    "from_components": lambda D: atomstream.OnlineNMF.from_components(D).transform(data()),
    "init": lambda D: atomstream.OnlineDictionaryLearning(3, init=D).fit(data()),
    "sparse_encode": lambda D: atomstream.sparse_encode(data(), D),
    **of_fields("given_atoms"),
}


@pytest.mark.parametrize("scale", [1e300, 1e160, 1e-160, 1e-300])
@pytest.mark.parametrize("door", WITH_ATOMS)
def test_atoms_whose_products_are_no_numbers_are_refused(door, scale):
    D = ATOMS * np.array([[1.0], [scale], [1.0]])
    largest = re.escape(f"{D[1].max():.2g}")
    with pytest.raises(ValueError, match=rf"has an atom whose .* is {largest} \(atom 1, .*rescale"):
        WITH_ATOMS[door](D)


@pytest.mark.parametrize("scale", [1e140, 1e-140, 0])
@pytest.mark.parametrize("door", WITH_ATOMS)
def test_atoms_of_other_sizes_and_zero_are_taken(door, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        WITH_ATOMS[door](ATOMS * np.array([[1.0], [scale], [1.0]]))


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_steps_with_bounded_codes_tell_that_the_scale_does_not_suit_them(scale):
    model = atomstream.OnlineNMF(3, loss="kl", updater="spsg", random_state=0)
    with pytest.warns(UserWarning, match="outside of 1e-05 to 1e\\+07 accuracy is lost"):
        model.fit(data() * scale)


BEYOND = {
    "alpha": lambda value: atomstream.OnlineNMF(3, alpha=value).fit(data()),
    "max_time": lambda value: atomstream.OnlineNMF(3, max_time=value).fit(data()),
    "n_components": lambda value: atomstream.OnlineNMF(value).fit(data()),
    "weights": lambda value: atomstream.OnlineNMF(3).fit(data(), sample_weight=[value] * ROWS),
    **of_fields("beyond"),
}


@pytest.mark.parametrize("value", [10**400, 1e306, "a"], ids=["whole", "real", "text"])
@pytest.mark.parametrize("setting", BEYOND)
def test_settings_beyond_all_numbers_get_a_sentence(setting, value):
    with pytest.raises(
        ValueError, match=r"^(The '\w+' parameter of )?\w+ (must|needs|is|has the type)"
    ):
        BEYOND[setting](value)
