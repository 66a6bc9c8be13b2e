"""Doors to other tools, tried with these tools where they are installed."""

import importlib
import sys

import numpy as np
import pytest
from pages import block

from atomstream import OnlineNMF


def test_the_page_of_recipes_has_the_class_for_river():
    compile(block("docs/recipes/streams.md", "river"), "river", "exec")


@pytest.fixture
def atoms(tmp_path, monkeypatch):
    """Return the class for river, from a module of its own: the checks pickle it."""
    pytest.importorskip("river", reason="river is not installed")
    source = block("docs/recipes/streams.md", "river")
    (tmp_path / "river_recipe.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("river_recipe").Atoms
    del sys.modules["river_recipe"]


@pytest.mark.filterwarnings("default")
def test_the_class_for_river_passes_the_checks_of_river(atoms, monkeypatch):
    checks = pytest.importorskip("river.checks")
    model = atoms(OnlineNMF(3, random_state=0), batch_size=32)
    params = classmethod(lambda cls: iter([{"model": OnlineNMF(3, random_state=0)}]))
    monkeypatch.setattr(atoms, "_unit_test_params", params)
    found = list(checks.yield_checks(model))
    assert len(found) > 20
    for check in found:
        check(model.clone())


def test_river_learns_the_same_row_by_row_and_from_a_table(atoms):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(300, 3)) @ rng.random((3, 8))
    one, many = (atoms(OnlineNMF(3, random_state=0)) for _ in range(2))
    many.learn_many(pd.DataFrame(X, columns=list("abcdefgh")))
    for row in X:
        one.learn_one(dict(zip("abcdefgh", row, strict=True)))
    plain = OnlineNMF(3, random_state=0)
    for start in range(0, 256, 64):
        plain.partial_fit(X[start : start + 64])
    for made in (one, many):
        np.testing.assert_array_equal(made.learner.components_, plain.components_)
    codes = plain.transform(X[:5])
    np.testing.assert_array_equal(
        many.transform_many(pd.DataFrame(X[:5], columns=list("abcdefgh"))), codes
    )


def test_librosa_takes_a_model():
    librosa = pytest.importorskip("librosa", reason="librosa is not installed")
    times = np.arange(4 * 22_050) / 22_050
    sound = np.sin(2 * np.pi * 440 * times) * (times < 2)
    sound += np.sin(2 * np.pi * 660 * times) * (times > 1.5)
    spectrogram = np.abs(librosa.stft(sound))
    model = OnlineNMF(2, loss="kl", random_state=0)
    notes, when = librosa.decompose.decompose(spectrogram, transformer=model)
    assert notes.shape == (1025, 2)
    assert when.shape == (2, spectrogram.shape[1])
    heard = np.sort(librosa.fft_frequencies(sr=22_050)[notes.argmax(axis=0)])
    np.testing.assert_allclose(heard, [440, 660], atol=11)  # half the width of a channel


# -- HyperSpy

CHANNELS = np.arange(300)
LINES = (((40, 120), (1, 0.5)), ((60, 200), (1, 0.7)), ((90, 250), (1, 0.4)))
QUIET = {"output_dimension": 3, "print_info": False}


def phases():
    """Return three spectra of unit sum: two lines each, over a constant."""
    made = [
        sum(
            height * np.exp(-((CHANNELS - place) ** 2) / 32)
            for place, height in zip(*two, strict=True)
        )
        for two in LINES
    ]
    spectra = np.array(made) + 0.05
    return spectra / spectra.sum(axis=1, keepdims=True)


def picture(counts, shape=(80, 100), seed=0):
    """Return counts of X-rays: each phase has a part of the picture, and they overlap."""
    rows, columns = np.mgrid[: shape[0], : shape[1]] / np.array(shape)[:, None, None]
    shares = np.array(
        [columns < 0.4, (columns >= 0.3) & (rows < 0.6), (rows >= 0.4) & (columns > 0.5)],
        dtype=float,
    )
    shares[0] += shares.sum(axis=0) == 0
    shares /= shares.sum(axis=0)
    rate = np.einsum("kij,kd->ijd", shares * np.array(counts)[:, None, None], phases())
    return np.random.default_rng(seed).poisson(rate).astype(float)


