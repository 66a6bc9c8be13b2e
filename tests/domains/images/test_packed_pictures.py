"""Pictures in small files: what goes in comes out, and nothing else does."""

import hashlib
import io
import lzma
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_sample_image

from atomstream import ImageDictionary, images
from atomstream.domains.images import compression, jpeg_size
from atomstream.domains.images.packing import (
    differences,
    folded,
    squeezed,
    sums,
    unfolded,
    unsqueezed,
)
from atomstream.exceptions import InputError

RNG = np.random.default_rng


def picture(shape=(61, 50), dtype=np.uint8):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    grey = 0.5 + 0.2 * np.sin(rows / 4) * np.cos(columns / 5) + 0.2 * ((rows + columns) % 23 > 11)
    values = (
        grey
        if len(shape) == 2
        else np.stack([grey * (1 - 0.2 * c) for c in range(shape[2])], axis=2)
    )
    scale = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    return (values * scale).astype(dtype)


def learned(image, **settings):
    return ImageDictionary(
        **{"n_components": 24, "patch_size": 6, "n_patches": 2000, "random_state": 0} | settings
    ).fit(image)


@pytest.fixture(scope="module")
def model():
    return learned(picture())


@pytest.fixture(scope="module")
def packed(model):
    return model.compress(picture(), 30)


def signed_anew(data):
    """Return bytes with the digest that belongs to them."""
    header = compression.Header.of(data)
    body = data[compression.HEAD.size :]
    digest = hashlib.sha256(header._replace(digest=bytes(32)).packed() + body).digest()
    return header._replace(digest=digest).packed() + body


def test_numbers_come_back():
    rng = RNG(0)
    numbers = rng.integers(-32768, 32768, 1000)
    assert_array_equal(unfolded(unsqueezed(squeezed(folded(numbers)), 1000)), numbers)
    table = rng.integers(-100, 100, (7, 5, 3))
    assert_array_equal(sums(differences(table)), table)
    assert len(unsqueezed(b"", 0)) == 0


def test_no_more_is_unpacked_than_was_said():
    bomb = squeezed(np.zeros(1 << 22, int))
    assert len(bomb) < 5000
    assert_array_equal(unsqueezed(squeezed(np.arange(5)), 5), np.arange(5))
    with pytest.raises(InputError, match="claims 40 bytes in a section of 10"):
        unsqueezed(squeezed(np.arange(5)), 20)
    assert len(unsqueezed(bomb, 10)) == 10


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(61, 50), (40, 47, 3)])
def test_a_picture_comes_back_as_good_as_was_asked_for(dtype, shape):
    image = picture(shape, dtype)
    model = learned(image, n_components=48)
    for quality in (25, 35):
        data = model.compress(image, quality)
        rebuilt = images.decompress(data)
        assert rebuilt.shape == image.shape
        assert rebuilt.dtype == image.dtype
        assert images.psnr(image, rebuilt) > quality - 0.5
        assert_array_equal(model.decompress(data), rebuilt)
    assert len(model.compress(image, 25)) < len(data)


PHOTOGRAPHS = {
    "roof": ("china.jpg", 100, 60),
    "sky": ("china.jpg", 0, 300),
    "petals": ("flower.jpg", 150, 250),
    "grey": ("flower.jpg", 0, 0),
}


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs_have_the_quality_that_was_asked_for(name):
    pytest.importorskip("PIL")
    file, top, left = PHOTOGRAPHS[name]
    image = load_sample_image(file)[top : top + 128, left : left + 160]
    image = image[:, :, 1] if name == "grey" else image
    model = ImageDictionary(160, n_patches=3000, random_state=0).fit(image)
    sizes = []
    for quality in (25, 30, 36):
        data = model.compress(image, quality)
        assert images.psnr(image, images.decompress(data)) == pytest.approx(quality, abs=0.3)
        sizes.append(len(data))
    assert sizes == sorted(sizes)


def test_jpeg_is_compared_at_equal_quality():
    pillow = pytest.importorskip("PIL.Image")
    image = load_sample_image("china.jpg")[100:228, 60:220]
    for pixels in (image, image[:, :, 0]):
        files = []  # every setting that Pillow has
        for setting in range(1, 96):
            for sampling in (0, 2):
                with io.BytesIO() as file:
                    how = {"quality": setting, "subsampling": sampling, "optimize": True}
                    pillow.fromarray(pixels).save(file, "JPEG", **how)
                    files.append((images.psnr(pixels, np.asarray(pillow.open(file))), file.tell()))
        for quality in (22, 30, 36):
            best = min(size for reached, size in files if reached >= quality)
            assert jpeg_size(pixels, quality) == pytest.approx(best, rel=0.01)
        assert jpeg_size(pixels, 70) is None


def test_nonnegative_dictionaries_pack_as_well():
    model = learned(picture(), nonnegative=True)
    assert images.psnr(picture(), images.decompress(model.compress(picture(), 25))) > 24.5


