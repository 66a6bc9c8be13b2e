"""Tables given by their entries: those of the whole table, in memory that goes with the entries."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from cases import of_fields
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import OnlineDictionaryLearning, OnlineNMF
from atomstream.streams import Triples

rng = np.random.default_rng(0)
X = rng.random((60, 3)) @ rng.random((3, 20))
SEEN = rng.random(X.shape) < 0.6
ROWS, COLUMNS = rng.permutation(np.argwhere(SEEN)).T  # in no order
FRAME = pd.DataFrame(np.where(SEEN, X, np.nan), columns=[str(i) for i in range(20)])
TABLE = Triples(ROWS, COLUMNS, X[ROWS, COLUMNS])


@pytest.mark.parametrize(
    "kind",
    [OnlineNMF, OnlineDictionaryLearning, *of_fields("rows_models").values()],
    ids=lambda it: it.__name__,
)
def test_models_learn_from_entries_as_from_the_table(kind):
    given, whole = (
        kind(n_components=3, missing=True, random_state=0).fit(it) for it in (TABLE, FRAME)
    )
    # The rounds that end a fit on rows that are read anew keep sums, those in memory keep rows.
    assert_allclose(given.components_, whole.components_, rtol=1e-6, atol=1e-7)
    for method in ("transform", "impute"):
        found, expected = (getattr(given, method)(it) for it in (TABLE, FRAME))
        assert_array_equal(found, np.asarray(expected))
    assert given.score(TABLE) == given.score(FRAME)


def test_a_step_on_entries_is_one_on_the_table():
    model, expected = (OnlineNMF(3, missing=True, random_state=0) for _ in range(2))
    model.partial_fit(TABLE).partial_fit(TABLE)
    assert_array_equal(
        model.components_, expected.partial_fit(FRAME).partial_fit(FRAME).components_
    )


def test_entries_need_a_model_that_takes_missing_ones():
    with pytest.raises(ValueError, match="missing=True"):
        OnlineNMF(3).fit(TABLE)


def test_columns_go_by_their_labels():
    model = OnlineNMF(3, missing=True, random_state=0).fit(TABLE)
    some = Triples(["new", "new"], ["7", "3"], [2.0, 1.0])
    row = np.full((1, 20), np.nan)
    row[0, [3, 7]] = 1, 2
    assert_array_equal(
        model.transform(some), model.transform(pd.DataFrame(row, columns=FRAME.columns))
    )
    assert model.impute(some).shape == (1, 20)
    with pytest.raises(ValueError, match=r"X has columns that were not learned from: 'x'\.$"):
        model.transform(Triples(["new", "new"], ["7", "x"], [2.0, 1.0]))


@given(
    entries=st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from("abc"), st.sampled_from([0.0, 1.0, -2.5, np.nan])
        ),
        min_size=1,
        max_size=12,
    ),
    how=st.sampled_from(["mean", "sum", "first", "last"]),
)
def test_entries_that_come_twice_are_merged_as_pandas_does(entries, how):
    frame = pd.DataFrame(entries, columns=["row", "column", "value"])
    found = Triples.from_frame(frame, duplicates=how)
    groups = frame.groupby(["row", "column"]).value
    expected = (groups.sum(min_count=1) if how == "sum" else getattr(groups, how)()).unstack()
    assert found.row_names == expected.index.tolist()
    assert found.column_names == expected.columns.tolist()
    assert_allclose(np.asarray(found), expected.to_numpy())
    order = np.random.default_rng(1).permutation(len(found))
    assert_array_equal(found[order].X, np.asarray(found)[order])
    assert_array_equal(found[1:3].X, np.asarray(found)[1:3])


def test_a_listed_zero_was_observed_and_a_listed_nan_was_not():
    table = Triples([0, 0, 1], ["a", "b", "a"], [0, 1, np.nan])
    assert_array_equal(np.asarray(table), [[0, 1], [np.nan, np.nan]])
    assert table.n_entries == 2


def test_single_precision_stays():
    assert Triples([0, 1], [0, 0], np.float32([1, 2])).dtype == np.float32
    assert Triples([0, 1], [0, 0], [1, 2]).dtype == np.float64


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Triples([0, 1, 0], [0, 1, 0], [1, 2, 3]),
            "Row 0 and column 0 come twice, in entry 0",
        ),
        (
            lambda: Triples([0, 1], [0, 1, 2], [1, 2]),
            r"one label or number for each entry, and one",
        ),
        (lambda: Triples([], [], []), r"one label or number for each entry, and one"),
        (lambda: Triples([0, np.nan], [0, 1], [1, 2]), r"rows has no label in entry 1 \(counted"),
        (
            lambda: Triples([0, 1], ["a", None], [1, 2]),
            r"columns has no label in entry 1 \(counted",
        ),
        (
            lambda: Triples([0, 1], np.array(["1", 1], object), [1, 2]),
            "different labels that are the same text",
        ),
        (lambda: Triples([0], [0], [1], duplicates="most"), "duplicates must be one of 'refuse'"),
        (
            lambda: Triples.from_frame(pd.DataFrame({"u": [1], "i": [2], "r": [3], "t": [4]})),
            "must name three columns, of rows, columns and values, and got 4; the frame has 'u',",
        ),
        (
            lambda: Triples.from_frame(pd.DataFrame({"u": [1], "i": [2]}), ["u", "i", "r"]),
            "'r' is no column of the frame; the frame has 'u', 'i'",
        ),
    ],
)
def test_what_is_no_table_of_entries(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_frames_of_other_libraries():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"u": ["x", "y"], "r": [1.0, 0.0], "i": ["a", "b"]}
    for frame in (pl.DataFrame(columns), pa.table(columns), pd.DataFrame(columns)):
        table = Triples.from_frame(frame, ["u", "i", "r"])
        assert_array_equal(np.asarray(table), [[1, np.nan], [np.nan, 0]])
        assert (table.row_names, table.column_names) == (["x", "y"], ["a", "b"])


@pytest.mark.slow
def test_memory_goes_with_the_entries():
    n_rows, n_columns = 12_000, 6000
    key = np.unique(rng.integers(0, n_rows * n_columns, 60_000))
    row, column = np.divmod(key, n_columns)
    warm = OnlineNMF(2, missing=True, ridge=0.01, n_epochs=1, batch_size=256, random_state=0)
    warm.fit(TABLE).transform(TABLE)  # what is compiled and loaded
    tracemalloc.start()
    try:
        table = Triples(row, column, rng.random(len(key)))
        model = warm.fit(table)
        model.transform(table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table.shape == (len(np.unique(row)), len(np.unique(column)))
    assert peak < n_rows * n_columns * 8 / 2  # of the table written out, without its mask


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([1e300, 1e19, 2e19], [1e19, 2e19, 1e300]),
        ([2**63 + 1, 2**63 + 2, -5], [-5, 2**63 + 1, 2**63 + 2]),
        ([1.0, 2.0, 2.5], [1, 2, 2.5]),
        (np.array(["2020-01-03", "2020-01-01", "2020-01-02"], "M8[ns]"), None),
        (pd.date_range("2020-01-01", periods=3), None),
        (pd.Series(pd.date_range("2020-01-01", periods=3)), None),
    ],
)
def test_labels_of_every_kind_stay_what_they_are(labels, names):
    found = Triples(labels, list("abc"), [1, 2, 3])
    assert found.shape == (3, 3)
    if names is None:
        names = [pd.Timestamp(f"2020-01-0{day}") for day in (1, 2, 3)]
    assert found.row_names == names
    table = Triples(list("abc"), labels, [1.0, 2.0, 3.0])
    model = OnlineNMF(1, missing=True, ridge=0.1, random_state=0).fit(table)
    assert model.transform(Triples([0], [labels[0]], [1.0])).shape == (1, 1)


@pytest.mark.parametrize("labels", [["a", np.nan, "b"], ["a", " ", "b"], ["a", None, "b"]])
def test_a_missing_label_among_texts_is_none(labels):
    with pytest.raises(ValueError, match=r"columns has no label in entry 1 \(counted from 0\)"):
        Triples([1, 2, 3], labels, [1, 2, 3])


def test_values_must_be_finite_and_sums_do_not_overflow():
    with pytest.raises(ValueError, match="values has an infinite entry in entry 1"):
        Triples([1, 2], ["a", "b"], [1.0, np.inf])
    half = np.array([6e4, 6e4], np.float16)
    assert np.asarray(Triples([1, 1], ["a", "a"], half, duplicates="sum")) == [[120_000]]


def test_one_sample_is_looked_at():
    model = OnlineNMF(3, missing=True, random_state=0).fit(TABLE)
    given, whole = model.inspect_sample(TABLE), model.inspect_sample(FRAME[:1])
    assert given.loss == whole.loss


def test_what_is_no_frame_is_refused_in_a_sentence():
    for what in (np.zeros((2, 3)), {"u": [1]}):
        with pytest.raises(TypeError, match="frame must be a frame or a table, got"):
            Triples.from_frame(what)
    with pytest.raises(ValueError, match="names must differ"):
        Triples([1], ["a"], [1]).with_columns(["a", "b", "a"])


@pytest.mark.parametrize(("how", "value"), [("mean", 4), ("sum", 12), ("first", 2), ("last", 7)])
def test_what_becomes_of_three_values_of_one_entry(how, value):
    found = Triples([1, 0, 1, 1], ["a", "a", "a", "a"], [2, 5, 3, 7], duplicates=how)
    assert_array_equal(np.asarray(found), [[5], [value]])
