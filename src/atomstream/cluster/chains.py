"""Independent chains of a sampler, a task each."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import check_count, generator
from atomstream.cluster.engines import facts
from atomstream.cluster.gathering import done
from atomstream.cluster.rounds import Job
from atomstream.cluster.worker import Payload

if TYPE_CHECKING:
    from atomstream.samplers.base import Chain


def sample_chains(
    chain: Chain,
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
