"""Colour for grey pictures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neural_network import MLPClassifier

import atomstream
from atomstream import ColorRestorer
from atomstream.fields.images.classifiers import PatchClassifier, features
from atomstream.io.images import LUMA

RNG = np.random.default_rng


def material(name, height=60, width=60, seed=0):
    rng = RNG(seed)
    rows = np.arange(height)[:, None, None] + 0 * np.arange(width)[None, :, None]
    if name == "waves":
        return (0.5 + 0.1 * np.sin(rows / 2) + 0.02 * rng.random((height, width, 1))) * [
            0.3,
            0.6,
            1.0,
        ]
    return rng.uniform(0.3, 0.7, (height, width, 1)) * [0.9, 0.7, 0.2]


def small(**settings):
    return ColorRestorer(
        **{"n_components": 3, "patch_size": 6, "n_patches": 1000, "random_state": 0} | settings
    )


@pytest.fixture(scope="module")
def model():
    return small().fit({"waves": material("waves"), "sand": material("sand")})


def test_materials_get_their_colours_and_are_told_apart(model, room):
    original = np.concatenate([material("waves", seed=1), material("sand", seed=1)], axis=1)
    image, classes = model.restore(original @ LUMA)
    assert image.shape == original.shape
    assert classes.shape == (60, 120)
    room.share((classes == np.repeat([0, 1], 60)).mean(), at_least=0.93)
    inside = np.r_[0:52, 68:120]
    room.error(np.abs(image - original)[:, inside].mean(), at_most=0.05)
    missed = np.abs(image @ LUMA - original @ LUMA)
    assert (
        missed[((image > 0) & (image < 1)).all(axis=2)] < 0.002
    ).all()  # the weights sum to 0.9999
    room.error(missed.max(), at_most=0.01)
    assert model.materials_ == ["waves", "sand"]


def test_codes_on_greys_are_codes_of_colours():
    """Where a picture is made of the atoms, colour comes back exactly, luma kept or not."""
    model = small(n_components=1, patch_size=4, keep_luma=False)
    examples = {
        "a": np.ones((30, 30, 3)) * [0.2, 0.4, 0.6],
        "b": np.ones((30, 30, 3)) * [0.9, 0.8, 0.1],
    }
    model.fit(examples)
    for number, example in enumerate(examples.values()):
        image, classes = model.restore(example @ LUMA)
        assert (classes == number).all()
        assert_allclose(image, example, atol=1e-5)


def test_integers_are_restored_as_integers(model):
    grey = np.rint(255 * (material("waves") @ LUMA)).astype(np.uint8)
    image, classes = model.restore(grey)
    assert image.dtype == np.uint8
    floats, same = model.restore(grey / 255)
    assert_array_equal(classes, same)
    assert_allclose(image / 255, floats.clip(0, 1), atol=0.01)


@pytest.mark.parametrize("keep_luma", [True, False])
def test_floats_are_restored_within_black_and_white(keep_luma):
    model = small(keep_luma=keep_luma).fit({"waves": material("waves"), "sand": material("sand")})
    grey = RNG(3).choice([0.0, 1.0], (30, 30))
    image = model.restore(grey).image
    assert 0 <= image.min() <= image.max() <= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_network_kept_is_the_one_that_scikit_learn_fitted(n_classes, monkeypatch):
    rng, kept = RNG(0), []
    rows = np.concatenate([rng.random((200, 25)) * (0.4 + 0.3 * k) for k in range(n_classes)])
    labels = np.repeat(np.arange(n_classes), 200)
    fit = MLPClassifier.fit
    monkeypatch.setattr(
        MLPClassifier, "fit", lambda self, X, y: kept.append(self) or fit(self, X, y)
    )
    ours = PatchClassifier(5).fit(rows, labels, 0)
    told = (features(rows, 5) - ours.mean) / ours.scale
    assert_allclose(ours.probabilities(rows), kept[0].predict_proba(told), atol=1e-10)


def test_a_saved_model_restores_to_the_bit(model, tmp_path):
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    grey = material("sand", seed=2) @ LUMA
    for a, b in zip(model.restore(grey), again.restore(grey), strict=True):
        assert_array_equal(a, b)
    assert again.get_params() == model.get_params()
    assert b"pickle" not in (tmp_path / "m.atoms").read_bytes()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: setattr(m.classifier_, "weights", m.classifier_.weights[:1]),
        lambda m: setattr(m.classifier_, "mean", np.zeros(3)),
        lambda m: setattr(m.classifier_, "size", 7),
        lambda m: m.dictionaries_.pop("sand"),
        lambda m: setattr(m, "n_components", 4),
        lambda m: setattr(m, "dictionaries_", [1, 2]),
    ],
)
def test_files_of_parts_that_do_not_fit_are_refused(spoil, tmp_path):
    model = small().fit({"waves": material("waves"), "sand": material("sand")})
    spoil(model)
    atomstream.save(model, tmp_path / "m.atoms")
    with pytest.raises(atomstream.CorruptModelError):
        atomstream.load(tmp_path / "m.atoms")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.fit({"one": material("sand")}), "at least two materials"),
        (lambda m: m.fit([material("sand")] * 2), "examples must be a mapping"),
        (
            lambda m: m.fit({"a": material("sand"), "b": material("sand")[:, :, 0]}),
            "b have no three channels",
        ),
        (
            lambda m: m.fit({"a": material("sand"), "b": material("sand")[:4]}),
            "smaller than a patch",
        ),
        (lambda m: m.restore(material("sand")), r"image must be grey, of shape \(height, width\)"),
        (lambda m: m.restore(np.zeros((5, 60))), "smaller than a patch"),
        (lambda m: m.restore(255 * material("sand") @ LUMA), "convert to uint8 or divide by 255"),
        (lambda m: m.restore(np.full((20, 20), np.nan)), "holds NaN or infinity"),
    ],
)
def test_bad_input_is_refused_and_the_model_stays(model, call, message):
    before = model.dictionaries_
    with pytest.raises(ValueError, match=message):
        call(model)
    assert model.dictionaries_ is before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"patch_size": 5},
            "patch_size is 5 and the model has learned with patch_size=6; call fit to start over",
        ),
        (
            {"n_components": 4},
            "n_components is 4 and the dictionary has 3 atoms; call fit to start over",
        ),
    ],
)
def test_settings_changed_since_fit_are_refused(model, settings, message):
    before = model.get_params()
    try:
        with pytest.raises(ValueError, match=message):
            model.set_params(**settings).restore(material("sand") @ LUMA)
    finally:
        model.set_params(**before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"n_patches": 9},
            "waves give 9 patches, needed are at least 10 to tell materials apart; n_patches is 9",
        ),
        ({"n_components": 0}, "'n_components' .* must be a whole number"),
        ({"patch_size": 0}, "'patch_size' .* must be a whole number"),
        ({"keep_luma": 1}, "'keep_luma' .* must be True or False"),
        ({"alpha": -0.1}, "'alpha' .* must be a number from 0 to"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        small(**settings).fit({"waves": material("waves"), "sand": material("sand")})
