"""Pictures of images show what their data say."""

import numpy as np
import pytest

from atomstream import plots

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_pictures_show_what_their_twins_return():
    image = np.random.default_rng(0).random((10, 16))
    _, approximation, error = plots.reconstruction_data(image, image + 2)
    assert approximation.max() == image.max()
    np.testing.assert_allclose(error, approximation - image)
    assert [a.get_title() for a in plots.reconstruction(image, image).axes[:3]] == [
        "original",
        "reconstruction",
        "error",
    ]
