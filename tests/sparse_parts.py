"""Sparse matrices whose entries are stored in parts, and what models make of them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal


def data(n=30, d=8):
    """Return numbers of few bits, whose parts add up exactly, with rows and columns of zeros."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(n, 3)) @ rng.random((3, d)) * (rng.random((n, d)) < 0.5)
    X[[0, n // 2, n - 1]] = 0
    X[:, 4] = 0
    return np.round(64 * X) / 64


def parts(X):
    """Return values, rows and columns: each entry in two parts, and some zeros, in no order."""
    rng = np.random.default_rng(1)
    places, zeros = np.argwhere(X), rng.permutation(np.argwhere(X == 0))[:7]
    share = rng.integers(1, 4, len(places)) / 4
    values = X[tuple(places.T)]
    rows, columns = np.concatenate([places, places, zeros]).T
    values = np.concatenate([values * share, values * (1 - share), np.zeros(len(zeros))])
    order = rng.permutation(len(values))
    return values[order], rows[order], columns[order]


def stored(X, kind="csr", is_array=True, index=np.int32, lie=False):
    """Return a matrix as entries in parts, without order, that may call itself canonical."""
    values, rows, columns = parts(X)
    if kind not in ("csr", "csc"):
        coo = (sp.coo_array if is_array else sp.coo_matrix)((values, (rows, columns)), X.shape)
        made = coo if kind == "coo" else coo.asformat(kind)
    else:
        major, minor = (rows, columns) if kind == "csr" else (columns, rows)
        order = np.argsort(major, kind="stable")
        n_major = X.shape[0] if kind == "csr" else X.shape[1]
        pointers = np.append(0, np.bincount(major, minlength=n_major).cumsum())
        cls = getattr(sp, f"{kind}_{'array' if is_array else 'matrix'}")
        made = cls((values[order], minor[order], pointers), X.shape)
    if hasattr(made, "indices"):
        made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    if lie:
        made.has_canonical_format = True
    return made


def worst(X):
    return stored(X, index=np.int64, lie=True)


CALLS = (
    *("fit", "partial_fit", "fit_transform", "fit_stream", "transform", "transform_stream"),
    *("score", "losses", "objective", "stationarity", "surrogate_gap", "impute", "inspect_sample"),
    *("settle", "settle_stream", "inverse_transform"),
)


def called(make, name, form):
    """Return what one method returns, or the atoms that it learns."""
    X, model = data(), make()
    halves = [form(X[:13]), form(X[13:])]
    if name == "fit_stream":
        return model.fit_stream(halves).components_
    if name in ("fit", "partial_fit"):
        return getattr(model, name)(form(X)).components_
    if name == "fit_transform":
        return model.fit_transform(form(X))
    model.partial_fit(X)
    if name == "inspect_sample":
        return model.inspect_sample(form(X[1:2])).code
    if name == "inverse_transform":
        return model.inverse_transform(form(X[:, :3]))
    if name in ("transform_stream", "settle_stream"):
        found = getattr(model, name)(halves)
        return found.components_ if name == "settle_stream" else np.concatenate(list(found))
    found = getattr(model, name)(form(X))
    return found.components_ if name == "settle" else found


def assert_alike(make):
    for name in CALLS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, canonical, found = (
                np.asarray(called(make, name, form)) for form in (np.asarray, sp.csr_array, worst)
            )
        assert_array_equal(found, canonical, err_msg=name)
        assert_allclose(found, whole, rtol=1e-6, atol=1e-8 * np.abs(whole).max(), err_msg=name)


def assert_canonical(rows, X):
    rows = list(rows)
    for part in rows:
        assert part.format == "csr"
        assert part.nnz == np.count_nonzero(part.toarray())
    assert_array_equal(np.concatenate([part.toarray() for part in rows]), X)


def annotated(counts):
    """Return counts as AnnData, with names of cells and genes."""
    anndata = pytest.importorskip("anndata")
    found = anndata.AnnData(counts)
    found.var_names = [f"gene{number}" for number in range(counts.shape[1])]
    found.obs_names = [f"cell{number}" for number in range(counts.shape[0])]
    return found
