"""Columns by their names: the order, the one sentence, and what counts as a name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import xarray as xr
from numpy.testing import assert_array_equal

from atomstream.base import NamedColumns, in_order, names_of, order_of, stacked_columns

X = np.arange(12.0).reshape(3, 4)
TURNED = ["d", "c", "b", "a"]


def named(names=TURNED):
    pa = pytest.importorskip("pyarrow")
    columns = X.T[["abcd".index(name) for name in names]]
    frame = pd.DataFrame(columns.T, columns=names)
    table = pa.table(dict(zip(names, columns, strict=True)))
    rows = NamedColumns(columns.T, names)
    return [frame, pl.from_pandas(frame), table, rows, NamedColumns(sp.csr_array(columns.T), names)]


@pytest.mark.parametrize("kind", range(5))
def test_columns_are_brought_into_order_in_every_container(kind):
    given = named()[kind]
    order = order_of(names_of(given), list("abcd"), "X", "differs")
    found = in_order(given, order)
    assert type(found) is type(given)
    assert names_of(found) == list("abcd")
    values = found.X if kind > 2 else found
    assert_array_equal(values.toarray() if kind == 4 else np.asarray(values), X)
    assert in_order(given, None) is given


def test_the_sentence_lists_the_first_names_that_are_missing_and_unexpected():
    names = [f"new{i}" for i in range(8)] + ["a"]
    with pytest.raises(ValueError, match="new4' and 3 more; give the same") as raised:
        order_of(names, ["a", "b"], "x.csv", "has other names than y.csv")
    said = str(raised.value)
    assert said.startswith("x.csv has other names than y.csv: missing is 'b' and unexpected are 'n")
    assert said.count(".") == 3  # of the two files, and one at its end


@pytest.mark.parametrize("names", [["a", "a", "b"], ["b", "a", "a"]])
def test_names_that_come_twice_are_refused_unless_they_stand_as_they_stood(names):
    assert order_of(names, list(names), "X", "differs") is None
    for one, other in ((names, names[::-1]), (names[::-1], names), (names, ["b", "a"])):
        with pytest.raises(ValueError, match="'a' stands for two columns"):
            order_of(one, other, "X", "differs")


def test_numbers_are_names_only_where_all_of_them_are_known():
    known = [400, 410, 420.5]
    assert_array_equal(order_of([420.5, 400, 410], known, "X", "differs"), [1, 2, 0])
    assert order_of([0, 1, 2], known, "X", "differs") is None
    assert order_of(["a", "b", "c"], known, "X", "differs") is None
    assert names_of(pd.DataFrame(X)) is None  # their places
    assert names_of(pd.DataFrame(X)[[1, 0, 2, 3]]) == [1, 0, 2, 3]


def test_labelled_arrays_have_no_columns_even_where_a_coordinate_is_called_so():
    array = xr.DataArray(X, dims=("rows", "columns"), coords={"columns": list("abcd")})
    assert names_of(array) is None


@pytest.mark.parametrize("kind", range(5))
def test_blocks_are_stacked_by_the_names_of_the_first(kind):
    first, second = named(list("abcd"))[kind], named()[kind]
    found = stacked_columns([first, second])
    assert [*found.names] == list("abcd")
    assert_array_equal(found.X.toarray() if kind == 4 else found.X, np.vstack([X, X]))
    other = named()[0].rename(columns={"a": "z"})
    with pytest.raises(ValueError, match="missing is 'a' and unexpected is 'z'"):
        stacked_columns([first, other])
