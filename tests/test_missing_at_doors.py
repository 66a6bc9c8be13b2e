"""What is masked, null, None or NA means NaN at every door at which data come in."""

import re

import numpy as np
import pytest
from doors_of_fields import DOORS as FIELDS
from doors_of_functions import DOORS as FUNCTIONS
from doors_of_models import doors_of_models
from given import outcome
from holes import forms, masked, public
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.base import checked_array

ALL = doors_of_models() | FIELDS | FUNCTIONS
# Arguments that hold no data in spite of their names, and why.
NO_DATA = {
    "ignored": r"\w+\.(partial_)?fit(_transform)?\(y\)|domains\.series.*\(y\)",
    "options": r".*\((missing|codes|labels|time)\)|.*denoise\(scores\)"
    r"|TopicModel\(anchors\)|.*(ChannelTable|SpeciesTable)\(source\)|.*read\(total\)"
    r"|.*adjacency_data\(cells\)",
    "results": r"diagnostics\.(SampleReport.*|stationarity.*)|domains\.cells\.Genes.*"
    r"|domains\.networks\.(Motif|Network|Ranking|Reconstruction|Scores|Shrinkage|links\.Split)[(.].*"
    r"|domains\.series\.ChangePoints.*|domains\.signatures\.(Decomposition|Exposures).*"
    r"|domains\.sources\.(Factors|Ranges).*|domains\.(tensors\.Axes|text\.Vocabulary).*"
    r"|domains\.walks\.Grid\(.*|looks\.\w+Look\..*|symmetric_nmf\(start\)",
    "states of chains": r"samplers\.(Motif)?Chain.*|.*\.patches\(states\)",
    "held by AnnData, or sparse": r"domains\.cells.*|TopicModel\.\w+_counts\(counts\)",
    "checked where the file is read": r"domains\.sources\.read\(limits\)",
    "drawn as they are": r"looks\.plots\.(spins|factor_|partition_map|reduced_chain|exposures).*"
    r"|looks\.plots\.series_forecast\(labels\)|.*geojson\(visits\)|.*images\.white.*",
    "their data are a door": r"report.*|SupervisedDictionary\(classes\)",
}


def is_drawn_from_a_door(door):
    """Return whether a plot is given what the function that returns its data is given."""
    name, argument = door.rstrip(")").split("(")
    return f"{name}_data({argument})" in ALL


def test_every_public_argument_that_takes_data_is_a_door_here():
    left = set(public()) - ALL.keys()
    strange = [
        door
        for door in left
        if not is_drawn_from_a_door(door)
        and not any(re.fullmatch(kind, door) for kind in NO_DATA.values())
    ]
    assert not strange, strange
    assert len(ALL) == 393


# One form of each kind of reader, for every door; every form is tried where all are read alike.
SHORT = {"masked, with good numbers behind", "objects with NA", "a series of pandas"}


@pytest.mark.parametrize("X", [ALL["OnlineNMF.fit(X)"][0], ALL["OnlineNMF.inspect_sample(x)"][0]])
@pytest.mark.parametrize("dtype", [None, np.float64, np.float32])
def test_every_form_is_read_as_nan(X, dtype):
    tried = forms(X)
    assert len(tried) == (11 if X.ndim == 2 else 8)
    for form, make in tried.items():
        read = checked_array(make(X), dtype=dtype)
        assert type(read) is np.ndarray
        assert read.dtype == (dtype or np.float64)
        assert_array_equal(read, X.astype(read.dtype), err_msg=form)


def check(door, chosen):
    given, call = ALL[door]
    expected = outcome(call, given)
    for form, make in forms(given).items():
        if form not in chosen:
            continue
        made = outcome(call, make(given))
        # A list is no batch of some streams, nor objects an image.
        if made is None and outcome(call, make(np.nan_to_num(given, nan=1.0))) is None:
            continue
        assert (made is None) == (expected is None), form
        if made is not None:
            assert_allclose(made, expected, rtol=1e-7, err_msg=form)


@pytest.mark.parametrize("door", ALL)
def test_what_is_missing_is_missing_at_every_door(door):
    check(door, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("door", ALL)
def test_what_is_missing_is_missing_at_every_door_in_every_form(door):
    check(door, forms(ALL[door][0]))


LATE = [
    *("OnlineNMF.fit(X)", "OnlineNMF.transform(X)", "OnlineNMF.impute(X)", "sparse_encode(X)"),
    *("OnlineCPDictionary.fit(X)", "online_parafac(X)", "streams.CubeRows(cube)"),
    "streams.OnDisk(rows)",
]


@pytest.mark.parametrize("door", LATE)
def test_masks_of_arrays_that_are_read_late(door):
    array = pytest.importorskip("dask.array")
    given, call = ALL[door]
    chunks = (7, *given.shape[1:])
    made = outcome(call, array.from_array(masked(given), chunks=chunks))
    expected = outcome(call, given)
    assert (made is None) == (expected is None)
    if made is not None:
        assert_allclose(made, expected, rtol=1e-7)
