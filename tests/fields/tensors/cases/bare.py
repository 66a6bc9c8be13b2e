"""What runs of tensors do without optional libraries."""

import numpy as np


def prepare(folder):
    np.save(folder / "cube.npy", np.random.default_rng(0).random((30, 4, 3)))
    (folder / "cube.nc").write_bytes(b"anything")


CASES = {
    "tensor": {
        "prepare": prepare,
        "works": ["tensor learn @cube.npy --atoms 2 --out @tensor"],
        "asks": ["tensor learn @cube.nc --atoms 2 --out @labelled"],
    },
}
