"""Columns of frames are taken by their names, by every model and by every method."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from atomstream import (
    BatchNMF,
    ConsensusNMF,
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    SeriesDictionary,
    SupervisedDictionary,
    align,
    load,
    save,
    series,
    sparse_encode,
)
from atomstream.base import NamedColumns
from atomstream.exceptions import CorruptModelError

NAMES = [f"gene{i}" for i in range(8)]
MIXED = [NAMES[i] for i in (5, 0, 7, 2, 1, 6, 3, 4)]
PLACES = np.array([MIXED.index(name) for name in NAMES])
rng = np.random.default_rng(0)
X = rng.random((60, 3)) @ rng.random((3, 8))
MASK, WEIGHTS = rng.random(X.shape) > 0.1, rng.random(X.shape)
FRAME = pd.DataFrame(X, columns=NAMES)
HALVES = np.repeat([0, 1], 30)

OF_ROWS = {
    "nmf": OnlineNMF(3, n_epochs=2, random_state=0, missing=True),
    "scaled": OnlineNMF(3, n_epochs=2, random_state=0, missing=True, scale="std"),
    "divergence": OnlineNMF(3, loss="kl", n_epochs=2, random_state=0, missing=True),
    "signed": OnlineDictionaryLearning(3, n_epochs=2, random_state=0, missing=True),
    "convex": OnlineConvexMF(3, n_representatives=9, random_state=0, missing=True),
    "batches": BatchNMF(2, 1, n_epochs=2, random_state=0, missing=True),
}


def assert_same(found, wanted):
    """Fail where numbers differ by more than the layout of columns in memory explains."""
    assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def containers(names, values=X):
    """Yield a table with these columns as each kind of frame."""
    columns = values[:, [NAMES.index(name) for name in names]]
    yield pd.DataFrame(columns, columns=names)
    yield pl.DataFrame(columns, schema=names)
    yield NamedColumns(columns, names)
    pa = pytest.importorskip("pyarrow")
    yield pa.table(dict(zip(names, columns.T, strict=True)))


@pytest.fixture(params=OF_ROWS)
def fitted(request):
    """Return a model of each kind, learned from a frame."""
    given = {"batch": HALVES} if request.param == "batches" else {}
    return OF_ROWS[request.param].fit(FRAME, **given)


def test_every_method_finds_columns_by_their_names(fitted):
    known = {"batch": HALVES} if isinstance(fitted, BatchNMF) else {}
    codes, filled = fitted.transform(FRAME, **known), fitted.impute(FRAME, mask=MASK)
    for given in containers(MIXED):
        assert_same(fitted.transform(given, **known), codes)
        assert_same(fitted.score(given, **known), fitted.score(FRAME, **known))
        assert_same(fitted.losses(given), fitted.losses(FRAME))
        assert_same(fitted.objective(given), fitted.objective(FRAME))
        assert_same(fitted.stationarity(given), fitted.stationarity(FRAME))
        again = fitted.impute(given, mask=MASK[:, [NAMES.index(name) for name in MIXED]])
        assert_same(np.asarray(again)[:, PLACES], filled)
        if isinstance(given, pd.DataFrame | pl.DataFrame):
            assert list(again.columns) == MIXED
    assert [*fitted.transform_stream(containers(MIXED))][1].shape == codes.shape


@pytest.mark.parametrize("how", ["partial_fit", "fit_stream", "settle"])
def test_learning_goes_on_by_name(how):
    def learned(tables):
        model = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME)
        for table in tables:
            getattr(model, how)([table] if how == "fit_stream" else table)
        return model.components_

    assert_same(learned(containers(MIXED)), learned(containers(NAMES)))


def test_masks_and_weights_stand_by_the_names_of_the_data():
    model = OnlineNMF(3, n_epochs=2, random_state=0, missing=True)
    order = [NAMES.index(name) for name in MIXED]
    masks = [MASK[:, order], *containers(NAMES, MASK), *containers(MIXED, MASK)]
    weights = [WEIGHTS[:, order], *containers(NAMES, WEIGHTS), *containers(MIXED, WEIGHTS)]
    masks, weights = (
        [g for g in some if not isinstance(g, NamedColumns)] for some in (masks, weights)
    )
    learned = model.fit(FRAME)
    hidden, weighed = (
        learned.transform(FRAME, mask=MASK),
        learned.transform(FRAME, entry_weight=WEIGHTS),
    )
    for given in containers(MIXED):
        for mask in masks:
            assert_same(learned.transform(given, mask=mask), hidden)
        for weight in weights:
            assert_same(learned.transform(given, entry_weight=weight), weighed)
    one, other = (
        OnlineNMF(3, random_state=0).partial_fit(FRAME, entry_weight=WEIGHTS) for _ in range(2)
    )
    one.partial_fit(FRAME, entry_weight=WEIGHTS)
    other.partial_fit(FRAME[MIXED], entry_weight=WEIGHTS[:, order])
    assert_same(one.components_, other.components_)
    with pytest.raises(ValueError, match="mask has other names of columns than X"):
        learned.transform(FRAME, mask=pd.DataFrame(MASK, columns=[*NAMES[:-1], "z"]))


def test_a_frame_with_a_mask_keeps_its_names_whatever_its_kind():
    for given in containers(MIXED):
        model = OnlineNMF(3, n_epochs=2, random_state=0, missing=True)
        model.fit(given, mask=MASK[:, [NAMES.index(name) for name in MIXED]])
        assert model.feature_names_in_.tolist() == MIXED
        assert_same(model.transform(FRAME), model.transform(FRAME[MIXED]))


def test_what_is_said_of_entries_stands_in_the_order_of_the_data():
    model = OnlineNMF(3, loss="huber:0.1", random_state=0).fit(FRAME)
    wild = FRAME.copy()
    wild.loc[3, "gene4"] += 9
    assert_same(model.clean(wild[MIXED])[:, PLACES], model.clean(wild))
    assert_same(model.outliers(wild[MIXED])[:, PLACES], model.outliers(wild))
    row, turned = model.inspect_sample(wild.iloc[3]), model.inspect_sample(wild[MIXED].iloc[3])
    assert_same([turned.loss, model.inspect_sample(wild[MIXED].iloc[[3]]).loss], row.loss)


WRONG = {
    "renamed": (FRAME.rename(columns={"gene1": "z"}), "missing is 'gene1' and unexpected is 'z'"),
    "fewer": (FRAME[NAMES[:5]], "missing are 'gene5', 'gene6', 'gene7';"),
    "more": (FRAME.assign(z=1.0), "unexpected is 'z';"),
    "twice": (FRAME[[*NAMES, "gene0"]], ""),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("how", ["transform", "score", "impute", "objective", "partial_fit"])
def test_other_names_get_one_sentence_and_leave_the_model_as_it_was(how, case):
    given, said = WRONG[case]
    model = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME)
    before = model.components_
    with pytest.raises(
        ValueError, match=f"^X has (other feature names .*{said}|two columns 'gene0')"
    ) as raised:
        getattr(model, how)(given)
    assert "\n" not in str(raised.value)
    assert_same(model.components_, before)


def test_doubled_names_are_refused_in_one_sentence():
    twice = FRAME.set_axis(["a", "a", *NAMES[2:]], axis=1)
    model = OnlineNMF(3, n_epochs=1, random_state=0)
    for call in (model.fit, model.partial_fit, model.fit(FRAME).transform):
        with pytest.raises(ValueError, match=r"^X has two columns 'a'; give every column a name"):
            call(twice)


def test_labels_that_are_no_texts_are_names_where_all_are_known(tmp_path):
    model = OnlineNMF(3, n_epochs=2, random_state=0)
    days = pd.date_range("2020-01-01", periods=8)
    pairs = pd.MultiIndex.from_product([["x", "y"], list("1234")])
    for labels in (range(8), range(400, 480, 10), days, pairs, np.linspace(0.5, 1.5, 8)):
        frame = pd.DataFrame(X, columns=labels)
        learned = model.fit(frame)
        save(learned, tmp_path / "m.atoms")
        for each in (learned, load(tmp_path / "m.atoms")):
            assert_same(each.transform(frame.iloc[:, ::-1]), learned.transform(X))
        assert not hasattr(learned, "feature_names_in_")  # as scikit-learn has it
    # Other labels are no names: they stand where they stand.
    assert_same(learned.transform(pd.DataFrame(X)), learned.transform(X))


def test_arrays_are_taken_by_place_with_the_warning_of_scikit_learn():
    named = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME)
    plain = OnlineNMF(3, n_epochs=1, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_same(named.transform(X), named.transform(FRAME))
    with pytest.warns(UserWarning, match="X has feature names, but OnlineNMF was fitted without"):
        assert_same(plain.transform(FRAME[MIXED]), plain.transform(FRAME[MIXED].to_numpy()))


def test_a_new_fit_forgets_names():
    for model in (OnlineNMF(2, n_epochs=1, random_state=0), consensus()):
        model.fit(FRAME)
        assert model.fit(X).transform(X).shape == (60, 2)
        assert not hasattr(model, "feature_names_in_")
        model.fit(FRAME.add_prefix("other "))
        assert model.feature_names_in_[0] == "other gene0"


def consensus():
    return ConsensusNMF([2], n_replicates=3, n_epochs=2, random_state=0)


def test_a_consensus_and_its_dictionary_know_the_names():
    model = consensus().fit(FRAME)
    codes = model.transform(FRAME)
    assert_same(model.transform(FRAME[MIXED]), codes)
    assert_same(model.dictionary().transform(FRAME[MIXED]), codes)
    turned = consensus().fit_stream([FRAME[:30], FRAME[30:][MIXED]])
    plain = consensus().fit_stream([FRAME[:30], FRAME[30:]])
    assert_same(turned.components_, plain.components_)


def test_atoms_with_names_are_found_by_them():
    model = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME)
    atoms = pd.DataFrame(model.components_, columns=NAMES)
    known = OnlineNMF.from_components(atoms)
    assert_same(known.transform(FRAME[MIXED]), known.transform(FRAME))
    assert_same(sparse_encode(FRAME[MIXED], atoms), sparse_encode(FRAME, atoms))
    same = [OnlineNMF(3, init=each, random_state=0).fit(FRAME) for each in (atoms, atoms[MIXED])]
    assert_same(same[0].components_, same[1].components_)
    turned = OnlineNMF.from_components(atoms[MIXED])
    for one, other in ((model, turned), (atoms, atoms[MIXED]), (model, atoms[MIXED])):
        assert align(one, other).stability == pytest.approx(1)
        assert align(one, other).order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="init has other feature names than were learned"):
        OnlineNMF(3, init=atoms.add_prefix("z"), random_state=0).fit(FRAME)
    for call in (align, lambda one, other: sparse_encode(other, one)):
        with pytest.raises(ValueError, match=r"unexpected are 'zgene0', .* and 3 more"):
            call(atoms, atoms.add_prefix("z"))


# -- labelled arrays

T = X.reshape(60, 4, 2)
LABELLED = xr.DataArray(
    T, dims=("time", "place", "kind"), coords={"place": list("wxyz"), "kind": [10, 20]}
)
TURNED = LABELLED.isel(place=[2, 0, 3, 1], kind=[1, 0]).transpose("time", "kind", "place")


def test_labels_of_axes_are_names_along_them():
    model = OnlineCPDictionary(2, ridge=0.01, n_epochs=2, random_state=0, missing=True)
    codes = model.fit(LABELLED).transform(LABELLED)
    xr.testing.assert_allclose(model.transform(TURNED), codes)
    filled = model.impute(LABELLED.where(LABELLED > 0.3))
    xr.testing.assert_allclose(model.impute(TURNED.where(TURNED > 0.3)), filled)
    mask = np.asarray(TURNED > 0.3)
    xr.testing.assert_allclose(model.impute(TURNED, mask=mask), filled)
    one, other = (
        OnlineCPDictionary(2, random_state=0).fit_stream([LABELLED[:30], second[30:]])
        for second in (LABELLED, TURNED)
    )
    assert_same(one.components_, other.components_)
    with pytest.raises(ValueError, match="The axis 'place' of X has other labels than were learn"):
        model.transform(LABELLED.assign_coords(place=list("wxyq")))


@pytest.mark.parametrize("labels", [NAMES, np.linspace(1, 2, 8)])
def test_labels_of_bands_are_names_of_features(labels):
    array = xr.DataArray(X, dims=("row", "band"), coords={"band": labels})
    model = OnlineNMF(3, n_epochs=2, random_state=0, missing=True).fit(array)
    turned = array.isel(band=[NAMES.index(name) for name in MIXED])
    xr.testing.assert_allclose(model.transform(turned), model.transform(array))
    filled = model.impute(array, mask=MASK)
    again = model.impute(turned, mask=MASK[:, [NAMES.index(name) for name in MIXED]])
    xr.testing.assert_allclose(again.sortby("band"), filled.sortby("band"))


# -- labels, covariates and series

COVARIATES = pd.DataFrame(rng.random((60, 2)), columns=["age", "dose"])
OUTPUTS = pd.DataFrame({"one": X[:, 0] + COVARIATES.age, "two": X[:, 1] - COVARIATES.dose})
TURNED_BESIDE = COVARIATES[["dose", "age"]]


def test_covariates_and_outputs_are_found_by_name(tmp_path):
    settings = {"labels": "numbers", "n_epochs": 5, "random_state": 0}
    model = SupervisedDictionary(3, **settings).fit(FRAME, OUTPUTS, covariates=COVARIATES)
    found = model.predict(FRAME, covariates=COVARIATES)
    save(model, tmp_path / "m.atoms")
    for each in (model, load(tmp_path / "m.atoms")):
        assert_same(each.predict(FRAME[MIXED], covariates=TURNED_BESIDE), found)
        score = each.score(FRAME, OUTPUTS, covariates=COVARIATES)
        assert_same(each.score(FRAME, OUTPUTS[["two", "one"]], covariates=TURNED_BESIDE), score)
    with pytest.raises(ValueError, match="missing is 'age' and unexpected is 'z'"):
        model.predict(FRAME, covariates=COVARIATES.rename(columns={"age": "z"}))
    twin = load(tmp_path / "m.atoms")
    model.partial_fit(FRAME, OUTPUTS, covariates=COVARIATES)
    twin.partial_fit(FRAME[MIXED], OUTPUTS[["two", "one"]], covariates=TURNED_BESIDE)
    assert_same(twin.components_, model.components_)
    assert_same(twin.coef_, model.coef_)


TIMES = np.arange(120.0)
SERIES = pd.DataFrame({"p": 2 + np.sin(TIMES / 3), "q": 1 + np.cos(TIMES / 3) ** 2, "r": TIMES % 7})
BACK = ["r", "q", "p"]


def test_series_are_found_by_name():
    settings = {"window": 6, "random_state": 0}
    one, other = (
        SeriesDictionary(4, **settings).fit(SERIES[:60]).partial_fit(rest)
        for rest in (SERIES[60:], SERIES[60:][BACK])
    )
    assert_same(one.components_, other.components_)
    gaps = SERIES.copy()
    gaps.iloc[50:55, 1] = np.nan
    pd.testing.assert_frame_equal(one.impute(gaps[BACK]), one.impute(gaps)[BACK])
    first = [
        SeriesDictionary(4, **settings).fit(SERIES, init=SERIES[order])
        for order in ([*SERIES], BACK)
    ]
    assert_same(first[0].components_, first[1].components_)
    with pytest.raises(ValueError, match=r"Y has other series .*: missing is 'p' and unexpected"):
        one.impute(gaps.rename(columns={"p": "z"}))


@pytest.mark.parametrize("kind", ["MovingAverage", "Log1p", "NonnegativeScaler"])
def test_transformers_of_series_find_them_by_name(kind):
    step = getattr(series, kind)().fit(SERIES)
    done = step.transform(SERIES)
    pd.testing.assert_frame_equal(step.transform(SERIES[BACK]), done[BACK])
    pd.testing.assert_frame_equal(
        step.inverse_transform(done[BACK]), step.inverse_transform(done)[BACK]
    )
    with pytest.raises(ValueError, match="missing is 'p' and unexpected is 'z'"):
        step.transform(SERIES.rename(columns={"p": "z"}))


def test_what_is_known_ahead_is_found_by_name(tmp_path):
    known = pd.DataFrame({"u": np.sin(np.arange(140)), "v": rng.random(140)})
    model = SeriesDictionary(4, window=6, head="mix", random_state=0)
    model.fit(SERIES[:100], exogenous=known[:105])
    save(model, tmp_path / "m.atoms")
    twin = load(tmp_path / "m.atoms")
    model.partial_fit(SERIES[100:], exogenous=known[100:125])
    twin.partial_fit(SERIES[100:], exogenous=known[100:125][["v", "u"]])
    found = model.predict(3, exogenous=known[120:123])
    pd.testing.assert_frame_equal(twin.predict(3, exogenous=known[120:123][["v", "u"]]), found)
    with pytest.raises(ValueError, match="missing is 'v' and unexpected is 'w'"):
        model.predict(3, exogenous=known[120:123].rename(columns={"v": "w"}))


@pytest.mark.parametrize("columns", [NAMES, range(400, 480, 10)])
def test_names_in_a_file_that_are_not_as_many_as_the_features_are_refused(tmp_path, columns):
    model = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME.set_axis(columns, axis=1))
    attribute = "feature_names_in_" if columns is NAMES else "_column_labels"
    setattr(model, attribute, getattr(model, attribute)[:-1])
    save(model, tmp_path / "m.atoms")
    with pytest.raises(CorruptModelError, match="7 names for 8 features"):
        load(tmp_path / "m.atoms")
