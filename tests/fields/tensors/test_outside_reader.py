"""A reader from outside the package, at work in runs of tensors."""

import numpy as np

from atomstream.fields.tensors.files import open_tensor
from atomstream.io import inputs, register_reader


def records(path, options):
    """Read samples of 32-bit numbers, each of three by four."""
    return np.memmap(path, np.float32, mode="r").reshape(-1, 3, 4)


def test_a_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "KINDS", dict(inputs.KINDS))
    cube = tmp_path / "data.cube"
    cube.write_bytes(np.random.default_rng(0).random((400, 12)).astype(np.float32).tobytes())
    register_reader(".cube", records)
    assert open_tensor(cube).shape == (3, 4)
