"""VideoDictionary: frames and pixels against OnlineNMF itself, planted changes, files, laws."""

import gc
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from sklearn.decomposition import NMF
from sklearn.utils import get_tags

import atomstream
from atomstream import OnlineNMF, VideoDictionary, plots
from atomstream.exceptions import InputError
from atomstream.fields.video.frames import as_array, as_frames
from atomstream.io.source import max_memory
from atomstream.watch.callbacks import History

RNG = np.random.default_rng


def blobs(n_frames=40, height=12, width=10, seed=0):
    """Two blobs whose brightness varies by itself."""
    rng = RNG(seed)
    y, x = np.mgrid[:height, :width]
    atoms = [np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 6) for cy, cx in ((3, 2), (8, 7))]
    return np.tensordot(rng.random((n_frames, 2)), atoms, 1)


def changing(seed, change=60, n_frames=120):
    """Flicker of one blob until a frame, noise from it on."""
    video = blobs(n_frames, seed=seed)
    video[change:] = RNG((seed, 1)).random((n_frames - change, 12, 10))
    return video


# -- learning
# --------------------------------------------------------------------------------------------------


def test_frames_are_learned_in_their_order_as_the_model_below_would():
    video = blobs()
    model = VideoDictionary(3, batch_size=4, random_state=0).fit(video)
    twin = OnlineNMF(3, random_state=model.learner_.random_state)
    twin.fit_stream(list(video.reshape(10, 4, -1)))
    assert_array_equal(model.components_, twin.components_.reshape(3, 12, 10))
    assert model.n_steps_ == 10
    assert_array_equal(model.transform(video), twin.transform(video.reshape(40, -1)))
    assert_allclose(model.importance_.sum(), 1)


def test_more_passes_over_frames_are_made(tmp_path, room):
    video, settings = blobs(), {"batch_size": 7, "random_state": 0}
    once = VideoDictionary(2, snapshots=(40,), **settings).fit(video)
    model = VideoDictionary(2, snapshots=(40,), n_epochs=3, **settings).fit(video)
    assert_array_equal(model.snapshots_, once.snapshots_)  # the first pass
    assert (model.n_steps_, model.learner_.n_samples_seen_) == (18, 120)
    assert model.learner_.clock_.mass == 40
    lost = [-each.learner_.score(video.reshape(40, -1)) for each in (once, model)]
    room.fall(lost[1], lost[0], at_least=0.3)
    np.save(tmp_path / "v.npy", video)
    for given in (list(video), tmp_path / "v.npy", dict(enumerate(video)).values()):
        again = VideoDictionary(2, n_epochs=3, **settings).fit(given)
        assert_array_equal(again.components_, model.components_)


def test_more_passes_need_a_video_that_can_be_read_again():
    model = VideoDictionary(2, n_epochs=3, random_state=0)
    for video in (iter(blobs()), (frame for frame in blobs())):
        with pytest.raises(
            ValueError, match="n_epochs=3 needs a video that can be read again, got"
        ):
            model.fit(video)
    assert not hasattr(model, "learner_")
    assert VideoDictionary(2, n_epochs=1).fit(iter(blobs())).n_steps_ == 40


def test_two_blobs_are_found_and_the_video_rebuilt(room):
    video = blobs(200)
    model = VideoDictionary(2, random_state=0).fit(video)
    room.error(
        np.linalg.norm(model.reconstruct(video) - video), at_most=0.05 * np.linalg.norm(video)
    )
    pixels = VideoDictionary(2, mode="pixels", random_state=0).fit(video)
    assert pixels.components_.shape == (2, 200)
    assert pixels.transform(video).shape == (12, 10, 2)
    rebuilt = pixels.reconstruct(video)
    assert rebuilt.shape == video.shape
    room.error(np.linalg.norm(rebuilt - video), at_most=0.05 * np.linalg.norm(video))


def test_frames_that_come_later_go_on_where_fit_ended():
    video = blobs()
    whole = VideoDictionary(3, random_state=0).fit(video)
    parts = VideoDictionary(3, random_state=0).fit(video[:25])
    parts.partial_fit(video[25:])
    assert_array_equal(parts.components_, whole.components_)
    lone = VideoDictionary(3, random_state=0).partial_fit(video[:7]).partial_fit(iter(video[7:]))
    assert_array_equal(lone.components_, whole.components_)


