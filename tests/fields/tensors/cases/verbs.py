"""Files that runs of tensors read, and what is read of them."""

import numpy as np
import pandas as pd
from written import X, rows


def write_cube(path, entry, _):
    """Write a tensor of three axes."""
    cube = X[:24].reshape(4, 6, 4)
    if path.suffix == ".npy":
        np.save(path, cube)
    elif path.suffix == ".npz":
        np.savez(path, only=cube)
    else:
        places = dict(zip("abc", np.indices(cube.shape).reshape(3, -1), strict=True))
        pd.DataFrame(places | {"value": cube.ravel(), "d": 1.0}).to_parquet(path)


CASES = {"tensor": ((".npy", ".npz", ".parquet"), write_cube, rows, lambda path: {})}
