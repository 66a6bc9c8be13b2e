"""A sparse matrix means the sum of its stored parts, in whatever form it is handed over."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from commands import run
from doors_of_functions import CASES as FUNCTIONS
from doors_of_models import CASES as MODELS
from given import outcome
from numpy.testing import assert_allclose, assert_array_equal
from strategies import LOSS_NAMES

from atomstream import (
    OnlineConvexMF,
    OnlineCPDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    TopicModel,
    cells,
    io,
    online_parafac,
    signatures,
)
from atomstream.base import checked_numbers, dense
from atomstream.io import inputs
from atomstream.loop.scaling import SCALES

FORMS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


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


def state(S):
    """Return all that a matrix holds and says of itself."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in vars(S).items()
        if isinstance(value, np.ndarray | bool | tuple)
    }


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("is_array", [True, False])
@pytest.mark.parametrize(("kind", "lie"), [(k, k in ("csr", "csc", "coo")) for k in FORMS])
def test_every_form_becomes_the_same_rows_and_stays_as_it_was(kind, lie, is_array, index):
    X = data()
    S = stored(X, kind, is_array, index, lie)
    before = state(S)
    rows = checked_numbers(S)
    assert rows.format == "csr"
    canonical = sp.csr_array(X)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(rows, part), getattr(canonical, part))
    after = state(S)
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert np.array_equal(value, after[name]), name


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("cls", [sp.csr_array, sp.csr_matrix])
def test_canonical_rows_are_not_copied(cls, index):
    S = cls(data())
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    S.data.flags.writeable = S.indices.flags.writeable = False
    assert checked_numbers(S) is S
    empty = cls((3, 4))
    assert checked_numbers(empty) is empty


def test_what_cancels_and_what_is_missing():
    S = sp.csr_array(([1.0, -1.0, np.nan, 1.0, 2.0], [0, 0, 1, 1, 2], [0, 2, 4, 5]), (3, 3))
    assert_array_equal(checked_numbers(S).toarray(), S.toarray())
    assert checked_numbers(S).nnz == 2


# -- every method, under every loss


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


LOSSES = [*LOSS_NAMES, "beta:1.5", "beta:-1", "alpha:0.5", "alpha:-1", "alpha:2"]


@pytest.mark.cover(2)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_method_under_every_loss(loss):
    # Atoms begin as rows: products of a singular value decomposition round differently.
    assert_alike(
        lambda: OnlineNMF(3, loss=loss, init="samples", n_epochs=2, batch_size=10, random_state=0)
    )


def scaled(scale, **settings):
    """Return a model of three atoms; of data about their means it takes one that knows signs."""
    model = OnlineDictionaryLearning if scale == "zscore" else OnlineNMF
    return model(3, scale=scale, init="samples", random_state=0, **settings)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", ["squared", pytest.param("kl", marks=pytest.mark.long)])
def test_every_method_under_every_scale(loss, scale, missing):
    loss = {} if scale == "zscore" else {"loss": loss}
    assert_alike(lambda: scaled(scale, missing=missing, n_epochs=1, **loss))


