"""Draw the profiles of scenario 8: ``python docs/pictures/signatures.py``, with the shared data."""

import os
from pathlib import Path

from atomstream import extract_signatures, plots, signatures

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ATOMSTREAM_DATA", HERE.parents[2] / "shared/data"))

if __name__ == "__main__":
    table = signatures.read(DATA / "signatures/scenario_8_counts.txt.gz")
    model = extract_signatures(table, 3, n_replicates=100, random_state=0)
    found = signatures.de_novo(model, table.channels)
    figure = plots.mutation_profiles(found, intervals=model.intervals_)
    figure.savefig(HERE / "mutational-signatures.png", dpi=90)
