"""Libraries that the package can do without: one sentence with what to install."""

from importlib import import_module
from typing import Any

from atomstream.exceptions import MissingLibraryError

# What is imported, and the extra that installs it.
EXTRAS = {
    "IPython": "notebook",
    "PIL": "images",
    "anndata": "cells",
    "distributed": "cluster",
    "fsspec": "cluster",
    "h5py": "io",
    "imageio": "video",
    "jinja2": "plots",
    "matplotlib": "plots",
    "mlflow": "loggers",
    "networkx": "graph",
    "pyarrow": "io",
    "tensorboard": "loggers",
    "xarray": "series",
    "zarr": "io",
}
NAMES = {
    "PIL": "Pillow",
    "mlflow": "MLflow",
    "tensorboard": "TensorBoard",
}  # where a library is not called what is imported


def library(module: str, purpose: str) -> Any:
    """Import a module of a library that is optional.

    Parameters
    ----------
    module : str
        Its name, "pyarrow.parquet".
    purpose : str
        What needs it, a plural for the sentence of the error: "Parquet files".

    Raises
    ------
    MissingLibraryError
        Where the library is not installed.
    """
    root = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # The library is there, and it misses one of its own: that error says more.
        if (error.name or "").partition(".")[0] != root:
            raise
        raise MissingLibraryError(
            f"{purpose} need {NAMES.get(root, root)}: pip install 'atomstream[{EXTRAS[root]}]'."
        ) from None