def test_snapshots_are_the_atoms_of_their_moment():
    video = blobs()
    model = VideoDictionary(3, snapshots=(1, 5, 12, 99), random_state=0).fit(video)
    assert_array_equal(model.snapshot_times_, [1, 5, 12])
    assert model.snapshots_.shape == (3, 3, 12, 10)
    for time, atoms in zip(model.snapshot_times_, model.snapshots_, strict=True):
        early = VideoDictionary(3, random_state=0).fit(video[:time])
        assert_array_equal(atoms, early.components_)
    batches = VideoDictionary(3, snapshots=(1, 5, 6), batch_size=4, random_state=0).fit(video)
    assert_array_equal(batches.snapshot_times_, [4, 8])
    assert VideoDictionary(2, random_state=0).fit(video).snapshots_.shape == (0, 2, 12, 10)


def test_colour_grey_and_integers():
    video = RNG(0).integers(0, 256, (20, 6, 5, 3), dtype=np.uint8)
    color = VideoDictionary(2, random_state=0).fit(video)
    assert color.components_.shape == (2, 6, 5, 3)
    assert color.components_.dtype == np.float32
    assert color.reconstruct(video).max() < 1.5
    same = VideoDictionary(2, random_state=0).fit(video.astype(np.float32) / np.float32(255))
    assert_array_equal(color.components_, same.components_)
    grey = VideoDictionary(2, grey=True, random_state=0).fit(video)
    luma = (video.astype(np.float32) / 255) @ np.float32([0.2989, 0.587, 0.114])
    assert_allclose(
        grey.components_,
        VideoDictionary(2, random_state=0).fit(luma).components_,
        rtol=1e-3,
        atol=1e-5,
    )
    pixels = VideoDictionary(2, mode="pixels", random_state=0).fit(video)
    assert pixels.transform(video).shape == (6, 5, 3, 2)


def test_callbacks_watch_and_are_let_go():
    history = History()
    model = VideoDictionary(2, batch_size=10).set_callbacks(history).fit(blobs())
    assert len(history.n_samples) == 4
    assert not hasattr(model.learner_, "_skl_callbacks")
    VideoDictionary(2, mode="pixels", n_epochs=3).set_callbacks(history).fit(blobs())
    assert len(history.n_samples) == 3


# -- changes
# --------------------------------------------------------------------------------------------------


def test_planted_changes_are_found_to_the_frame():
    for seed in range(8):
        model = VideoDictionary(4, mode="pixels", random_state=seed).fit(changing(seed))
        assert [abs(time - 60) <= 1 for time in model.change_points().times] == [True], seed


def test_no_change_is_found_where_there_is_none(room):
    found = [
        len(
            VideoDictionary(4, mode="pixels", n_epochs=3, random_state=seed)
            .fit(video)
            .change_points()
            .times
        )
        for seed in range(15)
        for video in (blobs(120, seed=seed), RNG(seed).random((120, 12, 10)))
    ]
    room.error(
        sum(count > 0 for count in found), at_most=2
    )  # of 30 at a level of 0.01: 3 or more have a chance of 0.3 %


# -- input
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def stack(tmp_path):
    """A folder of images, and the same as an array."""
    frames = RNG(0).integers(0, 256, (6, 10, 8), dtype=np.uint8)
    (tmp_path / "stack").mkdir()
    for number, frame in enumerate(frames):
        Image.fromarray(frame).save(tmp_path / f"stack/{number:03}.png")
    return tmp_path, frames


