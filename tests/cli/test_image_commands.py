"""``atomstream image``: from files to files, and one sentence where that cannot be."""

import json
import shutil

import numpy as np
import pytest

import atomstream
from atomstream import ImageDictionary, images
from atomstream.cli import main

Image = pytest.importorskip("PIL.Image")
FEW = ["--atoms", "16", "--patch", "6"]


def picture(channels=None):
    rows, columns = np.mgrid[:50, :60]
    grey = 0.5 + 0.2 * np.sin(rows / 4) * np.cos(columns / 5) + 0.2 * ((rows + columns) % 23 > 11)
    values = (
        grey
        if channels is None
        else np.stack([grey * (1 - 0.2 * c) for c in range(channels)], axis=2)
    )
    return np.rint(255 * values).astype(np.uint8)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    Image.fromarray(picture()).save(folder / "grey.png")
    Image.fromarray(picture(3)).save(folder / "color.png")
    noisy = picture() + 15 * np.random.default_rng(0).standard_normal((50, 60))
    Image.fromarray(np.rint(noisy.clip(0, 255)).astype(np.uint8)).save(folder / "noisy.png")
    mask = np.random.default_rng(0).random((50, 60)) < 0.4
    Image.fromarray((255 * mask).astype(np.uint8)).save(folder / "mask.png")
    model = ImageDictionary(16, 6, n_patches=1000, random_state=0).fit(picture())
    atomstream.save(model, folder / "model.atoms")
    atomstream.save(atomstream.OnlineNMF(2), folder / "fresh.atoms")
    other = atomstream.OnlineNMF(2, random_state=0).fit(picture() / 255)
    atomstream.save(other, folder / "other.atoms")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def call(capsys, folder, *arguments):
    """Run a command on the files of the folder; return what it printed as JSON."""
    paths = [str(folder / a) if "." in a else a for a in arguments]
    code, told = main(["image", *paths, "--json"]), capsys.readouterr()
    assert code == 0, told.err
    assert "Warning" not in told.err
    return json.loads(told.out)


def read(path):
    return np.asarray(Image.open(path))


@pytest.mark.slow
def test_denoise(capsys, folder, room):
    told = call(capsys, folder, "denoise", "noisy.png", "--out", "clean.png", *FEW)
    room.near(told["sigma"], 15, rel=0.5)
    clean = read(folder / "clean.png")
    room.decibels(
        images.psnr(picture(), clean) - images.psnr(picture(), read(folder / "noisy.png")),
        at_least=3,
    )
    given = ("--sigma", "15", "--model", "model.atoms")
    assert call(capsys, folder, "denoise", "noisy.png", "--out", "clean.png", *given)["sigma"] == 15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grey.png", "color.png"])
def test_inpaint(capsys, folder, name, room):
    told = call(capsys, folder, "inpaint", name, "--mask", "mask.png", "--out", "filled.png", *FEW)
    assert told["filled"] == pytest.approx(0.4, abs=0.05)
    before, after, mask = (
        read(folder / name),
        read(folder / "filled.png"),
        read(folder / "mask.png") > 0,
    )
    assert (after[~mask] == before[~mask]).all()
    room.decibels(images.psnr(before, after), at_least=25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.dstack([picture(3), picture()]), "has an alpha channel; the result does not"),
        (
            picture().astype(np.uint16) * 257,
            "has more than 8 bits per channel; the result does not",
        ),
    ],
)
def test_what_the_result_will_not_have_is_told(capsys, folder, image, message):
    Image.fromarray(image[:24, :24]).save(folder / "rich.png")
    assert (
        main(["image", "denoise", str(folder / "rich.png"), "--out", str(folder / "o.png"), *FEW])
        == 0
    )
    assert f"rich.png {message}" in capsys.readouterr().err
