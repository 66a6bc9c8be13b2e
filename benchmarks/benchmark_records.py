"""Where benchmarks leave their results: in ``benchmarks/results``, with the versions of peers."""

import os
import sys
from pathlib import Path

from threadpoolctl import threadpool_info

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))

from records import DATA, PACKAGES, Records

HERE = Path(__file__).parent
LINES = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
PEERS = [line for line in LINES if not line.startswith("#")]
OPTIONAL = ("pyarrow", "networkx", "anndata", "h5py", "dask", "distributed")
BENCHMARKS = Records(HERE / "results", (*PACKAGES, *PEERS, *OPTIONAL))
save, load = BENCHMARKS.save, BENCHMARKS.load

# SPAMS brings an OpenBLAS of 2021. On processors that it does not know it takes kernels of 2004,
# and pursuit lasts 2.6 times as long; so each that is loaded later takes the kernels of NumPy's.
for library in threadpool_info():
    if library["internal_api"] == "openblas" and "numpy" in library["filepath"]:
        os.environ.setdefault("OPENBLAS_CORETYPE", library["architecture"])

__all__ = ["BENCHMARKS", "DATA", "load", "save"]