OTHERS = {
    "signed": lambda: OnlineDictionaryLearning(3, init="samples", n_epochs=1, random_state=0),
    "hulls": lambda: OnlineConvexMF(3, n_representatives=6, n_epochs=1, random_state=0),
    "hulls with gaps": lambda: OnlineConvexMF(
        3, n_representatives=6, n_epochs=1, missing=True, random_state=0
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_method_of_other_models(name):
    assert_alike(OTHERS[name])


# -- every door


# Sparse matrices hold no pairs of nodes, and frames are made of none.
UNFIT = ("Network.places(", "scores(pairs)", "denoise(pairs)", "read(")
ALL = {
    # Sixteenths, whose parts add up exactly.
    door: (np.round(16 * np.nan_to_num(given, nan=1.0)) / 16, call)
    for door, (given, call) in (MODELS | FUNCTIONS | of_fields("doors")).items()
    if given.ndim == 2 and not any(name in door for name in UNFIT)
}


@pytest.mark.parametrize("door", ALL)
def test_every_door_takes_the_sum_of_the_parts_or_refuses(door):
    given, call = ALL[door]
    whole, canonical, found = (outcome(call, f(given)) for f in (np.asarray, sp.csr_array, worst))
    assert (found is None) == (canonical is None)
    if found is not None:
        assert_array_equal(found, canonical)
        assert_allclose(found, whole, rtol=1e-6, atol=1e-9)


# -- readers


def blocks(path, **options):
    """Return the rows of a file as a run reads them."""
    (source,) = io.open_inputs([str(path)], io.InputOptions(**options))
    return [block.X for block in source.blocks(0, 0)]


def assert_canonical(rows, X):
    rows = list(rows)
    for part in rows:
        assert part.format == "csr"
        assert part.nnz == np.count_nonzero(part.toarray())
    assert_array_equal(np.concatenate([part.toarray() for part in rows]), X)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_archives_of_scipy_are_read_as_sums(tmp_path, kind):
    sp.save_npz(tmp_path / "rows.npz", stored(data(), kind))
    assert_canonical(blocks(tmp_path / "rows.npz"), data())


def test_matrix_market_is_read_as_sums(tmp_path):
    values, rows, columns = parts(data())
    lines = [f"{i + 1} {j + 1} {v}" for i, j, v in zip(rows, columns, values, strict=True)]
    head = "%%MatrixMarket matrix coordinate real general"
    size = f"{len(data())} {data().shape[1]} {len(values)}"
    (tmp_path / "rows.mtx").write_text("\n".join([head, size, *lines, ""]))
    assert_canonical(blocks(tmp_path / "rows.mtx"), data())


class Parts(io.Source):
    """A source from outside that hands over entries in parts."""

    def __init__(self, path, _options):
        self.name, self.files, self.n_features = str(path), [path], data().shape[1]

    def _blocks(self, start, epoch):
        yield io.Block(worst(data()), np.arange(len(data())))


READERS = {
    "source": (Parts, data()),
    **{k: (lambda path, options, k=k: stored(data(), k), data()) for k in FORMS},
    "masked": (lambda path, options: np.ma.masked_less(data(), 0.5), None),
}


@pytest.mark.parametrize("kind", READERS)
def test_readers_from_outside(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(inputs, "KINDS", dict(inputs.KINDS))
    reader, X = READERS[kind]
    io.register_reader(".parts", reader)
    (tmp_path / "rows.parts").touch()
    rows = blocks(tmp_path / "rows.parts")
    if X is not None:
        assert_canonical(rows, X)
    else:
        assert_array_equal(np.concatenate(rows), np.where(data() < 0.5, np.nan, data()))


def annotated(counts):
    anndata = pytest.importorskip("anndata")
    found = anndata.AnnData(counts)
    found.var_names = [f"gene{number}" for number in range(counts.shape[1])]
    found.obs_names = [f"cell{number}" for number in range(counts.shape[0])]
    return found


def test_counts_of_cells_and_of_mutations_are_sums(tmp_path):
    X = np.rint(20 * data()[:, [0, 1, 2, 3, 5]])
    whole, found = annotated(X), annotated(stored(X, is_array=False))
    found.write_h5ad(tmp_path / "cells.h5ad")
    genes = cells.overdispersed(whole, 3)
    for counts in (found, cells.read(tmp_path / "cells.h5ad")):
        chosen = cells.overdispersed(counts, 3)
        assert_array_equal(chosen.places, genes.places)
        assert_allclose(chosen.deviation, genes.deviation, rtol=1e-12)
        assert_canonical(
            cells.batches(counts, chosen), np.vstack([*map(dense, cells.batches(whole, genes))])
        )
    assert_array_equal(signatures.read(found).values, X)


def test_tensors_of_three_axes_are_sums():
    X = data()
    values, rows, columns = parts(X)
    places = (rows, *np.unravel_index(columns, (2, 4)))
    S = sp.coo_array((values, places), (len(X), 2, 4))
    S.has_canonical_format = True
    for model in (OnlineCPDictionary(2, n_epochs=1), OnlineCPDictionary(2, reshape=[(1,), (0,)])):
        found, whole = (
            model.set_params(random_state=0).fit(part).components_
            for part in (S, X.reshape(-1, 2, 4))
        )
        assert_allclose(found, whole, rtol=1e-6, atol=1e-9)
    found, whole = (
        online_parafac(part, 2, n_epochs=1, random_state=0).to_tensor()
        for part in (S, X.reshape(-1, 2, 4))
    )
    assert_allclose(found, whole, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 0, 1), (0, 0)])
def test_batches_that_store_nothing(scale, order):
    parts_of = (np.zeros((10, 8)), data())
    whole, found = (
        scaled(scale).fit_stream(form(parts_of[number]) for number in order)
        for form in (np.asarray, sp.csr_array)
    )
    assert_allclose(found.components_, whole.components_, rtol=1e-6, atol=1e-9)


def test_counts_of_words_are_sums():
    documents = ["the cat chased a mouse", "stocks fell", "bonds and stocks fell"] * 6
    models = [TopicModel(2, vectorizer="counts", n_epochs=2, random_state=0) for _ in range(2)]
    whole, found = (model.begin(documents) for model in models)
    found = stored(found.toarray().astype(float), lie=True)
    topics = [
        model.fit_counts(counts).learner_.components_
        for model, counts in zip(models, (whole, found), strict=True)
    ]
    assert_array_equal(*topics)


def test_runs_learn_and_are_judged_by_sums(tmp_path, capsys):
    figures = []
    for name, form in (("whole", sp.csr_array), ("parts", stored)):
        sp.save_npz(tmp_path / f"{name}.npz", form(np.tile(data(), (8, 1))))
        path = str(tmp_path / name)
        run("learn", f"{path}.npz", "--out", path, "--loss", "kl", "--atoms", "3", "--epochs", "1")
        capsys.readouterr()
        run("inspect", path, "--json")
        figures.append(json.loads(capsys.readouterr().out)["held_out"])
    assert figures[0]
    assert figures[0] == figures[1]
