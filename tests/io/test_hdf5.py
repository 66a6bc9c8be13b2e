"""HDF5 files on which the library loops, breaks down or takes all memory are refused in time."""

import time

import numpy as np
import pytest

from atomstream.exceptions import InputError
from atomstream.io import InputOptions, hdf5, hdf5_trial, source
from atomstream.io.hdf5 import hdf5 as table_of

h5py = pytest.importorskip("h5py", reason="needs h5py, of the extra io")


@pytest.fixture
def path(tmp_path):
    """A table and names, which lie on the heap of the file."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(12.0).reshape(4, 3), chunks=(2, 3))
        file["names"] = ["one", "two"]
    return tmp_path / "x.h5"


def loop(path):
    """Let the first string on the heap claim a length after which the next one is itself."""
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL")
    content[heap + 24 : heap + 32] = (2**64 - 16).to_bytes(8, "little")
    path.write_bytes(content)


def test_a_healthy_file_is_tried_once_and_read(path, monkeypatch):
    calls, ended = [], hdf5.ended
    monkeypatch.setattr(hdf5, "ended", lambda *args: calls.append(args) or ended(*args))
    for _ in range(3):
        (block,) = table_of(path, InputOptions(key="x")).blocks(0, 0)
        assert block.X.tolist() == np.arange(12.0).reshape(4, 3).tolist()
    assert len(calls) == 1
    path.write_bytes(path.read_bytes() + b" ")  # another file
    table_of(path, InputOptions(key="x"))
    assert len(calls) == 2


def test_a_file_in_which_the_library_walks_in_circles_is_refused_in_time(path, monkeypatch):
    monkeypatch.setattr(hdf5, "SECONDS", 1.0)
    loop(path)
    began = time.monotonic()
    with pytest.raises(InputError, match=r"x\.h5 is damaged: .* did not find its end in 1 s"):
        hdf5.opened(path, contents=True)
    assert time.monotonic() - began < 30
    assert table_of(path, InputOptions(key="x")).n_rows == 4  # which does not need the names


def test_what_takes_too_much_memory_is_refused(path):
    with h5py.File(path, "a") as file:
        file.create_dataset("wide", shape=(4, 2**28), dtype=h5py.string_dtype(), chunks=(1, 4096))
    limit = source.max_memory.set(10**8)
    try:
        with pytest.raises(InputError, match="more than 100 MB of memory to be opened"):
            hdf5.opened(path, contents=True)
    finally:
        source.max_memory.reset(limit)


def test_a_library_that_breaks_down_takes_another_process_along(path, monkeypatch, tmp_path):
    script = tmp_path / "crash.py"
    script.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(hdf5_trial, "__file__", str(script))
    with pytest.raises(InputError, match="the HDF5 library breaks down on it"):
        hdf5.opened(path)
