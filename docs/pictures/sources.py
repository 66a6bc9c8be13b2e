"""Draw five factors of St Louis: ``python docs/pictures/sources.py``, with the shared data."""

import os
from pathlib import Path

from atomstream import bootstrap_sources, find_sources, plots, sources

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ATOMSTREAM_DATA", HERE.parents[2] / "shared/data"))

if __name__ == "__main__":
    files = [DATA / f"air/StLouis-{kind}.csv" for kind in ("con", "unc")]
    found = find_sources(sources.read(*files, total="Mass"), 5, random_state=0)
    ranges = bootstrap_sources(found, random_state=0)
    ends = ranges.low, ranges.high
    figure = plots.factor_profiles(found.profiles, found.species, ranges=ends, units="µg/m³")
    figure.savefig(HERE / "sources-of-air.png", dpi=70)