def least(factors):
    """Return the cosine of the phase that is found worst."""
    found, true = np.nan_to_num(np.asarray(factors)), phases()
    found = found / np.linalg.norm(found, axis=0)
    return ((true / np.linalg.norm(true, axis=1, keepdims=True)) @ found).max(axis=1).min()


def lazy(hs, X):
    """Return a lazy signal in blocks of the picture, each of one place."""
    array = pytest.importorskip("dask.array")
    return hs.signals.Signal1D(array.from_array(X, chunks=(20, 25, X.shape[2]))).as_lazy()


@pytest.fixture
def hs():
    """HyperSpy, whose warnings are its own."""
    return pytest.importorskip("hyperspy.api", reason="hyperspy is not installed")


@pytest.mark.filterwarnings("default")
def test_hyperspy_decomposes_in_memory(hs, room):
    for seed in range(3):
        signal = hs.signals.Signal1D(picture((60, 60, 60), seed=seed))
        signal.decomposition(algorithm=OnlineNMF(3, loss="kl", random_state=seed), **QUIET)
        room.share(least(signal.learning_results.factors), at_least=0.98)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("in_memory", [True, False])
def test_hyperspy_leaves_masked_places_and_channels_out(hs, in_memory):
    X = picture((60, 60, 60))
    places, channels = np.zeros(X.shape[:2], bool), np.zeros(X.shape[2], bool)
    places[:10, :10], channels[:20] = True, True
    spoilt = X.copy()
    spoilt[places], spoilt[:, :, channels] = 1e4, 1e4
    signal = hs.signals.Signal1D(spoilt) if in_memory else lazy(hs, spoilt)
    masks = {
        "navigation_mask": hs.signals.BaseSignal(places).T,
        "signal_mask": hs.signals.BaseSignal(channels),
    }
    signal.decomposition(algorithm=OnlineNMF(3, loss="kl", random_state=0), **masks, **QUIET)
    found = np.asarray(signal.learning_results.factors)
    assert np.isnan(found[channels]).all()
    assert not np.isnan(found[~channels]).any()
    assert found[~channels].max() < 1e4


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("in_memory", [True, False])
def test_hyperspy_projects_what_was_left_out_on_the_atoms(hs, in_memory):
    X = picture((60, 60, 60))
    places = np.zeros(X.shape[:2], bool)
    places[:10, :10] = True
    signal = hs.signals.Signal1D(X) if in_memory else lazy(hs, X)
    masks = {"navigation_mask": hs.signals.BaseSignal(places).T, "reproject": "navigation"}
    signal.decomposition(algorithm=OnlineNMF(3, loss="kl", random_state=0), **masks, **QUIET)
    shares = np.asarray(signal.learning_results.loadings).reshape(*places.shape, 3)
    assert not np.isnan(shares).any()
    assert shares[places].sum() > 0


@pytest.mark.filterwarnings("default")
def test_hyperspy_learns_lazily_from_atoms_of_the_whole_picture(hs, room):
    """As the recipe says; without these atoms the first block decides what there is."""
    for seed in range(3):
        X = picture((10, 10, 10), (160, 200), seed)
        rows = X.reshape(-1, X.shape[2])
        some = np.random.default_rng(seed).choice(len(rows), 4000, replace=False)
        first = OnlineNMF(3, loss="kl", random_state=seed).fit(rows[some])
        start = {"init": first.components_, "schedule": "harmonic"}
        model = OnlineNMF(3, loss="kl", random_state=seed, **start)
        signal = lazy(hs, X)
        signal.decomposition(algorithm=model, **QUIET)
        room.share(least(signal.learning_results.factors), at_least=0.96)
