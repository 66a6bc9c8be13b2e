"""Calls of what takes images."""

import numpy as np
from given import FLAGS, IMAGE, VIDEO, WHOLE_IMAGE, holes

from atomstream import ColorRestorer, ImageDictionary, images
from atomstream.looks import plots


def of_images(**settings):
    return ImageDictionary(2, 3, n_patches=30, random_state=0, **settings)


def of_colours():
    return ColorRestorer(2, 4, n_patches=30, random_state=0)


def coloured(image):
    stack = np.ma.dstack if np.ma.isMaskedArray(image) else np.dstack
    return {"a": stack([image] * 3), "b": stack([image] * 3)}


CASES = {
    "ImageDictionary.fit(images)": (IMAGE, lambda X: of_images().fit(X)),
    "ImageDictionary.partial_fit(images)": (IMAGE, lambda X: of_images().partial_fit(X)),
    "ImageDictionary.from_components(components)": (
        VIDEO[2:4, :3, :3],
        lambda X: ImageDictionary.from_components(X),
    ),
    "ImageDictionary.denoise(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).denoise(X, 0.1, adapt=False),
    ),
    "ImageDictionary.inpaint(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).inpaint(X, adapt=False),
    ),
    "ImageDictionary.inpaint(missing)": (
        FLAGS,
        lambda X: of_images().fit(WHOLE_IMAGE).inpaint(WHOLE_IMAGE, X, adapt=False),
    ),
    "ImageDictionary.reconstruct(image)": (
        IMAGE,
        lambda X: of_images().fit(WHOLE_IMAGE).reconstruct(X),
    ),
    "ColorRestorer.fit(examples)": (IMAGE, lambda X: of_colours().fit(coloured(X))),
    "ColorRestorer.restore(image)": (
        IMAGE,
        lambda X: of_colours().fit(coloured(WHOLE_IMAGE)).restore(X)[0],
    ),
    "fields.images.first_guess(image)": (IMAGE, images.first_guess),
    "fields.images.first_guess(missing)": (FLAGS, lambda X: images.first_guess(WHOLE_IMAGE, X)),
    "fields.images.noise_level(image)": (IMAGE, images.noise_level),
    "fields.images.psnr(image)": (IMAGE, lambda X: images.psnr(X, WHOLE_IMAGE)),
    "fields.images.psnr(reconstruction)": (IMAGE, lambda X: images.psnr(WHOLE_IMAGE, X)),
    "fields.images.reconstruct(image)": (
        IMAGE,
        lambda X: images.reconstruct(of_images().fit(WHOLE_IMAGE).learner_, X, 3),
    ),
    "looks.plots.comparison_data(original)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": WHOLE_IMAGE}, X)[0][1],
    ),
    "looks.plots.comparison_data(pictures)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": X})[0][1],
    ),
    "looks.plots.material_map_data(classes)": (
        holes(np.zeros((3, 3)), 4),
        lambda X: plots.material_map_data(X, ["a"])[0],
    ),
    "looks.plots.reconstruction_data(image)": (
        IMAGE,
        lambda X: plots.reconstruction_data(X, WHOLE_IMAGE)[2],
    ),
    "looks.plots.reconstruction_data(approximation)": (
        IMAGE,
        lambda X: plots.reconstruction_data(WHOLE_IMAGE, X)[2],
    ),
}
assert len(CASES) == 20