def test_a_quality_that_is_missed_and_a_file_that_is_too_large_are_told():
    noise = RNG(0).random((64, 64))
    few = learned(picture(), n_components=4)
    with pytest.warns(
        UserWarning, match=r"reaches .* decibels instead of 45: its 4 atoms allow no more"
    ):
        few.compress(noise, 45)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned(picture(dtype=float)).compress(
            1.2 * picture(dtype=float), 30
        )  # what is clipped is not missed
    tiny = picture((12, 12))
    with pytest.warns(UserWarning, match="more than the 144 of its pixels"):
        learned(picture()).compress(tiny, 30)


@pytest.mark.parametrize("quality", [np.float32(30), np.float64(30), np.int64(30), 30.0])
def test_a_quality_is_any_number(model, packed, quality):
    assert model.compress(picture(), quality) == packed


def test_without_its_dictionary_a_file_is_smaller_and_needs_the_model(model, packed):
    bare = model.compress(picture(), 30, include_dictionary=False)
    assert len(bare) < len(packed) - 300
    assert_array_equal(model.decompress(bare), images.decompress(packed))
    with pytest.raises(InputError, match="does not contain its dictionary"):
        images.decompress(bare)
    with pytest.raises(InputError, match="was compressed with another dictionary"):
        learned(picture(), random_state=1).decompress(bare)


def test_every_changed_or_missing_byte_is_refused(packed):
    for place in RNG(0).integers(len(packed), size=200):
        changed = bytearray(packed)
        changed[place] ^= 1 << int(place % 8)
        with pytest.raises(InputError):
            images.decompress(bytes(changed))
    for n in (0, 5, 100, compression.HEAD.size, len(packed) - 1):
        with pytest.raises(InputError):
            images.decompress(packed[:n])
    with pytest.raises(InputError):
        images.decompress(packed + b"x")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"height": 2**31, "width": 2**31}, "more than max_pixels"),
        ({"height": 0}, "sizes that make no sense"),
        ({"patch": 0}, "sizes that make no sense"),
        ({"atoms": 0}, "sizes that make no sense"),
        ({"dtype": 9}, "sizes that make no sense"),
        ({"channels": 65}, "sizes that make no sense"),
        ({"step": float("nan")}, "sizes that make no sense"),
        ({"step": 0.0}, "sizes that make no sense"),
        ({"flags": 9}, "sizes that make no sense"),
        ({"format": 2}, "has format 2"),
        ({"lengths": (0, 0, 0, 0, 0)}, "sizes that make no sense"),
        ({"atoms": 25}, "claims|damaged|another dictionary"),
        ({"height": 600}, "claims|damaged"),
        ({"dictionary": bytes(32)}, "another dictionary"),
    ],
)
def test_claims_that_make_no_sense_are_refused_though_signed(packed, changes, message):
    header = compression.Header.of(packed)._replace(**changes)
    with pytest.raises(InputError, match=message):
        images.decompress(signed_anew(header.packed() + packed[compression.HEAD.size :]))


def test_atoms_that_there_are_not_are_refused(packed):
    header, at, parts = compression.Header.of(packed), compression.HEAD.size, []
    for length in header.lengths:
        parts.append(packed[at : at + length])
        at += length
    n_codes = int(unsqueezed(parts[2], header.grid[0] * header.grid[1]).sum())
    for wrong, message in (
        ({3: squeezed(np.full(n_codes, 999))}, "uses atoms that are not in its dictionary"),
        ({2: squeezed(np.full(header.grid[0] * header.grid[1], 25))}, "more atoms than there are"),
        ({4: lzma.compress(b"x")}, "damaged|claims"),
    ):
        changed = [wrong.get(i, part) for i, part in enumerate(parts)]
        lengths = tuple(map(len, changed))
        with pytest.raises(InputError, match=message):
            images.decompress(
                signed_anew(header._replace(lengths=lengths).packed() + b"".join(changed))
            )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.compress(picture(), 0),
            "quality must be above 0 and at most 60 decibels, got 0",
        ),
        (lambda m: m.compress(picture(), 61), "quality must be above 0"),
        (lambda m: m.compress(picture(), "high"), "quality must be above 0"),
        (
            lambda m: m.compress(picture().astype(np.int32) << 20),
            "Images of int32 cannot be compressed",
        ),
        (lambda m: m.compress(picture((40, 40, 3))), "has learned patches of shape"),
        (lambda m: m.decompress("abc"), "data must be the bytes of a compressed image, got str"),
        (
            lambda m: images.decompress(10**15),
            "data must be the bytes of a compressed image, got int",
        ),
        (lambda m: m.decompress(b"\x89PNG"), "not an image compressed by atomstream"),
    ],
)
def test_bad_input_is_refused(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)
