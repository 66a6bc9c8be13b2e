"""A table of rows over time, and how it is written for runs that are stopped."""

import numpy as np

TABLE = np.random.default_rng(0).random((120, 5)) + np.sin(np.arange(120) / 4)[:, None] + 1
TABLE = np.round(TABLE, 3)


def write(path, values, names=None):
    """Write a table, whose first column may be names: a head, and one for each row."""
    rows = [["" if v != v else repr(v) for v in row] for row in values.tolist()]
    rows = [[*"abcde"], *rows]
    if names is not None:
        head, labels = names
        rows = [[name, *row] for name, row in zip([head, *labels], rows, strict=True)]
    path.write_text("\n".join(map(",".join, rows)) + "\n")
