"""Codes of shards, one file each, written by the workers."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.cluster.engines import facts
from atomstream.cluster.gathering import done
from atomstream.cluster.rounds import Job, Span
from atomstream.cluster.shards import Shards
from atomstream.cluster.worker import Payload, Reading, packed
from atomstream.io.files import Place, Storage, make_folder, place_of, write_whole

INDEX = "codes.json"
BATCH = 4096  # rows coded at a time


def transform_shards(
    model: Any,
    shards: Shards,
    out: str | Path,
    *,
    engine: Any = None,
    storage_options: dict[str, Any] | None = None,
) -> list[str]:
    """Code shards and write one file for each: ``000000.npy`` and so on, in their order.

    A file gets its name when all of it is written. ``codes.json`` is written last; it lists the
    file, the name, the rows and the version of every shard.

    Parameters
    ----------
    model : estimator
        With ``transform``.
    shards : Shards
        What to code.
    out : path or address in a store
        A folder, made if it is missing.
    engine : None, str, Executor, dask.distributed.Client or Engine, optional
        As in ``fit_stream``.
    storage_options : dict, optional
        Options of the store of ``out``, for fsspec.

    Returns
    -------
    list of str
        The files.

    Raises
    ------
    BadShardError, ChangedShardError, EngineError
        As in ``fit_stream``; files that were complete stay.
    """
    folder = str(out).rstrip("/")
    storage = tuple(sorted((storage_options or {}).items()))
    place = place_of(folder, storage)
    if not isinstance(place, Place):
        make_folder(place.absolute())
    tasks = [
        _Coding(0, number, (Span(shard, 0, shard.n_rows),), f"{folder}/{number:06d}.npy", storage)
        for number, shard in enumerate(shards)
    ]
    for _ in done(engine, _code, packed(model), tasks):
        pass  # its file is written
    index = [
        {"file": task.path, "shard": shard.name, "rows": shard.n_rows, "version": shard.version}
        for task, shard in zip(tasks, shards, strict=True)
    ]
    write_whole(place_of(f"{folder}/{INDEX}", storage), json.dumps(index, indent=1).encode())
    return [task.path for task in tasks]


@dataclass(frozen=True)
class _Coding(Job):
    """The task of coding one shard."""

    path: str
    storage: Storage


def _code(sent: bytes, task: _Coding) -> Payload:
    """Code a shard and write its file."""
    model = pickle.loads(sent)
    with Reading(task.hand, BATCH).named() as reading:
        codes = np.concatenate([model.transform(X) for X in reading])
    buffer = io.BytesIO()
    np.save(buffer, codes)
    write_whole(place_of(task.path, task.storage), buffer.getvalue())
    return Payload(task.key, b"", facts())