def test_stacks_of_images_are_videos(stack):
    folder, frames = stack
    files = sorted((folder / "stack").iterdir())
    expected = frames.astype(np.float32) / np.float32(255)
    for video in (
        frames,
        list(frames),
        iter(frames),
        files,
        map(str, files),
        folder / "stack",
        str(folder / "stack"),
    ):
        assert_array_equal(np.stack(list(as_frames(video))), expected)
    rgb = np.repeat(frames[:1, :, :, None], 3, axis=3)
    Image.fromarray(rgb[0]).save(folder / "color.png")
    assert as_array([folder / "color.png"]).shape == (1, 10, 8, 3)
    assert as_array([folder / "color.png"], grey=True).shape == (1, 10, 8)
    assert as_array(frames) is frames


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # imageio leaves what it refuses open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_files_are_read_frame_by_frame(stack):
    iio = pytest.importorskip("imageio.v3")
    folder, frames = stack
    expected = frames.astype(np.float32) / np.float32(255)
    first, *rest = map(Image.fromarray, frames)
    first.save(folder / "clip.tif", save_all=True, append_images=rest)
    assert_array_equal(np.stack(list(as_frames(folder / "clip.tif"))), expected)
    iio.imwrite(folder / "clip.gif", frames)
    assert next(as_frames(folder / "clip.gif")).shape == (10, 8, 3)
    model = VideoDictionary(2, grey=True, random_state=0).fit(folder / "clip.gif")
    assert model.components_.shape == (2, 10, 8)
    (folder / "broken.gif").write_bytes(b"no video at all")
    with pytest.raises(InputError, match=r"broken.gif cannot be read"):
        VideoDictionary(2).fit(folder / "broken.gif")
    gc.collect()  # here, where warnings of it are ignored


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_arrays_on_disk_and_stacks_are_read_by_their_paths(stack, mode):
    zarr = pytest.importorskip("zarr")
    folder, frames = stack
    np.save(folder / "v.npy", frames)
    np.savez(folder / "v.npz", frames)
    zarr.save(str(folder / "v.zarr"), frames)
    first, *rest = map(Image.fromarray, frames)
    first.save(folder / "v.tif", save_all=True, append_images=rest)
    wanted = VideoDictionary(2, mode=mode, batch_size=2, random_state=0).fit(frames)
    for video in (
        *(folder / name for name in ("v.npy", "v.npz", "v.zarr", "v.tif", "stack")),
        str(folder / "v.npz"),
        zarr.open(str(folder / "v.zarr"), mode="r"),
    ):
        model = VideoDictionary(2, mode=mode, batch_size=2, random_state=0).fit(video)
        assert_array_equal(model.components_, wanted.components_)
        assert_array_equal(model.transform(video), wanted.transform(frames))
        if mode == "frames":
            again = VideoDictionary(2, batch_size=2, random_state=0).partial_fit(video)
            assert_array_equal(again.components_, wanted.components_)
    np.savez(folder / "two.npz", v=frames, w=frames)
    with pytest.raises(InputError, match=r"has 2 arrays of three axes or more \(v, w\)"):
        VideoDictionary(2, mode=mode).fit(folder / "two.npz")


@pytest.mark.cover(2)
@pytest.mark.parametrize("kind", ["v.npz", "v.zarr", "v.tif"])
def test_frames_on_disk_are_read_some_at_a_time(tmp_path, kind):
    frames = np.repeat(RNG(0).integers(0, 256, (20, 200, 300), dtype=np.uint8), 20, axis=0)
    if kind == "v.npz":
        np.savez(tmp_path / kind, frames)
    elif kind == "v.zarr":
        zarr = pytest.importorskip("zarr")
        store = zarr.create_array(
            str(tmp_path / kind), shape=frames.shape, dtype="u1", chunks=(8, 200, 300)
        )
        store[:] = frames
    else:
        first, *rest = map(Image.fromarray, frames)
        first.save(tmp_path / kind, save_all=True, append_images=rest)
    model = VideoDictionary(2, random_state=0).fit(frames[:3])  # compiles
    tracemalloc.start()
    model.partial_fit(tmp_path / kind)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.n_steps_ == 403
    assert peak < 0.75 * frames.nbytes


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(stack):
    folder, frames = stack
    np.savez(folder / "v.npz", frames)
    allowed = max_memory.set(1000)
    try:
        VideoDictionary(2, random_state=0).fit(folder / "v.npz")
        max_memory.set(900)
        with pytest.raises(InputError, match="needs about 960 bytes of memory, allowed are 900"):
            VideoDictionary(2, mode="pixels").fit(folder / "v.npz")
    finally:
        max_memory.reset(allowed)


def signed_movie(n_frames=60):
    """Relative changes of the brightness of two blobs: one that rises while the other falls."""
    time = np.linspace(0, 6, n_frames)
    y, x = np.mgrid[:9, :8]
    first, second = (np.exp(-((y - c) ** 2 + (x - c) ** 2) / 5) for c in (2, 6))
    return np.stack([np.sin(t) * first - np.cos(2 * t) * second for t in time])


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_signed_movies_have_signed_atoms(tmp_path, mode, room):
    movie = signed_movie()
    settings = {"mode": mode, "nonnegative": False, "random_state": 0}
    model = VideoDictionary(2, **settings).fit(movie)
    room.error(
        np.linalg.norm(model.reconstruct(movie) - movie), at_most=0.02 * np.linalg.norm(movie)
    )
    assert min(model.components_.min(), model.transform(movie).min()) < 0
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    assert_array_equal(again.transform(movie), model.transform(movie))
    codes = model.transform(movie) if mode == "frames" else None
    drawn = plots.temporal_atoms(model) if codes is None else plots.time_courses(model, codes)
    assert drawn.axes[0].get_ylim()[0] < -1
    again.set_params(nonnegative=True)
    with pytest.raises(ValueError, match="the model has learned with nonnegative=False"):
        again.transform(movie)


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_complaints_name_the_class_that_was_called(mode):
    model = VideoDictionary(2, mode=mode, random_state=0)
    told = "passed to VideoDictionary: .*; say nonnegative=False"
    with pytest.raises(ValueError, match=told):
        model.fit(signed_movie())
    model.fit(np.abs(signed_movie()))
    for call in (model.transform, model.reconstruct):
        with pytest.raises(ValueError, match=told):
            call(signed_movie())
        with pytest.raises(
            ValueError, match=r"VideoDictionary needs .*: drop or fill such entries\.$"
        ):
            call(np.full((60, 9, 8), np.nan))


