"""Where benchmarks leave their results, with the versions of peers.

Those that guard a default or a promise lie here, with ``results`` that are made anew for a release.
What was judged once lies in ``judged``, with the results of the commit that they name; its scripts
run as ``PYTHONPATH=benchmarks python benchmarks/judged/NAME.py``.
"""

import os
import sys
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))

from records import DATA, PACKAGES, Records

HERE = Path(__file__).parent
LINES = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
PEERS = [line for line in LINES if not line.startswith("#")]
OPTIONAL = ("pyarrow", "networkx", "anndata", "h5py", "dask", "distributed")
FOLDERS = HERE / "results", HERE / "judged/results"
JUDGES = Path(sys.argv[0]).resolve().parent == HERE / "judged"
BENCHMARKS = Records(FOLDERS[JUDGES], (*PACKAGES, *PEERS, *OPTIONAL))
save = BENCHMARKS.save


def load(name: str) -> dict[str, Any]:
    """Return a record of either folder."""
    folder = next(folder for folder in FOLDERS if (folder / f"{name}.json").exists())
    return Records(folder).load(name)


# SPAMS brings an OpenBLAS of 2021. On processors that it does not know it takes kernels of 2004,
# and pursuit lasts 2.6 times as long; so each that is loaded later takes the kernels of NumPy's.
for library in threadpool_info():
    if library["internal_api"] == "openblas" and "numpy" in library["filepath"]:
        os.environ.setdefault("OPENBLAS_CORETYPE", library["architecture"])

__all__ = ["BENCHMARKS", "DATA", "load", "save"]
