"""Streams end in the right arrays; images come back from their patches."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.feature_extraction.image import extract_patches_2d

from atomstream import OnlineNMF, images, streams

RNG = np.random.default_rng


def test_batches_cover_all_rows_once():
    X = np.arange(22.0).reshape(11, 2)
    assert_array_equal(np.concatenate(list(streams.batches(X, 4))), X)
    drawn = np.concatenate(list(streams.batches(X, 4, rng=RNG(0))))
    assert not np.array_equal(drawn, X)
    assert_array_equal(np.sort(drawn[:, 0]), X[:, 0])
    assert sp.issparse(next(streams.batches(sp.csr_array(X), 4)))


@pytest.mark.parametrize("channels", [None, 3])
def test_all_patches_are_those_of_scikit_learn(channels):
    image = RNG(0).random((9, 8) if channels is None else (9, 8, channels))
    ours = np.concatenate(list(streams.patches(image, (3, 4), batch_size=7)))
    theirs = extract_patches_2d(image, (3, 4))
    assert_array_equal(ours, theirs.reshape(len(theirs), -1))


def test_random_patches_come_from_every_image_in_proportion_and_repeat_with_the_seed():
    pictures = [np.zeros((12, 12)), np.ones((12, 7))]  # 100 and 50 places for 3 x 3
    drawn = np.concatenate(list(streams.patches(pictures, 3, 64, n_samples=6000, rng=RNG(0))))
    assert drawn.shape == (6000, 9)
    share = drawn[:, 0].mean()
    assert abs(share - 1 / 3) < 4.5 * np.sqrt(2 / 9 / 6000)
    again = np.concatenate(list(streams.patches(pictures, 3, 64, n_samples=6000, rng=RNG(0))))
    assert_array_equal(drawn, again)


def test_random_patches_are_patches_and_never_end():
    image = RNG(1).random((10, 11))
    known = {tuple(p) for p in extract_patches_2d(image, (2, 2)).reshape(-1, 4)}
    batches = list(itertools.islice(streams.patches(image, 2, 5, rng=RNG(2)), 100))
    assert len(batches) == 100
    assert all(tuple(row) in known for batch in batches for row in batch)


def test_patches_of_a_memory_map_read_only_what_they_need(tmp_path):
    image = RNG(3).integers(0, 255, (200, 300)).astype(np.uint8)
    np.save(tmp_path / "image.npy", image)
    mapped = np.load(tmp_path / "image.npy", mmap_mode="r")
    batch = next(streams.patches(mapped, 8, 32, rng=RNG(0)))
    assert_array_equal(batch, next(streams.patches(image, 8, 32, rng=RNG(0))))
    assert batch.dtype == np.float32


def test_centred_patches_have_mean_zero():
    batch = next(streams.patches(RNG(0).random((20, 20)), 5, center="patch"))
    assert_allclose(batch.mean(axis=1), 0, atol=1e-12)


def test_windows_of_one_and_several_series():
    series = np.arange(12.0).reshape(6, 2)
    got = np.concatenate(list(streams.windows(series, 3, 2)))
    assert_array_equal(got, [series[i : i + 3].ravel() for i in range(4)])
    assert_array_equal(next(streams.windows(series[:, 0], 3, stride=2)), [[0, 2, 4], [4, 6, 8]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: streams.patches(np.zeros((4, 4)), 5), "smaller than a patch"),
        (lambda: streams.patches(np.zeros(4), 2), "image must have 2 axes"),
        (lambda: streams.patches(np.zeros((4, 4)), 2, n_samples=3), "n_samples=3 needs rng"),
        (
            lambda: streams.patches(np.zeros((4, 4)), 2, center="image"),
            "center must be None or 'patch', got 'image'",
        ),
        (lambda: streams.windows(np.zeros(3), 5), "at least size=5 times"),
        (lambda: streams.batches(np.zeros((3, 2)), 0), "batch_size must be at least 1, got 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        next(call())


@pytest.mark.parametrize("stride", [1, 3, 5])
@pytest.mark.parametrize("center", [None, "patch"])
@pytest.mark.parametrize("channels", [None, 3])
def test_a_complete_dictionary_gives_the_image_back(stride, center, channels):
    image = RNG(0).random((23, 31) if channels is None else (23, 31, channels))
    rows = np.concatenate(list(streams.patches(image, 5, center=center)))
    model = PCA(n_components=None).fit(rows)
    rebuilt = images.reconstruct(model, image, 5, stride=stride, center=center)
    assert rebuilt.shape == image.shape
    assert_allclose(rebuilt, image, atol=1e-10)


def test_overlaps_are_averaged():
    image = RNG(0).random((12, 12))

    class Constant:
        """A model whose reconstruction is the mean of each patch."""

        def transform(self, X):
            return X.mean(axis=1, keepdims=True)

        def inverse_transform(self, codes):
            return np.repeat(codes, 9, axis=1)

    total, count = np.zeros((12, 12)), np.zeros((12, 12))
    for top, left in itertools.product(range(10), range(10)):
        total[top : top + 3, left : left + 3] += image[top : top + 3, left : left + 3].mean()
        count[top : top + 3, left : left + 3] += 1
    assert_allclose(images.reconstruct(Constant(), image, 3), total / count)


def test_a_photograph_is_learned_and_rebuilt(room):
    image = np.clip(
        np.add.outer(np.sin(np.arange(60) / 5), np.cos(np.arange(50) / 7)) / 4 + 0.5, 0, 1
    )
    model = OnlineNMF(n_components=16, random_state=0)
    model.fit_stream(streams.patches(image, 6, 100, n_samples=4000, rng=RNG(0)))
    room.decibels(images.psnr(image, images.reconstruct(model, image, 6)), at_least=35)


def test_bad_strides_are_refused_and_integers_seed_streams():
    with pytest.raises(ValueError, match="stride must be from 1 to the patch's size, 5, got 6"):
        images.reconstruct(None, np.zeros((20, 20)), 5, stride=6)
    assert_array_equal(
        next(streams.batches([[1], [2], [3]], rng=0)), next(streams.batches(np.c_[1:4], rng=RNG(0)))
    )


def test_psnr():
    white, gray = np.full((4, 4), 255, np.uint8), np.full((4, 4), 230, np.uint8)
    assert images.psnr(white, gray) == pytest.approx(20 * np.log10(255 / 25))
    with pytest.raises(ValueError, match="must have one shape"):
        images.psnr(white, white[0])
    assert images.psnr(np.zeros((2, 2)), np.full((2, 2), 0.1)) == pytest.approx(20)
    assert images.psnr(np.ones(3), np.ones(3)) == np.inf
