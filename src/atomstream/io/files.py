"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["PART", "sync_folder", "whole_file"]

PART = ".part"  # ending of files that are being written


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name only when all is written and on disk; if the body raises, nothing is left.

    A temporary file beside it is written, synced and renamed, then the folder is synced: whoever
    looks at ``path``, also after a crash of the process or of the machine, sees the old content or
    the new one.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
