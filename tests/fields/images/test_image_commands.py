"""``atomstream image``: from files to files, and one sentence where that cannot be."""

import json
import shutil
import struct
import zlib

import numpy as np
import pytest
from commands import refused

import atomstream
from atomstream import ImageDictionary, cli, images
from atomstream.cli import main
from atomstream.io import InputOptions, Pictures, is_color, load_image, write_image
from atomstream.io.images import pixel_format
from atomstream.io.outputs import PixelFormat

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


def deep(channels, top=65535):
    values = picture(channels)[:30, :40] / 255
    return np.rint(top * values).astype(np.uint16)


def saved(path, levels):
    """Write 16 bits a channel, and read them again as they are stored."""
    alpha = levels[:, :, -1] / 65535 if levels.ndim > 2 and levels.shape[2] in (2, 4) else None
    colors = levels if alpha is None else levels[:, :, :-1]
    colors = colors[:, :, 0] if colors.shape[2:] == (1,) else colors
    write_image(path, colors / 65535, PixelFormat(16, alpha))
    return levels


def stored(path):
    color, form = is_color(path), pixel_format(path)
    channels = [load_image(path, color=color).reshape(*_size(path), -1)]
    channels += [] if form.alpha is None else [form.alpha[:, :, None]]
    assert form.bits == 16
    return np.rint(65535 * np.concatenate(channels, axis=2)).astype(np.uint16).squeeze()


def _size(path):
    with Image.open(path) as image:
        return image.height, image.width


@pytest.mark.parametrize("channels", [None, 2, 3, 4])
def test_sixteen_bits_are_read_and_written_whole(tmp_path, channels):
    levels = np.random.default_rng(0).integers(0, 65536, (9, 7, *([channels] * bool(channels))))
    saved(tmp_path / "x.png", levels.astype(np.uint16))
    np.testing.assert_array_equal(stored(tmp_path / "x.png"), levels)
    with Image.open(tmp_path / "x.png") as image:  # another reader agrees on the high bytes
        image.load()
        other = np.asarray(image).reshape(9, 7, -1)
    high = levels >> 8 if channels else levels
    np.testing.assert_array_equal(other[:, :, -1], high.reshape(9, 7, -1)[:, :, -1])
    if channels == 3:
        grey = load_image(tmp_path / "x.png", color=False)
        np.testing.assert_allclose(grey, levels @ [0.299, 0.587, 0.114] / 65535, atol=1e-6)


@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("channels", [None, 3])
def test_sixteen_bits_of_tiff_are_read_whole(tmp_path, byteorder, compression, channels):
    tifffile = pytest.importorskip("tifffile")
    levels = np.random.default_rng(0).integers(0, 65536, (9, 7, *([channels] * bool(channels))))
    how = {"byteorder": byteorder, "compression": compression}
    kind = "rgb" if channels else "minisblack"
    tifffile.imwrite(tmp_path / "x.tif", levels.astype(np.uint16), photometric=kind, **how)
    np.testing.assert_array_equal(stored(tmp_path / "x.tif"), levels)


@pytest.mark.parametrize("top", [4095, 65535])
@pytest.mark.parametrize(("channels", "ending"), [(None, ".tif"), (None, ".png"), (4, ".png")])
def test_pictures_keep_their_depth_and_alpha(capsys, tmp_path, top, channels, ending, room):
    levels = deep(channels, top)
    if channels == 4:
        levels[:, :, 3] = np.random.default_rng(1).integers(0, 65536, levels.shape[:2])
    saved(tmp_path / f"x{ending}", levels)
    holes = np.random.default_rng(0).random(levels.shape[:2]) < 0.3
    Image.fromarray((255 * holes).astype(np.uint8)).save(tmp_path / "mask.png")
    words = (f"x{ending}", "--mask", "mask.png", "--out", f"y{ending}", *FEW)
    facts = call(capsys, tmp_path, "inpaint", *words)
    assert facts["bits"] == top.bit_length()
    assert ("guesses" in facts) == (top == 4095)
    found = stored(tmp_path / f"y{ending}")
    np.testing.assert_array_equal(found[~holes], levels[~holes])
    if channels == 4:
        np.testing.assert_array_equal(found[:, :, 3], levels[:, :, 3])
    parts = [each.reshape(30, 40, -1)[:, :, :3] / top for each in (levels, found)]
    room.decibels(images.psnr(*parts), at_least=25)
    facts = call(capsys, tmp_path, "denoise", *words[:1], "--bits", "16", *words[3:])
    assert facts["bits"] == 16
    assert "guesses" not in facts
    assert len(np.unique(stored(tmp_path / f"y{ending}"))) > 256


def test_floats_have_white_at_one_and_are_written_with_sixteen_bits(capsys, tmp_path):
    values = (0.05 * picture()[:24, :24] / 255).astype(np.float32)
    Image.fromarray(values).save(tmp_path / "x.tif")
    facts = call(capsys, tmp_path, "denoise", "x.tif", "--sigma", "0", "--out", "y.png", *FEW)
    assert {*facts} == {"out", "sigma"}
    np.testing.assert_allclose(stored(tmp_path / "y.png") / 65535, values, atol=1e-5)