def test_videos_larger_than_memory(tmp_path):
    shape = (400, 60, 80)
    video = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", np.uint8, shape)
    video[:] = RNG(0).integers(0, 256, shape[1:], dtype=np.uint8)
    model = VideoDictionary(2, random_state=0).fit(video[:4])  # compiles
    VideoDictionary(2, mode="pixels", n_epochs=1).fit(video[:, :4])
    tracemalloc.start()
    model.partial_fit(video)
    VideoDictionary(2, mode="pixels", n_epochs=1, random_state=0).fit(video)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < video.nbytes  # of the 7.7 MB of floats for as many bytes
    assert peak < 2e6


# -- laws
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["frames", "pixels"])
def test_saved_and_loaded_models_are_the_same_and_go_on(tmp_path, mode):
    video = blobs()
    settings = {"snapshots": (2, 30)} if mode == "frames" else {"n_epochs": 2}
    model = VideoDictionary(3, mode=mode, random_state=0, **settings).fit(video[:20])
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    assert_array_equal(again.components_, model.components_)
    assert_array_equal(again.snapshots_, model.snapshots_)
    assert_array_equal(again.transform(video[:20]), model.transform(video[:20]))
    if mode == "frames":
        assert_array_equal(
            again.partial_fit(video[20:]).components_, model.partial_fit(video[20:]).components_
        )
        assert_array_equal(again.snapshots_, model.snapshots_)
    else:
        assert_array_equal(again.change_points().gains, model.change_points().gains)


def test_an_unfitted_model_can_be_saved(tmp_path):
    atomstream.save(VideoDictionary(3, snapshots=(1,)), tmp_path / "m.atoms")
    assert atomstream.load(tmp_path / "m.atoms").snapshots == (1,)


@pytest.mark.parametrize(
    "damage",
    [
        {"frame_shape_": (3, 3)},
        {"frame_shape_": (12.0, 10.0)},
        {"frame_shape_": (120,)},
        {"_kept_times": [2]},
        {"_kept": [np.zeros((3, 3))], "_kept_times": [2]},
        {"learner_": None},
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, damage):
    model = VideoDictionary(3, random_state=0).fit(blobs())
    vars(model).update(damage)
    atomstream.save(model, tmp_path / "m.atoms")
    with pytest.raises(atomstream.CorruptModelError, match="no model that makes sense"):
        atomstream.load(tmp_path / "m.atoms")


def torn(video):
    yield from video
    raise RuntimeError("torn")


@pytest.mark.parametrize(
    ("video", "told"),
    [
        (np.zeros((4, 5)), "n_frames, height, width"),
        (np.zeros((0, 5, 5)), "n_frames, height, width"),
        ([], "no frames"),
        (5, "must be an array of frames"),
        ([np.zeros((5, 5)), np.zeros((5, 6))], r"Frame 1 has shape \(5, 6\)"),
        (["gone.png"], "There is no gone.png"),
        ("gone.mp4", "There is no gone.mp4"),
        (np.full((3, 5, 5), -1.0), "Negative"),
        (np.full((3, 5, 5), np.nan), "NaN"),
        (np.full((3, 5, 5), "a"), "needed are real numbers"),
    ],
)
def test_what_is_no_video_gets_one_sentence_and_changes_nothing(video, told):
    good = blobs()
    for mode in ("frames", "pixels"):
        model = VideoDictionary(2, mode=mode, n_epochs=1, random_state=0).fit(good)
        before = model.components_
        with pytest.raises(ValueError, match=told):
            model.fit(video)
        assert model.components_ is before or np.array_equal(model.components_, before)
        assert model.frame_shape_ == (12, 10)
        model.reconstruct(good)


def test_a_video_that_breaks_leaves_the_model_as_it_was():
    model = VideoDictionary(2, snapshots=(3, 45), random_state=0).fit(blobs())
    before = model.components_
    with pytest.raises(RuntimeError, match="torn"):
        model.partial_fit(torn(blobs()))
    assert_array_equal(model.components_, before)
    assert_array_equal(model.snapshot_times_, [3])
    with pytest.raises(ValueError, match=r"Frames are of shape \(3, 3\)"):
        model.partial_fit(np.ones((2, 3, 3)))
    with pytest.raises(ValueError, match=r"Frames are of shape \(3, 3\)"):
        model.transform(np.ones((2, 3, 3)))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"mode": "voxels"}, "'mode' .* must be frames or pixels"),
        ({"n_components": 0}, "n_components"),
        ({"alpha": -1}, "alpha"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"grey": 2}, "'grey' .* must be"),
        ({"nonnegative": 2}, "'nonnegative' .* must be"),
        ({"snapshots": 3}, "'snapshots' .* must be"),
        ({"snapshots": (0,)}, "snapshots must be"),
        ({"snapshots": (1,), "mode": "pixels"}, "snapshots need mode='frames'"),
        ({"schedule": "s"}, "schedule='s' is unknown"),
        ({"init": "no"}, "'init' .* must be one of auto"),
    ],
)
def test_settings_out_of_range(settings, told):
    with pytest.raises(ValueError, match=told):
        VideoDictionary(**settings).fit(blobs())


