"""Files of tensors that claim more than they hold are refused."""

import numpy as np
import pytest
from claims import archive, claims_columns_first, claims_rows, header, saved

from atomstream.exceptions import InputError
from atomstream.fields.tensors.files import open_tensor
from atomstream.io import source


@pytest.fixture(autouse=True)
def small():
    """Reading may take 200 MB."""
    before = source.max_memory.set(2 * 10**8)
    yield
    source.max_memory.reset(before)


@pytest.mark.parametrize("make", [claims_rows, claims_columns_first])
def test_claims_of_tensors_are_refused_too(make, tmp_path):
    path = make(tmp_path)
    with pytest.raises(InputError, match="claims"):
        open_tensor(path)
    parts = {"coords": header((3, 2**40), "<i8") + bytes(24), "data": saved(np.ones(1))}
    path = archive(tmp_path / "y.npz", **parts, shape=saved(np.array([2, 2, 2])))
    with pytest.raises(InputError, match="claims"):
        open_tensor(path)
