"""Image dictionaries: learning, rebuilding, cleaning, completing, and the files that keep them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import orthogonal_mp

import atomstream
from atomstream import (
    ColorRestorer,
    ImageDictionary,
    OnlineDictionaryLearning,
    OnlineNMF,
    images,
    plots,
    streams,
)
from atomstream.coders.pursuit import pursue
from atomstream.exceptions import InputError
from atomstream.streams.overlaps import strips

RNG = np.random.default_rng


def picture(height=60, width=50, channels=None, seed=0):
    """Return waves and edges in [0, 1]."""
    rows, columns = np.mgrid[:height, :width]
    grey = 0.5 + 0.2 * np.sin(rows / 4) * np.cos(columns / 5) + 0.2 * ((rows + columns) % 23 > 11)
    if channels is None:
        return grey
    return np.stack([0.2 + (0.8 - 0.2 * c) * grey for c in range(channels)], axis=2)


def small(**settings):
    return ImageDictionary(
        **{"n_components": 16, "patch_size": 6, "n_patches": 1500, "random_state": 0} | settings
    )


@pytest.fixture(scope="module")
def model():
    return small().fit(picture())


# -- pursuit
# --------------------------------------------------------------------------------------------------


def test_pursuit_is_that_of_scikit_learn():
    rng = RNG(0)
    D = rng.standard_normal((30, 12))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    X = rng.standard_normal((40, 12))
    assert_allclose(pursue(X, D, 0.0, 5), orthogonal_mp(D.T, X.T, n_nonzero_coefs=5).T, atol=1e-10)
    assert_allclose(pursue(X, D, 2.0, 12), orthogonal_mp(D.T, X.T, tol=2.0).T, atol=1e-10)


def test_pursuit_stops_at_the_goal_of_each_row_and_never_later():
    rng = RNG(1)
    D, X, goals = rng.standard_normal((20, 8)), rng.standard_normal((50, 8)), rng.uniform(0, 8, 50)
    codes = pursue(X, D, goals, 8)
    assert (((X - codes @ D) ** 2).sum(axis=1) <= goals + 1e-12).all()
    assert not codes[(X**2).sum(axis=1) <= goals].any()


def test_pursuit_sees_only_what_was_observed():
    rng = RNG(2)
    D, X = rng.standard_normal((20, 10)), rng.standard_normal((30, 10))
    mask = rng.random(X.shape) < 0.6
    codes = pursue(np.where(mask, X, 1e9), D, 0.1, 4, mask=mask)
    for row, seen, code in zip(X, mask, codes, strict=True):
        assert_allclose(code, pursue(row[None, seen], D[:, seen], 0.1, 4)[0], atol=1e-9)
    assert not pursue(X, D, 0.1, 4, mask=np.zeros_like(mask)).any()


def test_pursuit_passes_by_empty_atoms_and_twins():
    D = np.array([[0.0, 0], [1, 0], [1, 0], [0, 2]])
    assert_allclose(pursue(np.array([[3.0, 4]]), D, 0.0, 4), [[0, 3, 0, 2]])


# -- learning
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [None, 3])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_dictionary_rebuilds_what_it_has_learned(channels, nonnegative, room):
    image = picture(channels=channels)
    model = small(nonnegative=nonnegative, alpha=0.005).fit(image)
    assert model.components_.shape == (16, 6, 6) if channels is None else (16, 6, 6, 3)
    assert model.n_steps_ == 6
    rebuilt = model.reconstruct(image)
    assert rebuilt.dtype == image.dtype
    room.decibels(images.psnr(image, rebuilt), at_least=27)
    if nonnegative:
        assert model.components_.min() >= 0


@pytest.mark.parametrize("channels", [None, 3])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.cover(2)
def test_a_model_of_patches_as_rows_serves_images(channels, nonnegative, room):
    image = picture(channels=channels)
    rows = next(streams.patches(image, 6, 2000, n_samples=2000, rng=0))
    kind = OnlineNMF if nonnegative else OnlineDictionaryLearning
    learner = kind(16, alpha=0.005, random_state=0).fit(rows)
    shape = (6, 6) if channels is None else (6, 6, 3)
    model = ImageDictionary.from_learner(learner, shape, stride=1)
    assert (model.patch_size, model.nonnegative, model.alpha) == (6, nonnegative, 0.005)
    assert_array_equal(model.components_.reshape(16, -1), learner.components_)
    room.decibels(images.psnr(image, model.reconstruct(image)), at_least=26)
    noisy = image + 0.1 * RNG(3).standard_normal(image.shape)
    cleaned = model.denoise(noisy, 0.1, adapt=False)
    room.decibels(images.psnr(image, cleaned) - images.psnr(image, noisy), at_least=2)
    holes = RNG(4).random(image.shape[:2]) < 0.3
    room.decibels(images.psnr(image, model.inpaint(image, holes, adapt=False)), at_least=24)
    model.partial_fit(image)
    assert learner.n_steps_ < model.n_steps_  # a copy learned


def test_known_patches_serve_images_and_others_are_refused(room):
    atoms = small().fit(picture()).components_
    model = ImageDictionary.from_components(atoms, stride=3)
    assert_array_equal(model.components_, atoms)
    assert model.n_steps_ == 0
    room.decibels(images.psnr(picture(), model.reconstruct(picture())), at_least=25)
    learner = OnlineNMF(3).fit(RNG(0).random((20, 35)))
    for shape in [(6, 6), (5, 7), (6,), (0, 0)]:
        with pytest.raises(ValueError, match="patch"):
            ImageDictionary.from_learner(learner, shape)
    with pytest.raises(ValueError, match="needs an OnlineNMF or OnlineDictionaryLearning"):
        ImageDictionary.from_learner(model, (6, 6))
    with pytest.raises(ValueError, match="components must be of shape"):
        ImageDictionary.from_components(atoms[0])


def test_flat_images_come_back_and_the_mean_of_each_channel_is_kept(model):
    assert_allclose(model.reconstruct(np.full((20, 20), 0.37)), 0.37, atol=1e-6)
    color = small().fit(picture(channels=3))
    flat = np.ones((20, 20, 3)) * [0.1, 0.5, 0.9]
    assert_allclose(color.reconstruct(flat), flat, atol=1e-6)


def test_integers_and_floats_are_one_picture():
    image = np.rint(255 * picture()).astype(np.uint8)
    a, b = small().fit(image), small().fit((image / 255).astype(np.float32))
    assert_allclose(a.components_, b.components_, atol=1e-4)
    rebuilt = a.reconstruct(image)
    assert rebuilt.dtype == np.uint8
    assert_allclose(
        rebuilt / 255, b.reconstruct((image / 255).astype(np.float32)), atol=0.51 / 255 + 1e-3
    )


def test_files_folders_and_arrays_are_learned(tmp_path, room):
    Image = pytest.importorskip("PIL.Image")
    for i in range(3):
        Image.fromarray(np.rint(255 * picture(40 + i, 50)).astype(np.uint8)).save(
            tmp_path / f"{i}.png"
        )
    for given in (tmp_path, str(tmp_path / "0.png"), [tmp_path / "0.png", tmp_path / "2.png"]):
        model = small().fit(given)
        assert model.patch_shape_ == (6, 6)
        assert model.learner_.n_samples_seen_ >= 1500
    room.decibels(images.psnr(picture(), model.reconstruct(picture())), at_least=25)
    Image.fromarray(np.rint(255 * picture(channels=3)).astype(np.uint8)).save(
        tmp_path / "color.png"
    )
    assert small().fit(tmp_path).patch_shape_ == (6, 6, 3)
    assert model.partial_fit(tmp_path / "color.png").patch_shape_ == (6, 6)  # read in grey
    assert small().fit([picture(), picture(44, 33)]).n_steps_ == 6


def test_partial_fit_goes_on_and_fit_starts_anew(model, room):
    first, second = picture(), picture(70, 70)[:, ::-1]
    a = small().partial_fit(first)
    assert_array_equal(a.components_, model.components_)
    a.partial_fit(second)
    assert a.n_steps_ == 12
    room.decibels(
        images.psnr(second, a.reconstruct(second)) - images.psnr(second, model.reconstruct(second)),
        at_least=0.0,
    )
    assert_array_equal(a.fit(first).components_, model.components_)


def test_a_memory_map_larger_than_a_strip_is_rebuilt_as_the_array_is(model, tmp_path):
    image = np.rint(255 * picture(300, 260)).astype(np.uint8)
    np.save(tmp_path / "image.npy", image)
    rebuilt, mapped = model.reconstruct(image), np.load(tmp_path / "image.npy", mmap_mode="r")
    assert_array_equal(model.reconstruct(mapped), rebuilt)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", image.dtype, image.shape)
    assert model.reconstruct(mapped, out=out) is out
    assert_array_equal(np.load(tmp_path / "out.npy"), rebuilt)
    with pytest.raises(ValueError, match=r"out must be uint8 of shape \(300, 260\), got float64"):
        model.reconstruct(mapped, out=np.empty((300, 260)))


def test_strips_follow_each_other_and_hold_the_average():
    image = RNG(0).random((200, 190))
    at, seen = 0, []
    for rows, strip in strips(image, 5, 2, lambda rows, tops, lefts: (rows, None)):
        assert rows.start == at
        at = rows.stop
        seen.append(strip)
    assert len(seen) > 2
    assert_allclose(np.concatenate(seen)[:, :, 0], image)


def test_progress_is_told_to_callbacks():
    from atomstream.watch.callbacks import History

    history = History()
    small().set_callbacks(history).fit(picture())
    assert len(history.objective) == 6


# -- cleaning and completing
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [None, 3])
def test_neither_texture_nor_pixels_cut_off_are_taken_for_noise(channels, room):
    rng = RNG(2)
    clean = np.add.outer(np.linspace(100, 140, 150), np.linspace(0, 20, 150))
    clean[:, 70:] += rng.uniform(-40, 40, (150, 80))  # texture, finer than the noise is strong
    clean[:40, :40] = 0  # black: half of its noise is cut off
    clean = clean if channels is None else np.stack(channels * [clean], axis=2)
    noisy = np.rint((clean + 3 * rng.standard_normal(clean.shape)).clip(0, 255)).astype(np.uint8)
    room.near(images.noise_level(noisy), 3.0, rel=0.3)
    bars = np.pad(noisy, [(40, 40), (0, 0), (0, 0)][: noisy.ndim], constant_values=128)
    room.near(images.noise_level(bars), 3.0, rel=0.4)


@pytest.mark.parametrize("sigma", [0.02, 0.1])
def test_the_noise_is_told_and_taken_off(sigma, room):
    clean = picture(120, 120)
    noisy = clean + sigma * RNG(0).standard_normal(clean.shape)
    smooth = np.add.outer(np.sin(np.arange(120) / 9), np.cos(np.arange(120) / 9))
    room.near(images.noise_level(smooth + noisy - clean), sigma, rel=0.15)
    model = small(n_components=32).fit(noisy)
    before = model.components_.copy()
    blind, known = model.denoise(noisy), model.denoise(noisy, sigma)
    room.decibels(images.psnr(clean, blind) - images.psnr(clean, noisy), at_least=3.5)
    room.decibels(images.psnr(clean, known) - images.psnr(clean, noisy), at_least=3.5)
    assert_array_equal(model.components_, before)
    assert_array_equal(model.denoise(noisy), blind)
    as_bytes = np.rint(255 * noisy.clip(0, 1)).astype(np.uint8)
    room.decibels(images.psnr(known, model.denoise(as_bytes, 255 * sigma) / 255), at_least=35)


def test_nothing_is_taken_off_where_there_is_no_noise(model):
    image = picture()
    assert_array_equal(model.denoise(image, 0), image)


@pytest.mark.parametrize("channels", [None, 3])
def test_half_of_the_pixels_are_filled_in_and_others_stay(channels, room):
    image = picture(channels=channels)
    missing = RNG(0).random(image.shape[:2]) < 0.5
    holes = np.where(missing if channels is None else missing[:, :, None], np.nan, image)
    guess = images.first_guess(holes)
    model = small(n_components=32).fit(image)
    filled = model.inpaint(holes)
    assert_array_equal(filled[~missing], image[~missing])
    room.decibels(images.psnr(image, filled) - images.psnr(image, guess), at_least=1.5)
    assert_array_equal(
        model.inpaint(image, missing), filled
    )  # what stands behind the mask does not matter
    as_bytes = np.rint(255 * image).astype(np.uint8)
    room.decibels(
        images.psnr(as_bytes, model.inpaint(as_bytes, missing)) - images.psnr(image, guess),
        at_least=1.5,
    )


def test_holes_larger_than_patches_are_filled_with_something_likely(model):
    image = picture()
    missing = np.zeros(image.shape, bool)
    missing[20:45, 15:40] = True
    filled = model.inpaint(image, missing)
    assert np.isfinite(filled).all()
    assert 0 <= filled[missing].min() <= filled[missing].max() <= 1
    assert_array_equal(model.inpaint(image), image)


# -- files
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_saved_model_is_the_same_to_the_bit_and_goes_on_learning(tmp_path, nonnegative):
    model = small(nonnegative=nonnegative).fit(picture(channels=3))
    atomstream.save(model, tmp_path / "m.atoms")
    again = atomstream.load(tmp_path / "m.atoms")
    assert type(again) is ImageDictionary
    assert again.get_params() == model.get_params()
    assert_array_equal(again.components_, model.components_)
    other = picture(44, 66, 3)
    assert_array_equal(again.partial_fit(other).components_, model.partial_fit(other).components_)
    assert_array_equal(
        again.inpaint(other, other[:, :, 0] > 0.8), model.inpaint(other, other[:, :, 0] > 0.8)
    )


@pytest.mark.parametrize("shape", [(6, 7), (6, 6, 3), (5, 5), [6, 6], (6, -6), "66"])
def test_files_of_parts_that_do_not_fit_are_refused(tmp_path, shape):
    model = small().fit(picture())
    model.patch_shape_ = shape
    atomstream.save(model, tmp_path / "m.atoms")
    with pytest.raises(atomstream.CorruptModelError, match=r"patch_shape_ of|patches of"):
        atomstream.load(tmp_path / "m.atoms")


# -- bad input
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"n_components": 0},
            "'n_components' .* must be a whole number from 1 to .* Got 0",
        ),
        (
            {"patch_size": 2.5},
            "'patch_size' .* must be a whole number from 1 to .* Got 2.5",
        ),
        ({"n_patches": 0}, "'n_patches' .* must be a whole number"),
        ({"batch_size": True}, "'batch_size' .* must be a whole number"),
        ({"stride": 7}, "stride must be from 1 to the patch's size, 6, got 7"),
        ({"alpha": -1}, "'alpha' .* must be a number from 0 to .* Got -1"),
        ({"nonnegative": "yes"}, "'nonnegative' .* must be True or False. Got 'yes'"),
        ({"n_jobs": 0}, "'n_jobs' .* must be a number of threads"),
        ({"random_state": "x"}, "'random_state' .* must be"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        small(**settings).fit(picture())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((5, 40)), "smaller than a patch of"),
        (np.zeros(40), "An image must be numbers in 2 axes"),
        (np.array([["a"]]), "needed are real numbers"),
        (np.full((20, 20), np.nan), "holds NaN or infinity; inpaint fills NaN"),
        (np.full((20, 20), np.inf), "holds NaN or infinity"),
        ([], "images is an empty list"),
        ([picture(), picture(channels=3)], "All images must have the same channels and type"),
        (
            [picture(), np.zeros((20, 20), np.uint8)],
            "All images must have the same channels and type",
        ),
        ([picture(), "a.png"], "images must be all arrays or all paths, got both"),
        ("nowhere.png", "nowhere.png"),
    ],
)
def test_what_is_no_image_is_refused_and_the_model_stays(given, message):
    model = small().fit(picture())
    before = model.components_
    for call in (model.fit, model.partial_fit):
        with pytest.raises((ValueError, InputError), match=message):
            call(given)
        assert model.components_ is not None
        assert_array_equal(model.components_, before)
        assert model.n_steps_ == 6


@pytest.mark.parametrize("kind", [float, np.float32, np.int16, np.uint16, np.int32, np.int64])
def test_pictures_that_take_255_for_white_are_refused(model, kind):
    image = np.rint(255 * picture()).astype(kind)
    missing = RNG(0).random(image.shape) < 0.5
    calls = (model.fit, model.partial_fit, model.reconstruct, model.denoise)
    for call in (
        *calls,
        lambda given: model.inpaint(given, missing),
        lambda given: model.fit([picture(), given]),
    ):
        with pytest.raises(
            ValueError, match=r"where white is .*; convert to uint8 or divide by 255"
        ):
            call(image)


def test_what_stands_behind_a_mask_is_not_taken_for_white(model, room):
    missing = RNG(0).random(picture().shape) < 0.3
    assert_array_equal(
        model.inpaint(np.where(missing, -999, picture()), missing),
        model.inpaint(picture(), missing),
    )
    deep = np.rint(65535 * picture()).astype(np.uint16)
    room.decibels(images.psnr(deep, model.reconstruct(deep)), at_least=25)
    assert_array_equal(model.reconstruct(np.zeros((20, 20), np.uint16)), 0)


def test_atoms_of_the_other_kind_are_refused():
    for kind in (True, False):
        model = small(nonnegative=kind).fit(picture()).set_params(nonnegative=not kind)
        for call in (model.reconstruct, model.denoise, model.partial_fit):
            with pytest.raises(
                ValueError,
                match=f"is {not kind} and the model has learned with nonnegative={kind}",
            ):
                call(picture())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.reconstruct(picture(channels=3)),
            r"has learned patches of shape \(6, 6\), got \(6, 6, 3\)",
        ),
        (lambda m: m.reconstruct(picture()[:5]), "smaller than a patch"),
        (
            lambda m: m.denoise(picture(), -1),
            "sigma must be a number from 0 to 100, or None, got -1",
        ),
        (lambda m: m.denoise(picture(), np.nan), "sigma must be a number from 0 to 100"),
        (lambda m: m.denoise(np.full((20, 20), np.nan)), "holds NaN or infinity"),
        (
            lambda m: m.inpaint(picture(), np.zeros((60, 51), bool)),
            "missing must be bool and of the shape of the image",
        ),
        (lambda m: m.inpaint(picture(), np.zeros((60, 50))), "missing must be bool"),
        (lambda m: m.inpaint(np.full((20, 20), np.nan)), "has no observed pixel|holds no number"),
        (lambda m: m.inpaint(np.full((20, 20), np.inf)), "holds no number, or infinity"),
        (
            lambda m: m.inpaint(np.zeros((20, 20), np.uint8), np.ones((20, 20), bool)),
            "has no observed pixel",
        ),
        (lambda m: images.noise_level(np.zeros((7, 20))), "needs 8 x 8 pixels"),
    ],
)
def test_calls_that_make_no_sense_are_refused(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)


def test_a_model_of_another_size_or_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    for call in ("reconstruct", "denoise", "inpaint"):
        with pytest.raises(NotFittedError):
            getattr(small(), call)(picture())
    model = small().fit(picture()).set_params(n_components=17)
    with pytest.raises(ValueError, match="n_components is 17 and the dictionary has 16 atoms"):
        model.partial_fit(picture())


# -- pictures of pictures
# -----------------------------------------------------------------------------------------


def test_drawn_pictures_are_what_their_twins_return():
    pytest.importorskip("matplotlib")
    image = picture()
    holes = np.where(image > 0.8, np.nan, image)
    told = plots.comparison_data({"a$": image + 0.1, "holes": holes}, image)
    assert [title for title, _ in told] == ["original", "a\\$, 20.0 dB", "holes"]
    assert_array_equal(told[2][1][image > 0.8], 0)
    drawn = plots.comparison({"a$": image + 0.1, "holes": holes}, image)
    for axes, (title, pixels) in zip(drawn.axes, told, strict=False):
        assert axes.get_title() == title
        assert_array_equal(axes.images[0].get_array(), pixels)
    classes = np.array([[0, 1], [1, 1]])
    assert plots.material_map_data(classes, ["sea", "sand"])[1] == [("sea", 0.25), ("sand", 0.75)]
    figure = plots.material_map(classes, ["sea", "sand"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["sea 25 %", "sand 75 %"]


def test_complaints_about_data_name_the_class_that_was_called():
    dark = picture() - 0.9
    told = r"passed to ImageDictionary: .*; say nonnegative=False\.$"
    model = small(nonnegative=True).fit(picture())
    for call in (model.fit, model.reconstruct):
        with pytest.raises(ValueError, match=told):
            call(dark)
    dark = np.stack([dark] * 3, axis=2)
    with pytest.raises(ValueError, match=r"passed to ColorRestorer: .*; clip what is below 0\.$"):
        ColorRestorer(2, 4, n_patches=100).fit({"sea": dark, "sand": dark})
