"""Columns of frames are taken by their names, by every model and by every method."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from cases import of_fields
from named_columns import (
    FRAME,
    HALVES,
    MASK,
    MIXED,
    NAMES,
    PLACES,
    WEIGHTS,
    X,
    assert_same,
    containers,
)

from atomstream import (
    BatchNMF,
    OnlineDictionaryLearning,
    OnlineNMF,
    align,
    load,
    save,
    sparse_encode,
)
from atomstream.base import NamedColumns
from atomstream.exceptions import CorruptModelError

OF_ROWS = {
    "nmf": OnlineNMF(3, n_epochs=2, random_state=0, missing=True),
    "scaled": OnlineNMF(3, n_epochs=2, random_state=0, missing=True, scale="std"),
    "divergence": OnlineNMF(3, loss="kl", n_epochs=2, random_state=0, missing=True),
    "signed": OnlineDictionaryLearning(3, n_epochs=2, random_state=0, missing=True),
    "batches": BatchNMF(2, 1, n_epochs=2, random_state=0, missing=True),
    **of_fields("column_names"),
}


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
    model = OnlineNMF(2, n_epochs=1, random_state=0)
    model.fit(FRAME)
    assert model.fit(X).transform(X).shape == (60, 2)
    assert not hasattr(model, "feature_names_in_")
    model.fit(FRAME.add_prefix("other "))
    assert model.feature_names_in_[0] == "other gene0"


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


@pytest.mark.parametrize("labels", [NAMES, np.linspace(1, 2, 8)])
def test_labels_of_bands_are_names_of_features(labels):
    array = xr.DataArray(X, dims=("row", "band"), coords={"band": labels})
    model = OnlineNMF(3, n_epochs=2, random_state=0, missing=True).fit(array)
    turned = array.isel(band=[NAMES.index(name) for name in MIXED])
    xr.testing.assert_allclose(model.transform(turned), model.transform(array))
    filled = model.impute(array, mask=MASK)
    again = model.impute(turned, mask=MASK[:, [NAMES.index(name) for name in MIXED]])
    xr.testing.assert_allclose(again.sortby("band"), filled.sortby("band"))


@pytest.mark.parametrize("columns", [NAMES, range(400, 480, 10)])
def test_names_in_a_file_that_are_not_as_many_as_the_features_are_refused(tmp_path, columns):
    model = OnlineNMF(3, n_epochs=1, random_state=0).fit(FRAME.set_axis(columns, axis=1))
    attribute = "feature_names_in_" if columns is NAMES else "_column_labels"
    setattr(model, attribute, getattr(model, attribute)[:-1])
    save(model, tmp_path / "m.atoms")
    with pytest.raises(CorruptModelError, match="7 names for 8 features"):
        load(tmp_path / "m.atoms")
