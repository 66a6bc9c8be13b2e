"""Video runs on the command line: kinds of files, stops, and how they are looked at."""

import csv
import json
import re

import imageio.v3 as iio
import numpy as np
import pytest
import scipy.sparse as sp
import zarr
from commands import plotted, run
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import atomstream
from atomstream import VideoDictionary
from atomstream.cli import main
from atomstream.exceptions import InputError
from atomstream.fields.video.frames import open_video
from atomstream.fields.video.run import VideoSettings, VideoTask
from atomstream.looks import look_of
from atomstream.looks.pages import sections_of
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import open_record
from atomstream.runs.run import Run
from atomstream.watch.callbacks import History

CHANGE = 24


def video():
    """Three blobs that flicker, one of them until a frame, as 8-bit images."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:10, :13]
    places = ((3, 3), (7, 9), (2, 10))
    blobs = [np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 6) for cy, cx in places]
    strength = rng.random((40, 3))
    strength[CHANGE:, 0] = 0
    frames = np.tensordot(strength, blobs, 1)
    return np.round(255 * frames / frames.max()).astype(np.uint8)


FRAMES = video()
IN_COLOUR = np.stack([FRAMES, FRAMES // 2, 255 - FRAMES], axis=-1)
PIXELS = ("--mode", "pixels", "--atoms", 3, "--epochs", 2, "--batch-size", 50)


def frames_model(frames=FRAMES, **more):
    return VideoDictionary(3, batch_size=4, random_state=0, **more).fit(frames)


def pixels_model(frames=FRAMES, **more):
    settings = {"mode": "pixels", "batch_size": 50, "n_epochs": 2, "random_state": 0}
    return VideoDictionary(3, **settings, **more).fit(frames)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    np.save(folder / "v.npy", FRAMES)
    np.save(folder / "colour.npy", IN_COLOUR)
    np.savez(folder / "v.npz", v=FRAMES)
    np.savez_compressed(folder / "two.npz", v=FRAMES, w=FRAMES[:20])
    np.savez(folder / "masked.npz", mask=FRAMES[0] > 0, v=FRAMES)  # only one can be the movie
    zarr.save(str(folder / "v.zarr"), FRAMES)
    (folder / "images").mkdir()
    for number, frame in enumerate(FRAMES):
        Image.fromarray(frame).save(folder / f"images/{number:03}.png")
    first, *rest = map(Image.fromarray, FRAMES)
    first.save(folder / "v.tif", save_all=True, append_images=rest)
    first.save(folder / "v.gif", save_all=True, append_images=rest)
    common = ("--atoms", 3, "--batch-size", 4, "--snapshots", "1,20")
    run("video", "learn", folder / "v.npy", *common, "--out", folder / "frames")
    run("video", "learn", folder / "v.npy", *PIXELS, "--out", folder / "pixels")
    atomstream.save(frames_model(), folder / "frames.atoms")
    atomstream.save(pixels_model(), folder / "pixels.atoms")
    (folder / "empty.mp4").touch()
    return folder


KINDS = {
    "v.npy": (),
    "v.npz": (),
    "two.npz": ("--key", "v"),
    "masked.npz": (),
    "v.zarr": (),
    "images": (),
    "v.tif": (),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_model_of_the_array(folder, kind, tmp_path):
    learn = ("video", "learn", folder / kind, *KINDS[kind])
    run(*learn, "--atoms", 3, "--batch-size", 4, "--out", tmp_path / "frames")
    model = atomstream.load(tmp_path / "frames/model.atoms")
    assert_array_equal(model.components_, frames_model().components_)
    run(*learn, *PIXELS, "--out", tmp_path / "pixels")
    model = atomstream.load(tmp_path / "pixels/model.atoms")
    assert_array_equal(model.components_, pixels_model().components_)


@pytest.mark.cover(2)
@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_colour_is_kept_or_becomes_grey(folder, mode, tmp_path):
    model_of = frames_model if mode == "frames" else pixels_model
    settings = PIXELS if mode == "pixels" else ("--atoms", 3, "--batch-size", 4)
    for name, grey in (("colour.npy", True), ("colour.npy", False), ("v.gif", True)):
        option = ["--grey"] if grey else []
        out = tmp_path / f"{name}{grey}"
        run("video", "learn", folder / name, *settings, *option, "--out", out)
        array = IN_COLOUR if name == "colour.npy" else iio.imread(folder / name)
        wanted = model_of(array, grey=grey)
        assert_array_equal(atomstream.load(out / "model.atoms").components_, wanted.components_)
        if not grey:  # the others are drawn as videos without colour are
            run("plot", out)


def stopped_at_every_checkpoint(settings, path):
    """Run session after session, each stopped by its first checkpoint, to the end."""
    folder = RunFolder(path)
    save = folder.save
    for _ in range(100):
        session = Run(folder, VideoTask(settings))
        if not (folder.path / "run.toml").exists():
            path.mkdir()
            folder.begin(settings, session.task.sources)
        elif (found := folder.load()) is not None:
            session.restore(*found[:2])
        folder.save = lambda *a, now=session: (save(*a), now.stop("test"))
        if session.run(lambda text: History()).complete:
            return session
    raise AssertionError("the run does not end")


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", ["v.npy", "v.npz", "images", "v.tif", "v.gif"])
@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_a_run_that_was_stopped_goes_on_to_the_bit(folder, name, mode, tmp_path):
    more = {
        "frames": {"snapshots": ("2", "20", "40"), "batch_size": 7},
        "pixels": {"mode": "pixels", "epochs": 2, "batch_size": 60},
    }
    settings = VideoSettings((str(folder / name),), atoms=3, checkpoint_every=0.0, **more[mode])
    session = stopped_at_every_checkpoint(settings, tmp_path / "cut")
    whole = Run(RunFolder(tmp_path / "whole"), VideoTask(settings.changed(checkpoint_every=None)))
    whole.folder.path.mkdir()
    whole.folder.begin(settings, whole.task.sources)
    assert whole.run(lambda text: History()).complete
    found, wanted = session.task.model, whole.task.model
    assert found.n_steps_ == wanted.n_steps_
    assert_array_equal(found.components_, wanted.components_)
    assert_array_equal(found.snapshots_, wanted.snapshots_)
    assert_array_equal(found.snapshot_times_, wanted.snapshot_times_)
    assert_array_equal(session.history.objective, whole.history.objective)


def test_more_passes_over_the_pixels(folder, tmp_path, capsys):
    shorter = ["1" if word == 2 else word for word in PIXELS]
    run("video", "learn", folder / "v.npy", *shorter, "--out", tmp_path / "run")
    run("resume", tmp_path / "run", "--epochs", 2)
    again = atomstream.load(tmp_path / "run/model.atoms")
    assert_array_equal(again.components_, pixels_model().components_)
    capsys.readouterr()
    run("resume", folder / "frames")
    assert capsys.readouterr().out == f"Nothing is left to do in {folder}/frames\n"


def test_passes_until_the_atoms_settle_can_be_stopped_and_continued(folder, tmp_path):
    """Without --epochs and --batch-size a small video is learned until its atoms settle."""
    command = ("video", "learn", folder / "v.npy", "--mode", "pixels", "--atoms", 3)
    run(*command, "--out", tmp_path / "run", "--max-time", 0)
    assert not atomstream.load(tmp_path / "run/model.atoms").settled_
    run("resume", tmp_path / "run")
    again = atomstream.load(tmp_path / "run/model.atoms")
    assert again.settled_
    whole = VideoDictionary(3, mode="pixels", random_state=0).fit(FRAMES)
    assert_array_equal(again.components_, whole.components_)


def test_a_model_goes_on_with_the_pixels_that_are_left():
    """A callback may end `fit_pixels`; called again it goes on, and another video is refused."""
    model = VideoDictionary(
        3, mode="pixels", batch_size=50, n_epochs=2, random_state=0, init="random"
    )
    whole = pixels_model(init="random")
    model.fit_pixels(FRAMES)
    assert_array_equal(model.components_, whole.components_)
    model.set_params(n_epochs=3).fit_pixels(FRAMES)
    assert model.n_steps_ == 9
    with pytest.raises(ValueError, match="has 20 frames, the model has learned 40"):
        model.fit_pixels(FRAMES[:20])
    with pytest.raises(ValueError, match="fit_pixels needs mode='pixels'"):
        VideoDictionary().fit_pixels(FRAMES)


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_inspect_report_and_plot(folder, mode, capsys, monkeypatch):
    for path, page in ((mode, mode), (f"{mode}.atoms", f"{mode}-report")):
        run("inspect", folder / path)
        told = capsys.readouterr().out
        assert f"mode {mode}, 3 atoms of" in told
        assert max(map(len, told.splitlines())) <= 118
        run("inspect", folder / path, "--json")
        assert len(json.loads(capsys.readouterr().out)["atoms"]) == 3
        run("report", folder / path)
        text = (folder / page / "report.html").read_text()
        words = "each over its largest absolute entry" if mode == "frames" else f"frame {CHANGE}"
        assert words in text
        assert not re.search(r"https?://(?!www\.w3\.org)", text)
        assert list((folder / page / "figures").glob("*.png"))
        plotted(monkeypatch, folder / path)
        capsys.readouterr()
    pictures = (folder / mode / "report.html").read_text().count("<figure>")
    assert pictures == (4 if mode == "frames" else 2)  # snapshots ended before the video did


def test_courses_of_the_atoms_over_the_frames_are_drawn(folder, monkeypatch, tmp_path):
    record = open_record(folder / "frames")
    assert_allclose(record.notes["courses"], frames_model().transform(FRAMES), atol=1e-6)
    figures = {section.name: section for section in sections_of(record)}
    codes = record.notes["courses"][:, np.argmax(record.model.importance_)]
    drawn = figures["courses"].figure.axes[0].lines[0]
    assert_array_equal(drawn.get_ydata(), codes / codes.max())
    monkeypatch.setattr("atomstream.fields.video.run.POINTS", 15)
    run(
        "video", "learn", folder / "v.npy", "--atoms", 3, "--batch-size", 4, "--out", tmp_path / "r"
    )
    notes = open_record(tmp_path / "r").notes
    assert notes["frames_per_point"] == 3
    means = [record.notes["courses"][start : start + 3].mean(axis=0) for start in range(0, 40, 3)]
    assert_allclose(notes["courses"], means, atol=1e-6)


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_signed_videos_are_learned_where_they_are_said_to_be_signed(folder, mode, tmp_path, capsys):
    signed = FRAMES / 128 - 1
    np.save(tmp_path / "signed.npy", signed)
    learn = ("video", "learn", tmp_path / "signed.npy", "--atoms", 3, "--mode", mode)
    out = tmp_path / "run"
    assert main([str(word) for word in (*learn, "--out", out)]) == 2
    told = capsys.readouterr().err
    assert "VideoDictionary" in told
    assert "say --no-nonnegative; to find cells in relative changes, clip" in told
    run(*learn, "--no-nonnegative", "--out", out)
    model = VideoDictionary(3, mode=mode, nonnegative=False, random_state=0).fit(signed)
    assert_array_equal(atomstream.load(out / "model.atoms").components_, model.components_)
    run("report", out)


def test_many_atoms_and_odd_channels_are_drawn_small(folder, tmp_path):
    np.save(tmp_path / "two.npy", IN_COLOUR[..., :2])
    run("video", "learn", tmp_path / "two.npy", "--atoms", 14, "--out", tmp_path / "run")
    sections = sections_of(open_record(tmp_path / "run"))
    assert sections[0].name == "atoms"
    assert "channels of a pixel lie side by side" in sections[0].caption
    shown = [axes for axes in sections[0].figure.axes if axes.images]
    assert len(shown) == 14
    assert shown[0].images[0].get_array().shape == (10, 26)


@pytest.mark.usefixtures("undrawn")
def test_changes_are_told_and_short_videos_have_none(folder, tmp_path):
    found = pixels_model().change_points()
    record = open_record(folder / "pixels")
    assert record.notes["changes"].tolist() == found.times.tolist() == [CHANGE]
    np.save(tmp_path / "short.npy", FRAMES[:10])
    run("video", "learn", tmp_path / "short.npy", *PIXELS, "--out", tmp_path / "run")
    record = open_record(tmp_path / "run")
    assert "fewer than 16 frames" in look_of(record.model).facts(record)["changes"]
    run("report", tmp_path / "run")


def test_codes_are_those_of_the_model(folder, tmp_path):
    for source, name in (("frames", "v.npy"), ("frames.atoms", "images"), ("frames", "v.tif")):
        run("encode", folder / source, folder / name, "--out", tmp_path / "codes.npz")
        codes = sp.load_npz(tmp_path / "codes.npz").toarray()
        assert_allclose(codes, frames_model().transform(FRAMES), atol=1e-6)
    run("encode", folder / "pixels", folder / "v.npy", "--out", tmp_path / "codes.npz")
    codes = sp.load_npz(tmp_path / "codes.npz").toarray().reshape(10, 13, 3)
    assert_allclose(codes, pixels_model().transform(FRAMES), atol=1e-6)


def test_readers_begin_anywhere(folder):
    for kind in ("v.npy", "v.npz", "v.zarr", "images", "v.tif", "v.gif"):
        found = open_video(folder / kind, key="v" if kind == "two.npz" else None)
        whole = list(found.images(0))
        assert found.n_frames == len(whole) == 40
        assert_array_equal(np.stack(list(found.images(33))), np.stack(whole[33:]))
        assert list(found.images(40)) == []
        assert found.fingerprint() == open_video(folder / kind).fingerprint()


def test_a_missing_decoder_says_what_to_install(folder, capsys, monkeypatch):
    monkeypatch.setattr("atomstream.fields.video.frames.find_spec", lambda name: None)
    assert main(["video", "learn", str(folder / "empty.mp4"), "--out", str(folder / "new")]) == 2
    assert "pip install 'imageio[pyav]'" in capsys.readouterr().err


def test_files_whose_length_nobody_knows_are_decoded_to_their_end(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("atomstream.fields.video.frames.find_spec", lambda name: True)
    monkeypatch.setattr(iio, "imiter", lambda path: iter(FRAMES))
    settings = VideoSettings(
        (str(folder / "empty.mp4"),), atoms=3, batch_size=4, checkpoint_every=0.0
    )
    session = stopped_at_every_checkpoint(settings, tmp_path / "cut")
    assert_array_equal(session.task.model.components_, frames_model().components_)
    monkeypatch.setattr(iio, "imiter", lambda path: iter(FRAMES[:1]))
    one = Run(RunFolder(tmp_path / "one"), VideoTask(settings))
    with pytest.raises(InputError, match=r"empty\.mp4 has too few frames, needed are at least 2"):
        one.run(lambda text: History())
    assert not one.task.learned


def test_defaults_are_those_of_the_estimator():
    given = VideoSettings(("v.npy",)).new_model().get_params()
    usual = VideoDictionary().get_params()
    assert {name for name in usual if given[name] != usual[name]} == {"random_state"}


def test_frames_are_named_by_their_files(tmp_path):
    (tmp_path / "frames").mkdir()
    for name in ("b", "a", "c"):
        pixels = np.random.default_rng(ord(name)).integers(0, 255, (8, 9), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"frames/{name}.png")
    common = ("--mode", "frames", "--atoms", 2, "--out")
    run("video", "learn", tmp_path / "frames", *common, tmp_path / "run")
    run("encode", tmp_path / "run", tmp_path / "frames", "--out", tmp_path / "c.csv")
    rows = list(csv.reader((tmp_path / "c.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["file", "a.png", "b.png", "c.png"]
    assert rows[0][1:] == ["atom_0", "atom_1"]
