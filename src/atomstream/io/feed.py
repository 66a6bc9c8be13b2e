"""Batches from inputs, read ahead by another thread; and rows that are never learned from."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import Matrix, counted, stacked
from atomstream.base.bootstrap import mixed
from atomstream.base.saved_fields import array, check_fields, count, field_names
from atomstream.exceptions import InputError
from atomstream.io.source import Block, Source

SPREAD = 0x9E3779B97F4A7C15  # keeps the ids of different inputs, and keys of different seeds, apart
AHEAD = 6  # blocks that are read ahead, because row groups come in bursts
LAST = 0.5  # seconds to wait for the last lines of a live stream after a stop
PATIENCE = 0.1  # seconds between checks for a stop while waiting
READ_LIMIT = 3600.0  # seconds for one block of a file; a live stream may be silent for longer


_END = object()  # what the reading thread hands over last


class Position(NamedTuple):
    """The position of the next row.

    Attributes
    ----------
    epoch : int
        Number of completed passes.
    source : int
        Number of the input.
    row : int
        Number of the row in that input.
    """

    epoch: int = 0
    source: int = 0
    row: int = 0


BEGINNING = Position()


class Piece(NamedTuple):
    """A batch of rows, and the position after it.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    ids : ndarray of uint64 of shape (n_rows,)
        Different for all rows of all inputs, and the same in each pass.
    after : Position
        Position at which to continue after these rows.
    labels : tuple of ndarray of objects, each of shape (n_rows,)
        What the input calls each row.
    """

    X: Any
    ids: NDArray
    after: Position
    labels: tuple[NDArray, ...] = ()


class _Held(NamedTuple):
    """A block at position ``first``, of which ``taken`` rows are already in batches."""

    block: Block
    first: Position
    taken: int = 0


class Feed:
    """The rows of several inputs as one stream of even batches, from any position on.

    Parameters
    ----------
    sources : list of Source
        Inputs with the same features, which are found by their names where they have some.
    batch_size : int
    """

    def __init__(self, sources: list[Source], batch_size: int) -> None:
        first, named = sources[0], next((each for each in sources if each.names), sources[0])
        for other in sources[1:]:
            # Before columns are counted: their names say more.
            other.take_columns(named.names, named.name)
            if other.n_features != first.n_features:
                raise InputError(
                    f"{other.name} has {counted(other.n_features, 'column')} and {first.name} has "
                    f"{first.n_features}; all inputs must have the same number."
                )
            if [*other.row_names] != [*first.row_names]:
                raise InputError(
                    f"Rows of {other.name} are named by {_listed(other.row_names)}, those of "
                    f"{first.name} by {_listed(first.row_names)}; they must agree."
                )
        self.sources, self.batch_size = sources, batch_size
        self.idle: Callable[[], Any] = lambda: None  # called repeatedly while waiting for rows
        self.ended = False  # whether the pass has been read to its end
        self._stop = threading.Event()

    @property
    def n_rows(self) -> int | None:
        """Number of rows of a pass, or None if an input does not know it."""
        counts = [source.n_rows for source in self.sources]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def live(self) -> bool:
        """Whether rows come from a stream that can be read only once."""
        return any(source.live for source in self.sources)

    def stop(self) -> None:
        """End the current pass; the rows of a live stream so far are still yielded."""
        self._stop.set()

    def batches(self, start: Position = BEGINNING) -> Iterator[Piece]:
        """Yield the batches of one pass; only the last may have fewer than ``batch_size`` rows."""
        self.ended = False
        held: deque[_Held] = deque()
        n_held, failure = 0, None
        try:
            for part in self._blocks(start):
                held.append(part)
                n_held += part.block.X.shape[0]
                while n_held >= self.batch_size:
                    yield _taken(held, self.batch_size)
                    n_held -= self.batch_size
        except InputError as error:
            failure = error  # raised after the rows before it
        # After a stop, rows of a file can be read again, but rows of a live stream cannot.
        if n_held and (self.live or self.ended):
            yield _taken(held, n_held)
        if failure is not None:
            raise failure

    def _blocks(self, start: Position) -> Iterator[_Held]:
        """Yield the blocks that the reading thread has read."""
        ready: queue.Queue[Any] = queue.Queue(1 if self.live else AHEAD)  # live rows come once
        given_up = threading.Event()

        def read() -> None:
            """Read the rest of the pass, in a thread of its own."""
            try:
                for number in range(start.source, len(self.sources)):
                    row = start.row if number == start.source else 0
                    for block in self.sources[number].blocks(row, start.epoch):
                        ids = block.ids.astype(np.uint64) + np.uint64(number * SPREAD % 2**64)
                        part = Block(block.X, ids, block.labels)
                        ready.put(_Held(part, Position(start.epoch, number, row)))
                        row += block.X.shape[0]
                        if self._stop.is_set() or given_up.is_set():
                            return
                ready.put(_END)
            except BaseException as error:
                ready.put(error)  # whatever it is: who waits for rows must not wait forever

        within = copy_context()  # what limits reading holds in the thread too
        reader = threading.Thread(target=within.run, args=(read,), name="reader", daemon=True)
        reader.start()
        try:
            while (item := self._next(ready, reader)) is not None:
                if item is _END:
                    self.ended = True
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            given_up.set()
            # A reader that waits for room puts its item now, and then sees that nobody wants more.
            with suppress(queue.Empty):
                while True:
                    ready.get_nowait()

    def _next(self, ready: queue.Queue[Any], reader: threading.Thread) -> Any:
        began = time.monotonic()
        while not self._stop.is_set():
            try:
                return ready.get(timeout=PATIENCE)
            except queue.Empty:
                self.idle()
            if not self.live and time.monotonic() - began > READ_LIMIT:
                names = ", ".join(source.name for source in self.sources)
                raise InputError(
                    f"No rows of {names:.500} could be read for {READ_LIMIT:g} seconds; check the "
                    "disk or network that they lie on, and resume."
                )
        # Rows of a file can be read again. Those of a live stream cannot, and may be on their way.
        working = self.live
        while working:
            working = reader.is_alive() and not any(source.waiting for source in self.sources)
            with suppress(queue.Empty):
                return ready.get(timeout=LAST)
        return None


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels)) or "nothing"


def _taken(held: deque[_Held], size: int) -> Piece:
    """Remove the first rows from the blocks and return them as a batch."""
    parts: list[Block] = []
    while size:
        block, first, taken = held[0]
        rows = slice(taken, min(taken + size, block.X.shape[0]))
        labels = tuple(part[rows] for part in block.labels)
        parts.append(Block(block.X[rows], block.ids[rows], labels))
        size -= rows.stop - rows.start
        after = first._replace(row=first.row + rows.stop)
        if rows.stop == block.X.shape[0]:
            held.popleft()
        else:
            held[0] = _Held(block, first, rows.stop)
    X = stacked([part.X for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    named = zip(*(part.labels for part in parts), strict=True)
    return Piece(X, ids, after, tuple(np.concatenate(each) for each in named))


MOST_ROWS = 256
MOST_BYTES = 1 << 23
ALL = 2**64 - 1


class Holdout:
    """A sample of fixed size of the rows of a stream, kept out of learning in every pass.

    Each row has a key that depends on what it is called and on the seed alone; the rows with the
    smallest keys are held. The longer the stream, the smaller the key must be to get in, so a long
    stream loses few rows to it.

    Parameters
    ----------
    share : float
        Of a short stream that is held; 0 holds nothing.
    seed : int

    Attributes
    ----------
    rows : ndarray or csr_array of shape (n_rows, n_features), or None
    keys : ndarray of uint64 of shape (n_rows,)
    labels : ndarray of objects of shape (n_rows,), or None
        Names of the rows, where the inputs name them.
    n_held : int
        Rows that have been kept out of the first pass.
    """

    SAVED = (
        *(array("rows", "n d", optional=True), array("keys", "n", np.uint64)),
        *(array("labels", "n", "O", optional=True), count("n_held")),
    )

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.seed = share, seed
        self.rows: Any = None
        self.keys = np.empty(0, np.uint64)
        self.labels: NDArray | None = None
        self.n_held = 0

    def choose(self, X: Matrix, ids: NDArray) -> NDArray:
        """Return which rows to keep out of learning, as bool of shape (n_rows,)."""
        bound = int(self.share * ALL)  # keys are spread evenly: this share of them is below it
        # Once it is full, only keys below the largest that is held can come in.
        if len(self.keys) >= _room(X):
            bound = min(bound, int(self.keys.max()))
        return self._keys(ids) <= np.uint64(bound)

    def keep(self, X: Matrix, ids: NDArray, labels: Sequence[NDArray] = ()) -> None:
        """Take in rows that were chosen in the first pass, as long as there is room.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_rows, n_features)
        ids : ndarray of shape (n_rows,)
        labels : sequence of ndarray of shape (n_rows,), default=()
            What names the rows; always as many arrays.
        """
        self.n_held += X.shape[0]
        self._add(X, self._keys(ids))
        kept = np.sort(np.argsort(self.keys, kind="stable")[: _room(X)])
        self.rows, self.keys = self.rows[kept], self.keys[kept]
        if labels:
            named = zip(*labels, strict=True)
            names = np.array([" ".join(map(str, name)) for name in named], object)
            before = names[:0] if self.labels is None else self.labels
            self.labels = np.concatenate([before, names])[kept]

    def take(self, X: Matrix, ids: NDArray) -> None:
        """Take in rows chosen elsewhere, as long as there is room; their ids are the keys."""
        room = max(_room(X) - len(self.keys), 0)
        self._add(X[:room], ids[:room].astype(np.uint64))
        self.n_held = len(self.keys)

    def _keys(self, ids: NDArray) -> NDArray:
        return mixed(ids.astype(np.uint64) + np.uint64(self.seed * SPREAD % 2**64))

    def _add(self, X: Matrix, keys: NDArray) -> None:
        rows = stacked([X] if self.rows is None else [self.rows, X])
        self.rows = rows.astype(np.float32 if rows.dtype == np.float32 else np.float64, copy=False)
        self.keys = np.concatenate([self.keys, keys])

    def notes(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        return {name: getattr(self, name) for name in field_names(self.SAVED)}

    def restore(self, told: dict[str, Any]) -> None:
        """Take back what `notes` told.

        Raises
        ------
        ValueError, KeyError
            For what `notes` cannot have told.
        """
        vars(self).update({name: told[name] for name in field_names(self.SAVED)})
        check_fields(self, self.SAVED, **({"n": 0} if self.rows is None else {}))


def _room(X: Matrix) -> int:
    """Return how many rows like these are held at most; they are drawn, so each counts as dense."""
    return max(4, min(MOST_ROWS, MOST_BYTES // (X.shape[1] * 8)))


def bad_rows(X: Any, *, missing: bool, nonnegative: bool) -> NDArray:
    """Return which rows a model refuses; lines that could not be read are all missing.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
    missing : bool
        Whether the model takes missing entries; a row without any other is refused all the same.
    nonnegative : bool
        Whether it refuses negative ones.

    Returns
    -------
    ndarray of bool of shape (n_rows,)
        False for sparse rows, in which nothing is missing.
    """
    if sp.issparse(X):
        return np.zeros(X.shape[0], bool)
    unknown = np.isnan(X)
    bad: NDArray = unknown.all(axis=1) if missing else unknown.any(axis=1)
    bad |= np.isinf(X).any(axis=1)
    return bad | (X < 0).any(axis=1) if nonnegative else bad
