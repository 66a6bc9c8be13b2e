"""Tasks over all shards or chains, one by one: codes, samples, parts of a model; no rounds."""

import io
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from atomstream.base import NamedColumns, check_count, generator, in_order, order_for
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

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from atomstream import OnlineNMF, cluster, transform_shards
    >>> folder = tempfile.mkdtemp()
    >>> np.save(f"{folder}/rows.npy", np.ones((500, 2)))
    >>> model = OnlineNMF.from_components([[1.0, 0.0], [0.0, 1.0]])
    >>> rows = cluster.shards(f"{folder}/rows.npy", rows=300)
    >>> [np.load(file).shape for file in transform_shards(model, rows, f"{folder}/codes")]
    [(300, 2), (200, 2)]
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
    # Last, so that who finds the list finds all files whole.
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
        codes = np.concatenate([model.transform(_as_taken(model, X)) for X in reading])
    buffer = io.BytesIO()
    np.save(buffer, codes)
    write_whole(place_of(task.path, task.storage), buffer.getvalue())
    return Payload(task.key, b"", facts())


def _as_taken(model: Any, X: Any) -> Any:
    """Return rows as a model takes them: models of others know nothing of `NamedColumns`."""
    if not isinstance(X, NamedColumns) or hasattr(model, "learned_attributes"):
        return X
    return in_order(X, order_for(model, X)).X


class ChainLike(Protocol):
    """What is asked of a chain: a state to begin with, and states that follow it."""

    def init(self, rng: np.random.Generator) -> NDArray:
        """Return a state."""

    def run(
        self, rng: np.random.Generator, state: NDArray, n: int, thin: int = 1
    ) -> tuple[NDArray, NDArray]:
        """Return ``n`` samples, ``thin`` steps apart, and the state after the last."""


def sample_chains(
    chain: ChainLike,
    n_chains: int,
    n_samples: int,
    *,
    thin: int = 1,
    burn_in: int = 0,
    random_state: Any = None,
    engine: Any = None,
) -> NDArray:
    """Return samples of independent chains, each with a start and a seed of its own.

    Workers decide nothing: a chain is the same wherever it runs.

    Parameters
    ----------
    chain : Chain
        Of `atomstream.samplers`, or one of your own that workers can import.
    n_chains, n_samples : int
        Number of chains, and samples of each.
    thin : int, default=1
        Steps from sample to sample.
    burn_in : int, default=0
        Steps that are made before, and forgotten.
    random_state : int, Generator, RandomState or None, default=None
    engine : None, str, Executor, dask.distributed.Client or Engine, optional
        Where the chains run: None is this process.

    Returns
    -------
    ndarray of shape (n_chains, n_samples, ...)
        The states.

    Raises
    ------
    EngineError
        Where workers are lost, silent, or of other kinds.

    Examples
    --------
    >>> from atomstream.cluster import sample_chains
    >>> from atomstream.samplers import IsingGibbs
    >>> chain = IsingGibbs(shape=(4, 4), temperature=2.5)
    >>> sample_chains(chain, 3, 10, burn_in=50, random_state=0, engine="threads:2").shape
    (3, 10, 4, 4)
    """
    check_count("n_samples", n_samples)
    check_count("thin", thin)
    check_count("burn_in", burn_in, 0)
    # Each chain is seeded by this and its number: where and in which order it runs is nothing to
    # it.
    root = int(generator(random_state).integers(2**63))
    jobs = [
        _Sampling(0, number, (), (root, number), n_samples, thin, burn_in)
        for number in range(check_count("n_chains", n_chains))
    ]
    found = done(engine, _sample, pickle.dumps(chain, protocol=5), jobs)
    return np.stack([pickle.loads(payload.part) for payload in found])


@dataclass(frozen=True)
class _Sampling(Job):
    """The task of one chain, whose rows are its samples."""

    seed: tuple[int, int]
    n_samples: int
    thin: int
    burn_in: int

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.n_samples

    @property
    def shards(self) -> str:
        """Number of the chain."""
        return f"chain {self.number}"


def _sample(sent: bytes, job: _Sampling) -> Payload:
    """Run a chain from a start of its own."""
    chain, rng = pickle.loads(sent), np.random.default_rng(job.seed)
    state = chain.init(rng)
    if job.burn_in:
        _, state = chain.run(rng, state, 1, job.burn_in)
    states, _ = chain.run(rng, state, job.n_samples, job.thin)
    return Payload(job.key, pickle.dumps(states, protocol=5), facts())


def learned_apart(learner: Any, n_parts: int, shards: Shards, engine: Any, batch: int) -> list[Any]:
    """Return what each part of a model has learned, in their order.

    Parameters
    ----------
    learner : object
        Can be pickled; ``learner.learn_part(number, batches)`` returns what a part has learned.
    n_parts : int
    shards : Shards
    engine : None, str, Executor, dask.distributed.Client or Engine
    batch : int
        Rows of a step; no batch goes over the end of a shard.
    """
    hand = tuple(Span(shard, 0, shard.n_rows) for shard in shards)
    parts = [_Part(0, number, hand, batch) for number in range(n_parts)]
    sent = pickle.dumps(learner, protocol=5)
    return [pickle.loads(found.part) for found in done(engine, _learn, sent, parts)]


@dataclass(frozen=True)
class _Part(Job):
    """The task of one part."""

    batch: int


def _learn(sent: bytes, part: _Part) -> Payload:
    """Let a part learn from all shards."""
    with Reading(part.hand, part.batch).named() as reading:
        learned = pickle.loads(sent).learn_part(part.number, iter(reading))
    return Payload(part.key, pickle.dumps(learned, protocol=5), facts())
