"""A sparse matrix means the sum of its stored parts, in whatever form it is handed over."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from cases import of_fields
from commands import run
from doors_of_functions import CASES as FUNCTIONS
from doors_of_models import CASES as MODELS
from given import outcome
from numpy.testing import assert_allclose, assert_array_equal
from sparse_parts import assert_alike, assert_canonical, data, parts, stored, worst
from strategies import LOSS_NAMES

from atomstream import OnlineDictionaryLearning, OnlineNMF, io
from atomstream.base import checked_numbers
from atomstream.io import inputs
from atomstream.loop.scaling import SCALES

FORMS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


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
    **of_fields("sparse_models"),
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


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 0, 1), (0, 0)])
def test_batches_that_store_nothing(scale, order):
    parts_of = (np.zeros((10, 8)), data())
    whole, found = (
        scaled(scale).fit_stream(form(parts_of[number]) for number in order)
        for form in (np.asarray, sp.csr_array)
    )
    assert_allclose(found.components_, whole.components_, rtol=1e-6, atol=1e-9)


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
