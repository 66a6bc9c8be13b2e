"""Model files that an earlier version wrote, of every class: they load, give the same, learn on."""

import numpy as np
import pytest
from cases import FIELDS
from golden.every import FILES, HERE, outputs
from numpy.testing import assert_allclose, assert_array_equal

import atomstream


def test_a_model_of_every_class_is_here():
    there = {*HERE.glob("*.atoms"), *FIELDS.glob("*/golden/*.atoms")}
    assert {*FILES.values()} == there
    assert len([file for file in there if file.parent == HERE]) == 3


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_model_of_an_earlier_version_gives_what_it_gave(name):
    found = outputs(name, atomstream.load(FILES[name]))
    with np.load(FILES[name].with_suffix(".npz")) as expected:
        keys = sorted(expected.files)
        assert keys == sorted(found)
        for key in keys:
            got, wanted = np.asarray(found[key]), expected[key]
            if wanted.dtype.kind == "f":
                assert got.dtype == wanted.dtype
                assert_allclose(got, wanted, rtol=1e-6, atol=1e-10, err_msg=key)
            else:
                assert_array_equal(got, wanted, err_msg=key)
