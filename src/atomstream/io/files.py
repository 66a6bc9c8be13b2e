"""Files: written whole or not at all, on this machine or in a store that fsspec knows."""

import errno
import glob
import hashlib
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from atomstream.base import library
from atomstream.exceptions import InputError

PART = ".part"  # ending of a file while it is written
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # errors of a disk without room


@contextmanager
def naming_if_full(path: str | Path) -> Iterator[None]:
    """Let the error of a full disk name the file that the body writes.

    The system names files that cannot be opened, but none that cannot be written to.
    """
    try:
        yield
    except OSError as error:
        # The name of a part says nothing to a reader, who knows the whole file.
        if error.errno in FULL and str(error.filename or PART).endswith(PART):
            error.filename = str(path)
        raise


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when all of it is on disk.

    A temporary file beside it is written, synced and renamed, and then the folder is synced. A
    reader of ``path`` sees the old content or the new one, also after a crash of the process or of
    the machine. If the body raises, the temporary file is removed.
    """
    path = Path(path)
    # In the same folder, for a file is renamed at once only within one file system.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with naming_if_full(path), os.fdopen(os.open(part, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # The content is on disk before the name is: after a crash there is the old file or the new
        # one.
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    # And the name itself, which lies in the folder.
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder with all above it that are missing; their names are on disk afterwards."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(folder)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to disk, if the system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Storage = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Place:
    """A file or folder in a store; readers take it where they take a path.

    Parameters
    ----------
    uri : str
        Such as "s3://bucket/rows.parquet".
    storage : tuple of (str, value), default=()
        Options of the store, for `fsspec.filesystem`.
    """

    uri: str
    storage: Storage = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.uri

    @property
    def name(self) -> str:
        """Last part of the address."""
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Ending of the name, with its dot."""
        return Path(self.name).suffix

    @property
    def _store(self) -> Any:
        protocol = self.uri.partition("://")[0]
        return library("fsspec", "Remote files").filesystem(protocol, **dict(self.storage))

    def open(self, mode: str = "rb", buffering: int = -1) -> Any:
        """Open the file for reading."""
        return self._store.open(self.uri, mode)

    def matches(self) -> list[str]:
        """Return the addresses that this one stands for, as a pattern."""
        protocol, store = self.uri.partition("://")[0], self._store
        names = (store.unstrip_protocol(name).partition("://")[2] for name in store.glob(self.uri))
        return [f"{protocol}://{name}" for name in names]

    def write(self, content: bytes) -> None:
        """Write the file; it has its name when all of it is there."""
        store = self._store
        part = f"{self.uri}.{secrets.token_hex(4)}.part"
        store.makedirs(self.uri.rpartition("/")[0], exist_ok=True)
        store.pipe_file(part, content)
        store.mv(part, self.uri)

    def is_dir(self) -> bool:
        """Return whether there is a folder, or a prefix of names."""
        return bool(self._store.isdir(self.uri))

    def version(self) -> str:
        """Return what changes when the content does: the store's own tag, or size and times."""
        store = self._store
        store.invalidate_cache(self.uri)  # what was listed before may have changed
        if not store.isdir(self.uri):
            return digest([_tag(store.info(self.uri))])
        inside = store.find(self.uri, detail=True)
        return digest(f"{name} {_tag(inside[name])}" for name in sorted(inside))


@dataclass(frozen=True)
class Window:
    """Lines of a file, from byte ``first`` to byte ``last``.

    Readers of lines take it where they take a path.
    """

    place: Any
    first: int
    last: int

    def __str__(self) -> str:
        return str(self.place)

    @property
    def suffix(self) -> str:
        """Ending of the name, with its dot."""
        return str(self.place.suffix)

    @contextmanager
    def open(self, mode: str = "rb", buffering: int = -1) -> Iterator[BinaryIO]:
        """Open the lines as a file of their own."""
        with self.place.open("rb") as file:
            file.seek(self.first)
            yield io.BytesIO(file.read(self.last - self.first))


def place_of(uri: str, storage: Storage = ()) -> Any:
    """Return a path on this machine, or a `Place` in a store."""
    if "://" not in uri:
        return Path(uri)
    if uri.startswith("file://"):
        return Path(uri.removeprefix("file://"))
    return Place(uri, storage)


def version_of(place: Any) -> str:
    """Return what changes when the content of a file or folder does.

    Raises
    ------
    FileNotFoundError
        Where it is not there any more.
    """
    if isinstance(place, Place):
        return place.version()
    path = Path(place)
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    stats = [(file.relative_to(path), file.stat()) for file in inside]
    return digest(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)


def found(pattern: str, storage: Storage = ()) -> list[str]:
    """Return the files that a name or a pattern stands for, in the order of their names.

    Raises
    ------
    InputError
        Where there is none.
    """
    place = place_of(pattern, storage)
    if isinstance(place, Place):
        names = place.matches()
    else:
        names = [str(place)] if place.exists() else glob.glob(str(place))
    if not names:
        raise InputError(f"There is no {pattern}.")
    return sorted(names)


def expanded(names: Sequence[str]) -> list[str]:
    """Return names of files, where a pattern has become all that it stands for.

    Raises
    ------
    InputError
        Where that is nothing.
    """
    parts = ([name] if "://" in name or not glob.has_magic(name) else found(name) for name in names)
    return [name for part in parts for name in part]


def only_one(name: str) -> str:
    """Return the one file that a name or a pattern stands for."""
    names = expanded([name])
    if len(names) > 1:
        raise InputError(f"{name} stands for {len(names)} files, and one is learned from: name it.")
    return names[0]


def write_whole(place: Any, content: bytes) -> None:
    """Write a file, which gets its name only when all of it is there."""
    if not isinstance(place, Place):
        with whole_file(place) as file:
            file.write(content)
        return
    place.write(content)


def _tag(info: dict[str, Any]) -> str:
    known = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
    return " ".join(f"{info[name]}" for name in ("size", *known) if name in info)


def digest(parts: Iterable[str]) -> str:
    """Return a short name of texts that changes when one of them does."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
