"""Data that are no numbers."""

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

ROWS, COLUMNS = 30, 8


def data(rows=ROWS, columns=COLUMNS):
    return np.random.default_rng(0).random((rows, columns))


NO_NUMBERS = {
    "dates": (data() * 1e9).astype("datetime64[s]"),
    "durations": (data() * 1e9).astype("timedelta64[s]"),
    "complex": data() + 0j,
    "complex list": (data() + 1j).tolist(),
    "complex csr": sp.csr_array(data() + 1j),
    "complex objects": (data() + 1j).astype(object),
    "texts": data().astype(str),
    "texts in lists": data().astype(str).tolist(),
    "bytes": data().astype("S"),
    "records": np.zeros((4, 4), [("a", float)]),
    "frame of dates": pd.DataFrame((data() * 1e9).astype("datetime64[s]")),
    "frame with dates": pd.DataFrame(data()).assign(b=pd.Timestamp(0)).rename(columns=str),
    "polars with dates": pl.DataFrame({"a": pd.date_range("2020", periods=5)}),
    "ragged": [[1.0, 2.0], [3.0]],
    "too large": [[10**400, 1]],
    "a dict": {"a": 1},
}
NEEDED = "real numbers|Complex data not supported|rows of different lengths|give one of them"
