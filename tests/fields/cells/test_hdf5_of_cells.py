"""HDF5 files of cells on which the library loops, or that lead to others, are refused."""

import time

import numpy as np
import pytest

from atomstream import cells
from atomstream.exceptions import InputError
from atomstream.io import hdf5

h5py = pytest.importorskip("h5py", reason="needs h5py, of the extra io")


@pytest.fixture
def path(tmp_path):
    """A table and names, which lie on the heap of the file."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(12.0).reshape(4, 3), chunks=(2, 3))
        file["names"] = ["one", "two"]
    return tmp_path / "x.h5"


def test_a_file_in_which_the_library_walks_in_circles_is_refused_in_time(path, monkeypatch):
    monkeypatch.setattr(hdf5, "SECONDS", 1.0)
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL")
    content[heap + 24 : heap + 32] = (2**64 - 16).to_bytes(8, "little")  # the next is itself
    path.write_bytes(content)
    began = time.monotonic()
    with pytest.raises(InputError, match=r"x\.h5 is damaged: .* did not find its end in 1 s"):
        cells.read(path)
    assert time.monotonic() - began < 30


def test_no_file_leads_to_another(path, tmp_path):
    other = tmp_path / "other.h5ad"
    with h5py.File(other, "w") as file:
        file["obs"] = h5py.ExternalLink(str(path), "/")
    with pytest.raises(InputError, match=r"'obs' of .*other\.h5ad leads to another file"):
        cells.read(other)
    with h5py.File(other, "w") as file:
        layout = h5py.VirtualLayout((4, 3), float)
        layout[:] = h5py.VirtualSource(str(path), "x", (4, 3))
        file.create_virtual_dataset("X", layout)
    with pytest.raises(InputError, match=r"'X' of .*other\.h5ad lies in other files"):
        cells.read(other)