def test_what_a_mode_cannot_do():
    frames = VideoDictionary(2, random_state=0).fit(blobs())
    with pytest.raises(ValueError, match="change_points needs temporal atoms"):
        frames.change_points()
    pixels = VideoDictionary(2, mode="pixels", random_state=0).fit(blobs())
    with pytest.raises(ValueError, match="partial_fit needs mode='frames'"):
        pixels.partial_fit(blobs())
    with pytest.raises(ValueError, match="series has 40 times, a change needs min_size=21"):
        pixels.change_points(min_size=21)
    with pytest.raises(ValueError, match="has 39 frames, the model has learned 40"):
        pixels.transform(blobs()[:39])
    with pytest.raises(ValueError, match="n_components is 3"):
        frames.set_params(n_components=3).partial_fit(blobs())


@pytest.mark.parametrize(("mode", "other"), [("frames", "pixels"), ("pixels", "frames")])
def test_a_mode_changed_since_fit_is_refused(tmp_path, mode, other):
    learned = VideoDictionary(2, mode=mode, random_state=0).fit(
        blobs(120)
    )  # as many frames as pixels
    atomstream.save(learned, tmp_path / "m.atoms")
    for model in (learned, atomstream.load(tmp_path / "m.atoms")):
        model.set_params(mode=other)
        for call in (
            lambda m: m.components_,
            lambda m: m.transform(blobs(120)),
            lambda m: m.reconstruct(blobs(120)),
        ):
            with pytest.raises(
                ValueError,
                match=f"mode is '{other}' and the model has learned with mode='{mode}'",
            ):
                call(model)


# -- pictures
# --------------------------------------------------------------------------------------------------


