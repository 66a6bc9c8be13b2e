"""Shards: parts of files that a worker opens by itself, with all that it needs to know of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, overload

import numpy as np

from atomstream.base import NamedColumns, check_count, check_keywords, counted
from atomstream.exceptions import ChangedShardError, DataWarning, InputError
from atomstream.io import Pictures, Place, Storage, Window, digest, found, place_of, version_of
from atomstream.io.input_options import InputOptions
from atomstream.io.inputs import ENDINGS, OF_ROWS, check_axes, check_used, reader_of, rows_of
from atomstream.io.source import Source, reading

LINES = (".csv", ".tsv", ".jsonl")


class Shard(Protocol):
    """A part of the data that a worker can read by itself; one of your own can be pickled."""

    @property
    def name(self) -> str:
        """Name for messages, different for each shard."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def version(self) -> str:
        """What changes when the content does: runs that share it can have the same bits."""
        ...

    def read(self, first: int, last: int) -> Iterator[Any]:
        """Yield the rows from ``first`` to ``last``, exclusive, in blocks of any size.

        Columns of frames, and of `atomstream.base.NamedColumns`, are found by their names.

        Raises
        ------
        ChangedShardError
            Where the shard is not what it was.
        """
        ...


@dataclass(frozen=True)
class FileShard:
    """Some rows of a file, or of several images.

    Attributes
    ----------
    uri : str
        Path, or address in a store.
    first, last : int
        Rows of the file; bytes of its lines; or numbers of its images.
    n_rows : int
    version : str
        Digest of sizes, times and tags of the file.
    options : InputOptions
    storage : tuple of (str, value), default=()
        Options of the store.
    images : tuple of str, default=()
    columns : tuple of str, default=()
        Names of the columns in the order of all shards, where that of the file is another one.
    """

    uri: str
    first: int
    last: int
    n_rows: int
    version: str
    options: InputOptions = field(default_factory=InputOptions, repr=False)
    storage: Storage = field(default=(), repr=False)
    images: tuple[str, ...] = field(default=(), repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Address and part."""
        return f"{self.uri}[{self.first}:{self.last}]"

    @property
    def _place(self) -> Any:
        return place_of(self.uri, self.storage)

    def read(self, first: int, last: int) -> Iterator[Any]:
        """Yield some of the rows, in blocks."""
        self._check()
        left = last - first
        try:
            source, start = self._opened()
            if self.columns:
                source.take_columns(self.columns, "the first of the shards")
            names = source.names
            for block in source.blocks(start + first, 0):
                rows = block.X[:left]
                yield rows if names is None else NamedColumns(rows, names)
                left -= rows.shape[0]
                if not left:
                    break
        except InputError:
            self._check()  # a file that changes while it is read may look damaged
            raise
        self._check()
        if left:
            raise InputError(f"{self.name} has {counted(left, 'row')} less than it had.")

    def _check(self) -> None:
        """Refuse a file that is not what it was."""
        try:
            now = self._version()
        except FileNotFoundError:
            raise InputError(f"{self.uri} is not there any more.") from None
        if now != self.version:
            raise ChangedShardError(self.name)

    def _version(self) -> str:
        if self.images:
            places = (place_of(image, self.storage) for image in self.images)
            return digest(map(version_of, places))
        return version_of(self._place)

    def _opened(self) -> tuple[Source, int]:
        """Return what reads the rows, and the number of the first one in it."""
        if self.images:
            return _pictures(self.images, self.storage, self.options, self.first), 0
        if self.uri.lower().endswith(LINES):
            window = Window(self._place, self.first, self.last)
            return _source(window, self.uri, self.options), 0
        return _source(self._place, self.uri, self.options), self.first


class Shards(Sequence[Any]):
    """Shards in the order in which they are learned.

    Parameters
    ----------
    items : iterable of Shard
    """

    opened_by_workers: ClassVar[bool] = True  # how models that do not know the class tell them

    def __init__(self, items: Sequence[Shard]) -> None:
        self.items: tuple[Shard, ...] = tuple(items)
        if not self.items:
            raise InputError("There are no shards.")

    @overload
    def __getitem__(self, index: int) -> Shard: ...
    @overload
    def __getitem__(self, index: slice) -> Shards: ...
    def __getitem__(self, index: int | slice) -> Shard | Shards:
        """Return a shard, or some as a list of their own."""
        return Shards(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'shard')} of {counted(self.n_rows, 'row')}>"

    @property
    def n_rows(self) -> int:
        """Number of rows of all of them."""
        return sum(shard.n_rows for shard in self.items)

    def digest(self) -> str:
        """Return a digest of names, sizes and versions, in their order."""
        return digest(f"{shard.name} {shard.n_rows} {shard.version}" for shard in self.items)

    def shuffled(self, seed: int) -> Shards:
        """Return the shards in another order, drawn with this seed."""
        order = np.random.default_rng(seed).permutation(len(self))
        return Shards([self.items[i] for i in order])


def shards(
    inputs: str | Sequence[str],
    *,
    rows: int = 65_536,
    storage_options: dict[str, Any] | None = None,
    **options: Any,
) -> Shards:
    """List the shards of files, wherever they are.

    Parquet files are cut between row groups, Zarr arrays between chunks, CSV files and lines of
    JSON between bytes that end a line (they are read once to find these), ``.npy`` and other arrays
    between any rows, and folders of images between images.

    Parameters
    ----------
    inputs : str or sequence of str
        Paths, patterns such as ``s3://bucket/x/*.parquet``, or folders of images. Stores are opened
        by fsspec: s3://, gs://, http:// and what else it knows.
    rows : int, default=65536
        Rows of a shard at most, as far as row groups, chunks and images allow.
    storage_options : dict, optional
        Options of the store, for fsspec.
    **options
        As in `atomstream.io.InputOptions`: columns, key, sample_axes, patch, grey, ...

    Returns
    -------
    Shards

    Raises
    ------
    InputError
        If an input cannot be read; the message names it.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from atomstream.cluster import shards
    >>> path = tempfile.mkdtemp() + "/rows.npy"
    >>> np.save(path, np.ones((1000, 4)))
    >>> shards(path, rows=300)
    <4 shards of 1,000 rows>
    """
    rows = check_count("rows", rows)
    names = [inputs] if isinstance(inputs, str) else list(inputs)
    storage = tuple(sorted((storage_options or {}).items()))
    check_keywords("shards", options, InputOptions)
    chosen = InputOptions(**options)
    images: list[str] = []
    made: list[FileShard] = []
    columns: list[str] | None = None
    for name in (each for pattern in names for each in found(pattern, storage)):
        inside = _images(name, storage)
        images.extend(inside)
        if not inside:
            place = place_of(name, storage)
            make, source = (
                FileShard(name, 0, 0, 0, version_of(place), chosen, storage),
                _source(place, name, chosen),
            )
            columns = source.names if columns is None else columns
            if source.names not in (None, columns):
                make = replace(make, columns=tuple(columns or ()))
            made.extend(_cut(make, source, rows))
    for image in images[:1]:
        check_used(chosen, OF_ROWS | Pictures.uses, image)
    made.extend(_cut_images(images, rows, storage, chosen))
    listed = Shards(made)
    sentence = check_axes([made[0]._opened()[0]], chosen.sample_axes, listed.n_rows)
    if sentence is not None:
        warnings.warn(sentence, DataWarning, stacklevel=2)
    return listed


def _cut(make: FileShard, source: Source, rows: int) -> Iterator[FileShard]:
    """Yield shards of a file, which are like the one that stands for all of it."""
    uri, options = make.uri, make.options
    if uri.lower().endswith(LINES):
        named = source.names is not None
        if uri.lower().endswith(".jsonl") and named and not options.columns:
            make = replace(make, options=replace(options, columns=tuple(source.names or ())))
        make = replace(make, options=replace(make.options, head=getattr(source, "head", None)))
        with reading(uri):
            for first, last, n_rows in source.cuts(rows):  # type: ignore[attr-defined]
                yield replace(make, first=first, last=last, n_rows=n_rows)
        return
    for first, last in _ranges(source, rows, uri):
        yield replace(make, first=first, last=last, n_rows=last - first)


def _ranges(source: Source, rows: int, name: str) -> Iterator[tuple[int, int]]:
    """Yield first and last rows of shards, between what is read as a whole."""
    n_rows = source.n_rows
    if n_rows is None:
        raise InputError(f"{name} does not know its number of rows; convert it to Parquet or .npy.")
    ends = np.cumsum(getattr(source, "group_rows", ()))
    if not len(ends):
        step = getattr(source, "chunk_rows", 1)
        size = max(rows // step, 1) * step
        ends = np.array([*range(size, n_rows, size), n_rows])
    first = 0
    for end, following in zip(ends, [*ends[1:], np.inf], strict=True):
        # A shard ends before the group that would make it too long.
        if following - first > rows:
            yield first, int(end)
            first = int(end)


def _cut_images(
    images: Sequence[str], rows: int, storage: Storage, options: InputOptions
) -> Iterator[FileShard]:
    """Yield shards of whole images, as many together as have that many patches."""
    # Images are not cut: so many of them have about that many patches.
    step = max(rows // options.per_image, 1)
    for first in range(0, len(images), step):
        some = tuple(images[first : first + step])
        n_rows = _pictures(some, storage, options, first).n_rows or 0
        last = first + len(some)
        made = FileShard(some[0], first, last, n_rows, "", options, storage, images=some)
        yield replace(made, version=made._version())


def _source(place: Any, uri: str, options: InputOptions) -> Source:
    reader = reader_of(place_of(uri.rpartition("/")[2]))
    if reader is None:
        raise InputError(f"{uri} has an ending that is not known.")
    with reading(uri):
        return rows_of(place, reader, options)


def _images(uri: str, storage: Storage) -> list[str]:
    """Return the image, or the images in a folder; empty for other files."""
    place = place_of(uri, storage)
    if place.suffix.lower() in ENDINGS:
        return [uri]
    if ".zarr" in uri or not place.is_dir():
        return []
    deep = "/**" if isinstance(place, Place) else "/*"
    names = found(f"{uri.rstrip('/')}{deep}", storage)
    return [name for name in names if place_of(name).suffix.lower() in ENDINGS]


def _pictures(
    images: Sequence[str], storage: Storage, options: InputOptions, number: int
) -> Pictures:
    places: list[Any] = [place_of(image, storage) for image in images]
    # Shards draw their patches at different places.
    return Pictures(places, replace(options, seed=options.seed + number))
