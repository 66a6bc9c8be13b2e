"""Tables, arrays and pictures as files of any kind, and what runs read of them."""

import re

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.io import mmwrite

rng = np.random.default_rng(0)
X = rng.integers(1, 64, (40, 4)) / 64
TABLES = (".csv", ".jsonl", ".parquet")
ARRAYS = (".npy", ".npz", ".mtx")


def table(entry, times=None):
    """Return a table of texts, of which one entry is given."""
    frame = pd.DataFrame(X, columns=[*"abcd"]).astype(str)
    frame.loc[7, "c"] = entry
    if times is not None:
        frame = frame[: len(times)]
        frame.insert(0, "t", times)
    return frame


def write(path, entry, times=None):
    """Write a table, an array or a picture, as its name ends."""
    frame = table(entry, times)
    ending = path.suffix
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == ".parquet":
        frame.loc[7, "c"] = entry if re.fullmatch(r"[\d.]+", entry) else "0.5"
        frame.astype(dict.fromkeys("abcd", float)).to_parquet(path)
    elif ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, only=X)
    elif ending == ".mtx":
        mmwrite(path, sp.coo_array(X))
    elif ending == ".png":
        from PIL import Image

        Image.fromarray(rng.integers(0, 255, (30, 30, 3)).astype("u1")).save(path)


def rows(kind, settings):
    """Return what is learned of rows."""
    return [block.X for source in kind(settings).sources for block in source.blocks(0, 0)]
