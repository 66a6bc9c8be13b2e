"""The shared data of the project, which lie beside the checkout and are no part of it."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("ATOMSTREAM_DATA", Path(__file__).parents[2] / "shared" / "data"))
# On CI the data must be there; ATOMSTREAM_DATA=none says that they are not.
needs_data = pytest.mark.skipif(
    not DATA.exists() and (os.environ.get("CI") != "true" or str(DATA) == "none"),
    reason=f"shared data missing: {DATA}",
)
