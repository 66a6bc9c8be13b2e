"""HDF5 files, opened only after a process of their own could go through them.

In a damaged file the HDF5 library may walk in circles, take all memory or end the process, and
nothing stops it from within: a thread would hold the lock of h5py as long as it walks, and would
not survive a crash. So another process goes through the file first, within limits of time and
memory.
"""

import math
import subprocess
from functools import lru_cache
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

from atomstream.base import library
from atomstream.exceptions import InputError
from atomstream.io import InputOptions, Source, allowed, hdf5_trial, need, size_of
from atomstream.io.arrays import Sliced, chosen

SECONDS, BYTES = 20.0, 5_000_000  # that a trial may take, and bytes that give it a second more
LIBRARIES = 2 << 30  # address space that Python and its libraries take


def hdf5(path: Path, options: InputOptions) -> Source:
    """Open the only dataset with two axes or more of an HDF5 file, or the one that is named."""
    tables: dict[str, Any] = {}

    def note(name: str, node: Any) -> None:
        """Keep a dataset of numbers."""
        if hasattr(node, "dtype") and node.dtype.kind in "fiub" and len(node.shape) > 1:
            tables[name] = node

    opened(path).visititems(note)
    array = tables[chosen(path, tables, options.key, options.n_axes)]
    if array.external or array.is_virtual:
        raise InputError(f"{array.name!r} of {path} lies in other files; give these.")
    chunk = math.prod(array.chunks or ()) * array.dtype.itemsize
    need(2 * chunk, f"A chunk of {path}")
    return Sliced(array, path, [path], options.sample_axes, {"key"})


def opened(path: Path, *, contents: bool = False) -> Any:
    """Open an HDF5 file to be read.

    Parameters
    ----------
    path : pathlib.Path
    contents : bool, default=False
        Whether the trial reads attributes and strings too, for readers that do.

    Returns
    -------
    h5py.File

    Raises
    ------
    InputError
        Where the library does not come to an end with the file, fails, or takes too much memory.
    MissingLibraryError
        Without h5py.
    """
    h5py, state = library("h5py", "HDF5 files"), path.stat()
    tried(path, contents, (state.st_size, state.st_mtime_ns))
    return h5py.File(path, "r")


@lru_cache(maxsize=256)
def tried(path: Path, contents: bool, state: tuple[int, int]) -> None:
    """Let another process go through a file of this size and time, once."""
    seconds, memory = SECONDS + state[0] / BYTES, min(allowed(), 2.0**62)
    code = ended(path, contents, seconds, int(memory) + LIBRARIES)
    if code is None:
        raise InputError(
            f"{path} is damaged: the HDF5 library did not find its end in {seconds:.0f} s."
        )
    if code == hdf5_trial.OUT_OF_MEMORY:
        raise InputError(
            f"{path} needs more than {size_of(memory)} of memory to be opened; allow more with "
            "--max-memory where that is right."
        )
    if code < 0:
        raise InputError(f"{path} is damaged: the HDF5 library breaks down on it.")


def ended(path: Path, contents: bool, seconds: float, memory: int) -> int | None:
    """Return how a process that goes through a file ended, None where it did not."""
    limits = [str(memory), "contents" if contents else "arrays"]
    # Not the folder of the script is where it imports from (-P): modules there have short names.
    command = [get_executable(), "-P", hdf5_trial.__file__, str(path), *limits]
    try:
        run = subprocess.run(command, timeout=seconds, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return None
    return run.returncode
