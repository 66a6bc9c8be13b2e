"""How many atoms: replicates compared on hidden entries, and by the atoms that return."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from atomstream.base import RandomSource, Samples, check_count, checked_array, generator
from atomstream.estimators._given import are_shards, check_no_shards
from atomstream.estimators.nmf import OnlineNMF
from atomstream.fields.consensus.model import ConsensusNMF
from atomstream.fields.consensus.rank_choice import RankChoice
from atomstream.fields.networks.model import NetworkDictionary
from atomstream.fields.networks.motifs import Motif
from atomstream.fields.networks.network import Network, regions_of
from atomstream.fields.networks.rebuilding import ChainShard
from atomstream.watch import LearningBar

PATCHES = 5000  # in all parts together
MAX_PARTS, MIN_PARTS = 40, 10  # of a network, as many as can be
PART_FACTOR = 4  # nodes of a part for each of the motif


def rows_apart(data: object, model: Any, seed: Any) -> tuple[NDArray, int]:
    """Return patches, part after part of a network, and how many each part has.

    No two parts share a node, so what is hidden in a patch is in none of another part. Of networks
    without directions each pair is one column: hidden on one side, it would be seen on the other.
    """
    if model.chain == "all":
        raise ValueError(
            "chain='all' visits every copy of the motif in the whole network; choose 'pivot' or "
            "'glauber' to compare ranks."
        )
    network, motif, rng = Network.of(data), Motif.of(model.motif), generator(seed)
    # Parts that share no node: patches of one say nothing of patches of another.
    size = max(PART_FACTOR * motif.size, network.n_nodes // MAX_PARTS)
    parts = regions_of(network, size, rng)
    if len(parts) < MIN_PARTS:
        raise ValueError(
            f"choose_rank compares parts of a network that share no node, at least {MIN_PARTS} of "
            f"{PART_FACTOR} nodes for each node of the motif; found {len(parts)} of {size} nodes. "
            f"Choose a motif of fewer nodes than {motif.size}."
        )
    n, root = PATCHES // len(parts), int(rng.integers(2**63))
    known = motif, model.chain, model.thin
    chains = [ChainShard(part, *known, (root, k), n) for k, part in enumerate(parts)]
    patches = np.concatenate([block for chain in chains for block in chain.read(0, n)])
    if network.directed:
        return patches, n
    # Without directions the lower half repeats the upper: hiding one would show it in the other.
    above = np.triu(np.ones((motif.size, motif.size), bool)).ravel()
    return patches[:, above], n


def choose_rank(
    X: Samples,
    ranks: Iterable[int],
    *,
    model: BaseEstimator | None = None,
    n_seeds: int = 10,
    holdout: float = 0.1,
    block_size: int = 1,
    max_time: float | None = None,
    progress: bool = False,
    random_state: RandomSource = None,
    engine: Any = None,
) -> RankChoice:
    """Choose the number of atoms by errors on hidden entries, and by whether the atoms come back.

    `ConsensusNMF` learns replicates of every rank, each from a bootstrap of the rows without a
    tenth of them. In the rows left out a tenth of the columns is hidden at a time, and predicted
    from codes found on the others. Too few atoms cannot explain the data, too many explain their
    noise and lose on hidden entries.

    Parameters
    ----------
    X : array-like, frame or sparse of shape (n_samples, n_features)
        NaN stands for entries that are missing anyway. For an `OnlineCPDictionary` tensors of shape
        (n_samples, I_1, ..., I_n). Or `atomstream.cluster.Shards`, from which each rank learns in
        one pass, by itself; entries that are missing then need a model that says so. For a
        `NetworkDictionary` a network: it is cut into parts that share no node, and 5,000 patches of
        these are the rows.
    ranks : iterable of int
        Numbers of atoms to choose from.
    model : estimator, optional
        An `OnlineNMF`, `OnlineDictionaryLearning` or `OnlineCPDictionary`, not fitted: its loss,
        penalties, sets, batches and passes are those of all replicates. A `NetworkDictionary` gives
        motif, chain and penalty. By default ``OnlineNMF()``.
    n_seeds : int, default=10
        Replicates of each rank, at least 2. With ten or more every row is judged.
    holdout : float, default=0.1
        Share of the rows that are left out, and of the columns that are hidden in these at a time.
    block_size : int, default=1
        Consecutive rows that are left out together. For windows of a series
        (`atomstream.streams.windows`), which overlap, ten times the length of a window or more.
        Patches of a network are left out by parts.
    max_time : float, optional
        Seconds after which learning ends, at the end of a batch.
    progress : bool, default=False
        Whether to show a bar on standard error. What will be learned, and about how long that
        takes, is logged in any case (logger ``atomstream``, level INFO).
    random_state : int, Generator, RandomState or None, default=None
    engine : None, str, Executor, dask.distributed.Client or Engine, optional
        Where ranks learn from shards.

    Returns
    -------
    RankChoice
        ``rank``, and the ``reason`` in words; ``structured`` tells whether the columns go together
        by more than the sizes of the rows (None: that is open), and ``predicts`` whether the
        rank does better than the means of the columns.

    References
    ----------
    Owen, Perry (2009), "Bi-cross-validation of the SVD and the nonnegative matrix factorization";
    Breiman, Friedman, Olshen, Stone (1984), "Classification and regression trees", section 3.4.3,
    the one-standard-error rule.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import choose_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(150, 3)) @ rng.random((3, 12)) + 0.05 * rng.random((150, 12))
    >>> choose_rank(X, range(1, 6), random_state=0).rank
    3
    """
    base: Any = OnlineNMF() if model is None else model
    # Models whose rows are not apart say why, and what to give instead.
    if (found := getattr(base, "OVERLAPS", None)) is not None:
        overlap, remedy = found
        raise ValueError(
            f"choose_rank hides entries of rows that are left out, and {overlap}: what is hidden "
            f"in one is seen in another; {remedy}."
        )
    if isinstance(base, NetworkDictionary):
        X, block_size = rows_apart(X, base, random_state)
        base = OnlineNMF(alpha=base.alpha, schedule=base.schedule)
    listed = are_shards(X)
    if not listed:
        check_no_shards(X, engine=engine)
    if not listed and hasattr(base, "missing") and not sp.issparse(X) and _has_holes(X):
        base = clone(base).set_params(missing=True)
    tried = np.array(sorted(set(ranks)) if isinstance(ranks, Iterable) else [])
    if not len(tried) or tried.dtype.kind not in "iu" or tried[0] < 1:
        raise ValueError(f"ranks must be whole numbers of at least 1, got {ranks!r}.")
    learner = ConsensusNMF(
        tried,
        n_replicates=check_count("n_seeds", n_seeds, 2),
        model=base,
        holdout=holdout,
        bootstrap=True,
        block_size=block_size,
        batch_size=getattr(base, "batch_size", 256),
        n_epochs=getattr(base, "n_epochs", None),
        max_time=max_time,
        random_state=random_state,
    )
    if progress:
        learner.set_callbacks(LearningBar(text="comparing ranks"))
    if listed:
        given: Any = X
        return learner.fit_stream(given, engine=engine).choice_
    return learner.fit(X).choice_


def _has_holes(X: Samples) -> bool:
    """Return whether entries are NaN; what holds no numbers is judged by the model."""
    try:
        values = checked_array(X)
    except (TypeError, ValueError):
        return False
    return values.dtype.kind == "f" and bool(np.isnan(values).any())
