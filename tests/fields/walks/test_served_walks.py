"""What a served model of walks returns."""

from numpy.testing import assert_array_equal
from served import fitted, served


def test_walks_serve_groups(tmp_path):
    walk = fitted("walks")
    walk.partition(2)
    assert_array_equal(served(walk, tmp_path).predict([0, 1, 2]), walk.predict([0, 1, 2]))