def test_a_rebuilt_picture_keeps_its_depth(folder, capsys):
    saved(folder / "deep.png", deep(None))
    words = ["reconstruct", folder / "model.atoms", folder / "deep.png", "--out", folder / "r.png"]
    assert main(list(map(str, words))) == 0
    with Image.open(folder / "r.png") as image:
        assert image.mode == "I;16"


def test_what_a_file_cannot_hold_is_refused(capsys, folder):
    saved(folder / "deep.png", deep(None))
    saved(folder / "colors.png", deep(3))
    Image.fromarray(picture(4)).save(folder / "alpha.png")
    for name, out, lost in (
        ("deep.png", "o.jpg", "16 bits per channel"),
        ("colors.png", "o.tif", "16 bits per channel"),
        ("alpha.png", "o.jpg", "an alpha channel"),
    ):
        words = ("denoise", folder / name, "--out", folder / out, *FEW)
        sentence = refused(capsys, "image", *words)
        assert f"{name} has {lost}, and {folder / out} would not; end it in .png." in sentence
        assert not (folder / out).exists()
    words = ("denoise", folder / "grey.png", "--bits", 12, "--out", folder / "o.png")
    assert "grey.png has 8." in refused(capsys, "image", *words)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "P with transparency"])
def test_palettes_become_colours_and_alpha_is_kept(capsys, tmp_path, mode):
    values = picture(4)[:24, :24]
    image = Image.fromarray(values if "A" in mode else values[:, :, :3]).convert(mode.split()[0])
    known = {"transparency": 0} if "with" in mode else {}
    image.save(tmp_path / "x.png", **known)
    Image.fromarray(np.zeros((24, 24), np.uint8)).save(tmp_path / "none.png")
    words = ("x.png", "--mask", "none.png", "--out", "y.png", *FEW)
    call(capsys, tmp_path, "inpaint", *words)
    with Image.open(tmp_path / "x.png") as before, Image.open(tmp_path / "y.png") as after:
        kept = {"P": "RGB", "P with transparency": "RGBA"}.get(mode, mode)
        assert after.mode == kept
        # Nothing is unknown: every pixel is what it was.
        np.testing.assert_array_equal(np.asarray(after), np.asarray(before.convert(kept)))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["x.png", "x.jpg", "deep.png", "deep.tif", "colors.png"])
def test_pictures_are_turned_as_exif_says(capsys, tmp_path, orientation, name):
    levels = (np.add.outer(5 * np.arange(12), np.arange(20)) + 20).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = Image.fromarray(levels if "x" in name else levels.astype(np.uint16) * 257)
    if name == "colors.png":
        saved(tmp_path / name, np.dstack([levels.astype(np.uint16) * 257] * 3))
        data = (tmp_path / name).read_bytes()
        head, body = data[:33], exif.tobytes().removeprefix(b"Exif\0\0")
        part = struct.pack(">I", len(body)) + b"eXIf" + body
        part += struct.pack(">I", zlib.crc32(b"eXIf" + body))
        (tmp_path / name).write_bytes(head + part + data[33:])
    else:
        image.save(tmp_path / name, exif=exif)
    turns = (lambda a: a, np.fliplr, lambda a: a[::-1, ::-1], np.flipud, np.transpose)
    turns += (lambda a: np.rot90(a, -1), lambda a: a[::-1, ::-1].T, np.rot90)
    expected = turns[orientation - 1](levels)
    found = load_image(tmp_path / name, color=False)
    np.testing.assert_allclose(255 * found, expected, atol=3 if "jpg" in name else 0.01)
    source = Pictures([tmp_path / name], InputOptions(patch=4, per_image=999))
    last = source.place(source._places[0] - 1)
    assert f"row {len(expected) - 4}, column {expected.shape[1] - 4}" in last
    call(capsys, tmp_path, "denoise", name, "--sigma", "0", "--out", "y.png", "--patch", "4")
    with Image.open(tmp_path / "y.png") as after:
        assert after.getexif().get(0x0112, 1) == 1
        assert after.size == expected.shape[::-1]


def test_progress_and_time_left_are_printed(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli, "SHOWN_AFTER", 0)
    monkeypatch.setattr(cli, "LINE_EVERY", 0)
    monkeypatch.chdir(folder)
    assert main(["image", "denoise", "grey.png", "--model", "model.atoms", "--out", "o.png"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert "coding patches: 100 %, 0 s left" in told
    assert "learning from the image: 100 %, 0 s left" in told


def test_the_limit_of_memory_is_an_option(folder, capsys):
    Image.new("L", (700, 700)).save(folder / "large.png")
    words = ["image", "denoise", str(folder / "large.png"), "--out", str(folder / "y.png"), *FEW]
    assert main([*words, "--max-memory", "1MB"]) == 2
    assert "allowed are 1 MB; allow more with --max-memory" in capsys.readouterr().err
    assert not (folder / "y.png").exists()
    assert main([*words, "--max-memory", "1GB"]) == 0
