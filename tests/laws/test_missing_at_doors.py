"""What is masked, null, None or NA means NaN at every door at which data come in."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from doors_of_functions import CASES as FUNCTIONS
from doors_of_models import CASES as MODELS
from given import outcome
from holes import forms, masked, public
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.base import checked_array
from atomstream.base.declared import declared

ALL = MODELS | FUNCTIONS | of_fields("doors")
# Arguments that hold no data in spite of their names, and why.
NO_DATA = {
    "ignored": r"\w+\.(partial_)?fit(_transform)?\(y\)|fields\.series.*\(y\)",
    "options": r".*\((missing|codes|labels|time)\)|.*denoise\(scores\)"
    r"|TopicModel\(anchors\)|.*(ChannelTable|SpeciesTable)\(source\)|.*read\(total\)"
    r"|.*adjacency_data\(cells\)",
    "labels, none of which may be missing": r"streams\.Triples\((rows|columns)\)",
    "results": r"diagnostics\.(SampleReport.*|stationarity.*)|fields\.cells\.Genes.*"
    r"|fields\.networks\.(Motif|Network|Ranking|Reconstruction|Scores|Shrinkage|links\.Split)[(.].*"
    r"|fields\.series\.ChangePoints.*|fields\.signatures\.(Decomposition|Exposures).*"
    r"|fields\.sources\.(Factors|Ranges).*|(fields\.tensors\.Axes|fields\.text\.Vocabulary).*"
    r"|fields\.walks\.Grid\(.*|looks\.\w+Look\..*|symmetric_nmf\(start\)",
    "states of chains": r"samplers\.(Motif)?Chain.*|.*\.patches\(states\)",
    "held by AnnData, or sparse": r"fields\.cells.*|TopicModel\.\w+_counts\(counts\)",
    "checked where the file is read": r"fields\.sources\.read\(limits\)",
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
    assert len(MODELS | FUNCTIONS) == 124


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
    *("streams.CubeRows(cube)", "streams.OnDisk(rows)"),
    *of_fields("late_doors"),
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


# -- objects of other libraries

OTHERS = ("OnlineNMF.outliers(X)", "fields.tensors.Axes.of(X)", "streams.batches(X)")
DATA = [door for door in ALL if door.endswith(("(X)", "(Y)")) and door not in OTHERS]


class Tensor:
    """A tensor of PyTorch that NumPy cannot take."""

    shape, ndim, dtype = (14, 6), 2, "torch.float32"

    def __len__(self):
        return 14

    def __getitem__(self, rows):
        return self

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Use tensor.detach().numpy() instead.")


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Return objects that hold tables, with what must be said of them."""
    names = {"anndata": "cells", "mudata": "cells", "xarray": "series"}
    anndata, mudata, xarray = (
        pytest.importorskip(name, reason=f"needs {name}, of the extra {extra}")
        for name, extra in names.items()
    )
    path = tmp_path_factory.mktemp("objects") / "x.h5ad"
    data = anndata.AnnData(sp.csr_matrix(np.ones((14, 6))))
    data.write_h5ad(path)
    on_disk = anndata.read_h5ad(path, backed="r")
    with warnings.catch_warnings(action="ignore"):
        several = mudata.MuData({"rna": data})
    # What to give of their objects is said by the field that knows the library.
    of_cells = {
        r"of the type AnnData, .*; give adata\.X\.$": data,
        r"of the type AnnData, .*; give adata\.to_memory\(\)\.X": on_disk,
        r"of the type _CSRDataset, .* adata\.to_memory\(\)\.X": on_disk.X,
        r"of the type MuData, .* mdata\['rna'\]\.X": several,
    }
    return (of_cells if "anndata" in declared("instead") else {}) | {
        "Dataset that holds 'a'; give one of them": xarray.Dataset({"a": ("i", np.ones(3))}),
        r"Tensor that is not read as an array: Use tensor\.detach": Tensor(),
    }


@pytest.mark.parametrize("door", DATA)
def test_objects_that_hold_tables_are_refused_in_a_sentence_that_says_what_to_give(door, objects):
    for told, given in objects.items():
        with pytest.raises((TypeError, ValueError), match=told):
            ALL[door][1](given)


@pytest.mark.parametrize("door", [*DATA, "streams.batches(X)"])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_of_other_libraries_are_taken(door, tmp_path):
    modules = [pytest.importorskip(name) for name in ("xarray", "h5py", "zarr")]
    whole, call = np.nan_to_num(ALL[door][0], nan=1.0), ALL[door][1]
    expected = outcome(call, whole)
    with modules[1].File(tmp_path / "x.h5", "w") as file:
        file["x"] = whole
        made = {"h5py": file["x"], "zarr": modules[2].array(whole)}
        made["xarray"] = modules[0].DataArray(whole)
        made |= {"matrix": np.asmatrix(whole)} if whole.ndim == 2 else {}
        for name, given in made.items():
            found = outcome(call, given)
            assert (found is None) == (expected is None), name
            if found is not None:
                assert_allclose(found, expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("given", [None, object(), (row for row in [[1.0]]), len])
def test_what_is_no_table_is_refused_in_a_sentence(given):
    with pytest.raises(TypeError, match=r"^X must hold real numbers"):
        checked_array(given)
