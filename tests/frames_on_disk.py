"""Tables in files of every kind that has names of columns."""

import numpy as np
import pandas as pd

NAMES = [f"s{j}" for j in range(6)]
TURNED = NAMES[::-1]


def tables(n_files=4):
    rng = np.random.default_rng(0)
    parts = rng.random((3, 6))
    return [
        pd.DataFrame(rng.exponential(size=(300, 3)) @ parts, columns=NAMES) for _ in range(n_files)
    ]


def write(frame, path):
    kind = path.suffix
    if kind == ".csv":
        frame.to_csv(path, index=False)
    elif kind == ".jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif kind == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)


def written(folder, kind):
    """Write four files, and the same with one whose columns are turned."""
    for number, frame in enumerate(tables()):
        write(frame, folder / f"straight-{number}.{kind}")
        write(frame[TURNED] if number == 2 else frame, folder / f"mixed-{number}.{kind}")
    return folder
