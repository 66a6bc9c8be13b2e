"""What `make release-check` asks of the built package, installed with the core dependencies alone.

``python clean_install.py`` in the clean environment. It prints one line for each thing that works.
"""

import importlib.metadata
import importlib.util
import sys
import tempfile
from pathlib import Path

OPTIONAL = ("matplotlib", "jinja2", "PIL", "h5py", "pyarrow", "zarr", "networkx", "torch")


def check() -> None:
    """Import everything, learn, and run the command line."""
    present = [name for name in OPTIONAL if importlib.util.find_spec(name)]
    assert not present, f"not a clean environment: {present} are installed"

    import atomstream

    assert "site-packages" in atomstream.__file__, atomstream.__file__
    assert atomstream.__version__ == importlib.metadata.version("atomstream")
    for name in atomstream.__all__:
        getattr(atomstream, name)
    print(f"atomstream {atomstream.__version__}: {len(atomstream.__all__)} public names")

    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.exponential(size=(500, 3)) @ rng.random((3, 12))
    model = atomstream.OnlineNMF(3, random_state=0).fit(X)
    error = np.linalg.norm(model.inverse_transform(model.transform(X)) - X) / np.linalg.norm(X)
    assert error < 0.05, error
    print(f"learns: error {error:.4f}")

    from atomstream.cli import main

    with tempfile.TemporaryDirectory() as folder:
        table, run = Path(folder) / "table.npy", Path(folder) / "run"
        np.save(table, X)
        assert main(["learn", str(table), "--atoms", "3", "--out", str(run)]) == 0
        assert main(["inspect", str(run)]) == 0
        assert atomstream.load(run / "model.atoms").components_.shape == (3, 12)
    print("the command line works")


if __name__ == "__main__":
    check()
    sys.exit(0)