def test_pictures_draw_their_data():
    video = changing(0)
    model = VideoDictionary(3, snapshots=(1, 20, 60), random_state=0).fit(video[:60])
    times, images = plots.spatial_atoms_data(model)
    assert_array_equal(times, [1, 20, 60])
    assert images.shape == (3, 3, 12, 10)
    assert images.max() == 1
    figure = plots.spatial_atoms(model, frames=video[:60])
    shown = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert len(shown) == 3 * 4
    assert_array_equal(shown[0], video[0])
    assert_array_equal(shown[1], images[0, 0])
    many = VideoDictionary(11, snapshots=(30, 60), random_state=0).fit(video[:60])
    figure = plots.spatial_atoms(many, frames=video[:60])
    assert len(figure.axes) == 4 * 9  # eight atoms and the video, then the others, twice each
    drawn = [axes for axes in figure.axes if axes.images]
    assert len(drawn) == 2 * (11 + 2)
    assert drawn[-1].get_title() == ""
    assert [axes.get_title() for axes in drawn[18:22]] == ["video", "atom 8", "atom 9", "atom 10"]
    assert_array_equal(drawn[25].images[0].get_array(), plots.spatial_atoms_data(many)[1][1, 10])
    last = VideoDictionary(3, random_state=0).fit(video)
    assert plots.spatial_atoms_data(last)[1].shape == (1, 3, 12, 10)
    pixels = VideoDictionary(3, mode="pixels", random_state=0).fit(video)
    changes = pixels.change_points()
    curves, found = plots.temporal_atoms_data(pixels, changes)
    assert curves.shape == (3, 120)
    assert_array_equal(found, changes.times)
    courses = plots.time_courses(model, model.transform(video[:60]), every=3)
    most = np.argmax(model.importance_)
    drawn = courses.axes[0].lines[0]
    assert_array_equal(drawn.get_xdata(), 3 * np.arange(60))
    codes = model.transform(video[:60])[:, most]
    assert_array_equal(drawn.get_ydata(), codes / codes.max())
    with pytest.raises(ValueError, match="time_courses needs mode='frames'"):
        plots.time_courses(pixels, codes)
    drawn = plots.temporal_atoms(pixels, changes)
    assert_array_equal(drawn.axes[0].lines[0].get_ydata(), curves[0])
    assert len(drawn.axes[0].lines) == 2
    with pytest.raises(ValueError, match="spatial_atoms needs mode='frames'"):
        plots.spatial_atoms(pixels)
    with pytest.raises(ValueError, match="temporal_atoms needs mode='pixels'"):
        plots.temporal_atoms(last)


class Stop(History):
    """Stops after seven batches."""

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "batch":
            super().on_fit_task_end(estimator, context)
            return estimator.n_steps_ >= 7
        return None


def flame_and_noise(seed, n=36, height=40, width=30):
    """Return frames of a flame that leans and shrinks, and as many of noise (003-7, smaller)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    lean, size, frames = 0.0, 0.0, []
    for _ in range(n):
        lean = 0.8 * lean + 0.6 * rng.standard_normal()
        size = 0.7 * size + 0.7 * rng.standard_normal()
        up = np.clip((0.9 * height - y) / (0.55 * height * (1 + 0.1 * np.tanh(size))), 0, 1)
        far = x - width / 2 - 0.2 * width * np.tanh(lean) * up
        wide = 0.32 * width * np.sqrt(up) * (1 - up) + 0.5
        frames.append(np.exp(-0.5 * (far / wide) ** 2) * ((up > 0) & (up < 1)))
    return np.concatenate([frames, rng.random((n, height, width))])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")  # of the batch method
def test_a_small_video_is_learned_until_it_settles_and_its_change_is_found(room):
    ends, found = [], []
    for seed in (0, 1, 2, 7, 19):  # ten passes in batches of 256 miss the change of 0, 7 and 19
        frames = flame_and_noise(seed)
        rows = frames.reshape(72, -1).T
        model = VideoDictionary(5, mode="pixels", random_state=seed).fit(frames)
        first = VideoDictionary(5, mode="pixels", n_epochs=1, random_state=seed).fit(frames)
        assert model.settled_
        batch = NMF(5, init="nndsvda", max_iter=1000, tol=1e-4).fit(rows)
        error = np.sum((batch.transform(rows) @ batch.components_ - rows) ** 2) / (2 * len(rows))
        ends.append(model.learner_.objective(rows) / error)
        room.error(
            model.learner_.stationarity(rows), at_most=0.1 * first.learner_.stationarity(rows)
        )
        found.append(np.abs(model.change_points().times - 36).min(initial=9) <= 1)
    room.share(np.mean(found), at_least=0.6)  # two of five after ten passes in such batches
    room.ratio(np.median(ends), at_most=1.006)


def test_passes_that_settle_can_be_stopped_and_continued():
    frames = flame_and_noise(0, n=10, height=12, width=8)
    whole = VideoDictionary(3, mode="pixels", random_state=0).fit(frames)
    parts = VideoDictionary(3, mode="pixels", random_state=0)
    parts.set_callbacks(Stop()).fit(frames)
    assert not parts.settled_
    assert parts.n_steps_ == 7
    parts.set_callbacks().fit_pixels(frames)
    assert parts.settled_
    assert parts.n_steps_ == whole.n_steps_ > 10
    assert_array_equal(parts.components_, whole.components_)
    assert parts.fit_pixels(frames).n_steps_ == whole.n_steps_
    many = VideoDictionary(3, mode="pixels", n_epochs=12, random_state=0).fit(frames)
    assert many.n_steps_ == 12
    assert not hasattr(many, "settled_")


def test_tags_follow_the_signs():
    assert not get_tags(VideoDictionary(nonnegative=False)).input_tags.positive_only
