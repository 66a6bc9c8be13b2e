"""Go through an HDF5 file as its readers do: the script of the process that `hdf5` starts.

It says nothing. What matters is whether it ends, and how: errors that a reader would see are left
to the reader.
"""

from __future__ import annotations

import sys
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
    try:
        with h5py.File(path, "r") as file:
            _visit(file, contents)
            file.visititems(lambda _, node: _visit(node, contents))
    except MemoryError:
        return OUT_OF_MEMORY
    except Exception:
        return 0  # the reader will meet it, and say what it is
    return 0


def _visit(node: Any, contents: bool) -> None:
    """Follow what the library follows: the index of chunks, attributes, the heap of strings."""
    for step in (_count_chunks, *((_read_attributes, _read_strings) if contents else ())):
        try:
            step(node)
        except MemoryError:
            raise
        except Exception:
            continue  # the reader will meet it, and say what it is


def _count_chunks(node: Any) -> None:
    if getattr(node, "chunks", None):
        node.id.get_num_chunks()


def _read_attributes(node: Any) -> None:
    dict(node.attrs.items())


def _read_strings(node: Any) -> None:
    if not hasattr(node, "dtype") or not node.dtype.hasobject:
        return
    for start in range(0, node.shape[0] if node.shape else 0, ROWS):
        node[start : start + ROWS]
    if node.shape == ():
        node[()]


if __name__ == "__main__":
    sys.exit(walk(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "contents"))
