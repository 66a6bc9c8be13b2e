"""De novo extraction of mutational signatures: a consensus of bootstraps that go to their end."""

from collections.abc import Iterable
from typing import Any

from atomstream.base import RandomSource
from atomstream.estimators.nmf import OnlineNMF
from atomstream.fields.consensus.model import ConsensusNMF
from atomstream.fields.signatures import ChannelTable, check_counts

RANKS = range(1, 11)


def signature_extractor(n_components: int | Iterable[int] = RANKS, **settings: Any) -> ConsensusNMF:
    """Return a consensus with the settings for tables of mutations, not fitted.

    Kullback-Leibler is minus the logarithm of the Poisson likelihood up to a constant. Starts are
    random, for where most samples hold most signatures many factors fit alike, and starts from
    the data would all end in one corner. The rule is reproducibility also for counts that are no
    whole numbers any more because they were capped.
    """
    fixed: dict[str, Any] = {"rule": "reproducibility", "bootstrap": True, "to_the_end": True}
    template = OnlineNMF(loss="kl", init="random")
    return ConsensusNMF(n_components, model=template, **fixed | settings)


def extract_signatures(
    mutations: ChannelTable,
    n_components: int | Iterable[int] = RANKS,
    *,
    n_replicates: int = 100,
    rule: str = "reproducibility",
    n_jobs: int | None = None,
    random_state: RandomSource = None,
) -> ConsensusNMF:
    """Find the signatures in a table of mutations, and how many there are.

    Parameters
    ----------
    mutations : ChannelTable
        Counts, as `atomstream.signatures.read` returns them.
    n_components : int or iterable of int, default=range(1, 11)
        The numbers of signatures to compare.
    n_replicates : int, default=100
        Bootstraps of the samples for each number.
    rule : {"reproducibility", "error"}, default="reproducibility"
        What chooses the number: the largest all of whose signatures come back and which predicts
        hidden counts no worse than smaller ones do, or hidden counts alone.
    n_jobs : int, optional
        The most threads over replicates; None takes as many as BLAS may use, -1 all cores.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    ConsensusNMF
        Fitted: ``choice_`` says how many signatures come back, and
        `atomstream.signatures.de_novo` gives them as a table.

    Raises
    ------
    InputError
        For fractions in place of counts, and samples without mutations.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import extract_signatures, signatures
    >>> rng = np.random.default_rng(0)
    >>> profiles = rng.dirichlet(np.full(24, 0.3), 2)
    >>> counts = rng.poisson(2000 * rng.dirichlet([1, 1], 80) @ profiles)
    >>> samples, channels = [f"S{i}" for i in range(80)], [f"channel {i}" for i in range(24)]
    >>> table = signatures.ChannelTable(counts, samples, channels)
    >>> model = extract_signatures(table, range(1, 5), n_replicates=10, random_state=0)
    >>> signatures.de_novo(model, table.channels).names
    ['CH24A', 'CH24B']
    """
    check_counts(mutations)
    settings = {"n_replicates": n_replicates, "rule": rule, "n_jobs": n_jobs}
    extractor = signature_extractor(n_components, random_state=random_state, **settings)
    return extractor.fit(mutations.values)
