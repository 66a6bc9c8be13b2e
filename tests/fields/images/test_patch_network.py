"""The convolutional classifier of patches: NumPy against torch, files, and torch that is absent."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import ColorRestorer
from atomstream.fields.images.classifiers import ConvolutionalClassifier
from atomstream.io.images import LUMA


def textures(n=300, size=6, seed=0):
    """Rows of horizontal and of vertical stripes at random places: greys alone do not tell."""
    rng = np.random.default_rng(seed)
    waves = np.sin(np.arange(size) * 1.5 + rng.uniform(0, 6, (2, n, 1)))
    across = np.broadcast_to(waves[0][:, None, :], (n, size, size))
    down = np.broadcast_to(waves[1][:, :, None], (n, size, size))
    rows = np.concatenate([across, down]).reshape(2 * n, -1)
    return 0.5 + 0.2 * rows + 0.05 * rng.standard_normal(rows.shape), np.repeat([0, 1], n)


def drawn(n_classes=3, size=5, seed=0):
    """A classifier with random layers, as a file could hold it."""
    rng, made = np.random.default_rng(seed), ConvolutionalClassifier(size)
    shapes = [(1, 3, 3, 16), (16, 3, 3, 32), (32, n_classes)]
    *made.kernels, made.weights = (
        (0.3 * rng.standard_normal(shape)).astype(np.float32) for shape in shapes
    )
    made.biases = [rng.standard_normal(shape[-1]).astype(np.float32) for shape in shapes]
    made.mean, made.scale = 0.4, 0.2
    return made


def by_hand(model, patch):
    """The probabilities of one patch, one output at a time."""
    layer = ((patch.reshape(model.size, model.size, 1) - model.mean) / model.scale).astype(float)
    for kernel, bias, stride in zip(model.kernels, model.biases, (2, 1), strict=False):
        padded = np.pad(layer, ((1, 1), (1, 1), (0, 0)))
        places = range(0, len(layer), stride)
        windows = [[padded[i : i + 3, j : j + 3] for j in places] for i in places]
        layer = np.array(
            [[np.einsum("ijc,cijo->o", part, kernel) + bias for part in row] for row in windows]
        ).clip(0)
    odds = np.exp(layer.mean(axis=(0, 1)) @ model.weights + model.biases[-1])
    return odds / odds.sum()


@pytest.mark.parametrize("size", [1, 4, 5])
def test_probabilities_are_those_of_the_sums_written_out(size):
    model, rows = drawn(size=size), np.random.default_rng(1).random((7, size * size))
    assert_allclose(
        model.probabilities(rows), [by_hand(model, row) for row in rows], rtol=1e-4, atol=1e-6
    )


def test_kernels_have_the_order_of_torch():
    torch = pytest.importorskip("torch", reason="the extra atomstream[torch] is not installed")
    model, rows = drawn(), np.random.default_rng(1).random((9, 25))
    layer = torch.from_numpy(model._patches(rows)).permute(0, 3, 1, 2)
    for kernel, bias, stride in zip(model.kernels, model.biases, (2, 1), strict=False):
        weights = torch.from_numpy(kernel.transpose(3, 0, 1, 2).copy())
        layer = torch.nn.functional.conv2d(
            layer, weights, torch.from_numpy(bias), stride=stride, padding=1
        ).relu()
    linear = (torch.from_numpy(part) for part in (model.weights, model.biases[-1]))
    weights, bias = linear
    odds = layer.mean(dim=(2, 3)) @ weights + bias
    assert_allclose(model.probabilities(rows), odds.softmax(dim=1).numpy(), rtol=1e-4)


def test_textures_are_told_apart_and_a_seed_decides_all(room):
    torch = pytest.importorskip("torch", reason="the extra atomstream[torch] is not installed")
    rows, labels = textures()
    state = torch.random.get_rng_state()
    model = ConvolutionalClassifier(6).fit(rows, labels, 0)
    assert torch.equal(torch.random.get_rng_state(), state)
    others, truth = textures(seed=1)
    room.share((model.probabilities(others).argmax(axis=1) == truth).mean(), at_least=0.95)
    again = ConvolutionalClassifier(6).fit(rows, labels, 0)
    assert_array_equal(model.probabilities(others), again.probabilities(others))
    model.validate(6, 2)


def restorer():
    return ColorRestorer(2, 6, n_patches=300, classifier="convolutional", random_state=0)


def examples():
    rng = np.random.default_rng(0)
    return {
        "grass": rng.uniform(0.4, 0.5, (40, 40, 1)) * [0.4, 1.0, 0.2],
        "sky": rng.uniform(0.85, 0.9, (40, 40, 1)) * [0.6, 0.8, 1.0],
    }


def test_a_picture_is_restored_and_a_file_needs_no_torch(tmp_path, monkeypatch, room):
    pytest.importorskip("torch", reason="the extra atomstream[torch] is not installed")
    pictures = examples()
    model = restorer().fit(pictures)
    grey = pictures["grass"][:20] @ LUMA
    image, classes = model.restore(grey)
    assert (classes == 0).all()
    room.error(np.abs(image - pictures["grass"][:20]).mean(), at_most=0.02)
    atomstream.save(model, tmp_path / "m.atoms")
    monkeypatch.setitem(sys.modules, "torch", None)
    again = atomstream.load(tmp_path / "m.atoms")
    for one, other in zip(again.restore(grey), (image, classes), strict=True):
        assert_array_equal(one, other)
    assert b"pickle" not in (tmp_path / "m.atoms").read_bytes()


def made_without_torch(monkeypatch):
    """A restorer with random layers, so that its file is tested where torch is absent too."""
    monkeypatch.setattr(ConvolutionalClassifier, "fit", lambda self, *_: drawn(2, 6))
    return restorer().fit(examples())


def test_a_file_keeps_the_layers_and_nothing_else(tmp_path, monkeypatch):
    model = made_without_torch(monkeypatch)
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    rows = np.random.default_rng(0).random((5, 36))
    assert_array_equal(again.classifier_.probabilities(rows), model.classifier_.probabilities(rows))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda part: setattr(part, "kernels", part.kernels[:1]),
        lambda part: setattr(part, "weights", part.weights[:, :1]),
        lambda part: setattr(part, "weights", part.weights.astype(np.float64)),
        lambda part: setattr(part, "biases", part.biases[::-1]),
        lambda part: setattr(part, "kernels", part.kernels[::-1]),
        lambda part: setattr(part, "scale", 0.0),
        lambda part: setattr(part, "size", 7),
    ],
)
def test_files_of_layers_that_do_not_fit_are_refused(spoil, tmp_path, monkeypatch):
    model = made_without_torch(monkeypatch)
    spoil(model.classifier_)
    atomstream.save(model, tmp_path / "m.atoms")
    with pytest.raises(atomstream.CorruptModelError):
        atomstream.load(tmp_path / "m.atoms")


def test_without_torch_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = restorer()
    with pytest.raises(ImportError, match=r"pip install 'atomstream\[torch\]'"):
        model.fit(examples())
    assert not hasattr(model, "classifier_")


def test_an_unknown_classifier_and_a_changed_one_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="must be perceptron or convolutional"):
        restorer().set_params(classifier="forest").fit(examples())
    model = made_without_torch(monkeypatch).set_params(classifier="perceptron")
    with pytest.raises(ValueError, match="learned another kind; call fit"):
        model.restore(np.zeros((20, 20)))
