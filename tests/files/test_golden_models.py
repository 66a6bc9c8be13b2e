"""Model files that an earlier version wrote, of every class: they load, give the same, learn on."""

from pathlib import Path

import numpy as np
import pytest
from golden.outputs import OUTPUTS, outputs
from numpy.testing import assert_allclose, assert_array_equal

import atomstream

GOLDEN = Path(__file__).parents[1] / "golden/models"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.atoms"))


def test_a_model_of_every_class_is_here():
    assert len(NAMES) == 13
    assert set(OUTPUTS) < set(NAMES)


@pytest.mark.filterwarnings("ignore:The honest one-step errors")
@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_an_earlier_version_gives_what_it_gave(name):
    with np.load(GOLDEN / "inputs.npz") as inputs:
        given = inputs[name]
    model = atomstream.load(GOLDEN / f"{name}.atoms")
    found = outputs(name, model, given)
    with np.load(GOLDEN / f"{name}.npz") as expected:
        keys = sorted(expected.files)
        assert keys == sorted(found)
        for key in keys:
            got, wanted = np.asarray(found[key]), expected[key]
            if wanted.dtype.kind == "f":
                assert got.dtype == wanted.dtype
                assert_allclose(got, wanted, rtol=1e-6, atol=1e-10, err_msg=key)
            else:
                assert_array_equal(got, wanted, err_msg=key)
