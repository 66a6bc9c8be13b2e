"""Where benchmarks leave their results: in ``benchmarks/results``, with the versions of peers."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))

from records import DATA, PACKAGES, Records

HERE = Path(__file__).parent
LINES = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
PEERS = [line for line in LINES if not line.startswith("#")]
OPTIONAL = ("pyarrow", "networkx", "anndata", "h5py", "dask", "distributed")
BENCHMARKS = Records(HERE / "results", (*PACKAGES, *PEERS, *OPTIONAL))
save, load = BENCHMARKS.save, BENCHMARKS.load

__all__ = ["BENCHMARKS", "DATA", "load", "save"]
