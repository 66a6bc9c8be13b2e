"""Commands on series that work for much longer than a test waits."""

import numpy as np


def series(folder):
    """Write a long table."""
    waves = np.abs(np.sin(np.arange(6000)[:, None] / np.arange(3, 43))).round(3)
    names = ",".join(map(str, range(40)))
    np.savetxt(folder / "series.csv", waves, delimiter=",", header=names)


CASES = {
    "forecast": {
        "command": "series forecast series.csv --window 24 --atoms 16 --horizon 12 --out run",
        "prepare": series,
        "begins_run": True,
    },
    "impute": {
        "command": "series impute series.csv --window 24 --atoms 16 --out run",
        "prepare": series,
        "begins_run": True,
    },
}
