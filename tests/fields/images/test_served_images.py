"""Models of images are not served."""

import pytest
from cases import rows
from served import fitted, served

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_images_serve_nothing(tmp_path):
    with pytest.raises(ValueError, match="ImageDictionary is not a function of rows"):
        served(fitted("images"), tmp_path).predict(rows())
