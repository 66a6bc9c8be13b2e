"""Files of tensors, damaged by `fuzz.py`, and how each is read."""

import numpy as np
from fuzz_files import X, saved

from atomstream.fields.tensors.files import open_tensor


def tensor_of(path):
    tensor = open_tensor(path)
    return sum(block.X.shape[0] for block in tensor.blocks(0, 0)), tensor.shape


CASES = {
    "tensor": ("x.npy", lambda: [saved(np.save, X.reshape(7, 3, 1))], tensor_of, None),
}
