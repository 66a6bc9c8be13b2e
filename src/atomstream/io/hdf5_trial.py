"""Go through an HDF5 file as its readers do: the script of the process that `hdf5` starts.

It says nothing. What matters is whether it ends, and how: errors that a reader would see are left
to the reader.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

ROWS = 4096  # of strings that are read at a time
OUT_OF_MEMORY = 3  # how the process ends then


def walk(path: str, memory: int, contents: bool) -> int:
    """Visit all that is in a file; return how the process is to end.

    Parameters
    ----------
    path : str
    memory : int
        Bytes of address space that may be taken, where the system can hold a process to that.
    contents : bool
        Whether attributes and strings are read too.
    """
    import h5py

    with suppress(ImportError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    steps = STEPS if contents else STEPS[:1]

    def visit(_: str, node: Any) -> None:
        """Do what a reader does with a group or an array; what fails, the reader will meet."""
        for step in steps:
            try:
                step(node)
            except MemoryError:
                raise
            except Exception:
                continue

    try:
        with h5py.File(path, "r") as file:
            visit("", file)
            file.visititems(visit)
    except MemoryError:
        return OUT_OF_MEMORY
    except Exception:
        return 0
    return 0


def _read_strings(node: Any) -> None:
    if node.dtype.hasobject:
        for start in range(0, node.shape[0] if node.shape else 1, ROWS):
            node[start : start + ROWS] if node.shape else node[()]


# What the library follows: the index of chunks, attributes, the heap of strings.
STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda node: node.chunks and node.id.get_num_chunks(),
    lambda node: dict(node.attrs.items()),
    _read_strings,
)

if __name__ == "__main__":
    sys.exit(walk(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "contents"))
