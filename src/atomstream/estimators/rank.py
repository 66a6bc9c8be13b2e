"""How many atoms: judged by hidden entries, and by whether other seeds find the same atoms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_array

from atomstream.core.checks import generator
from atomstream.core.matrices import checked_numbers
from atomstream.estimators._types import RandomSource, Samples
from atomstream.estimators.matching import align
from atomstream.estimators.nmf import OnlineNMF

__all__ = ["RankChoice", "choose_rank"]


@dataclass(frozen=True)
class RankChoice:
    """Choice of `choose_rank`; ``atomstream.viz.plots.rank`` draws it.

    Attributes
    ----------
    rank : int
        The smallest number of atoms whose error is within one standard error of the smallest.
    ranks : ndarray of int of shape (n_ranks,)
    errors : ndarray of shape (n_ranks, n_seeds)
        Mean squared error on hidden entries.
    similarities : ndarray of shape (n_ranks, n_pairs)
        Mean cosine of matched atoms, for every pair of seeds.
    """

    rank: int
    ranks: NDArray
    errors: NDArray
    similarities: NDArray

    @property
    def error(self) -> NDArray:
        """Mean of the errors over seeds, (n_ranks,)."""
        return self.errors.mean(axis=1)

    @property
    def error_se(self) -> NDArray:
        """Standard error of that mean, (n_ranks,)."""
        return self.errors.std(axis=1, ddof=1) / np.sqrt(self.errors.shape[1])

    @property
    def stability(self) -> NDArray:
        """Mean similarity of the atoms of different seeds, (n_ranks,); 1 if they are the same."""
        return self.similarities.mean(axis=1)


def choose_rank(
    X: Samples,
    ranks: Iterable[int],
    *,
    model: BaseEstimator | None = None,
    n_seeds: int = 5,
    holdout: float = 0.1,
    random_state: RandomSource = None,
) -> RankChoice:
    """Choose the number of atoms by errors on hidden entries, with the one-standard-error rule.

    For every seed a share of the entries is hidden, the same for all ranks; a model learns from the
    rest and its reconstruction is compared with what was hidden, in rows that show at least as many
    entries as there are atoms at most. Too few atoms cannot explain the data, too many explain
    their noise and lose on hidden entries. Beside it stands how alike the atoms are that different
    seeds find.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Dense; NaN stands for entries that are missing anyway.
    ranks : iterable of int
        Numbers of atoms to choose from.
    model : estimator, optional
        Not fitted; its ``n_components``, ``missing`` and ``random_state`` are set here. By default
        ``OnlineNMF(ridge=1e-4, batch_size=64, n_epochs=50)``: without a ridge, rows of which few
        entries are left are filled with anything.
    n_seeds : int, default=5
        At least 2.
    holdout : float, default=0.1
        Share of the observed entries that is hidden.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    RankChoice
        The chosen number, and errors and stability of all numbers.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), "Classification and regression trees", section 3.4.3,
    the one-standard-error rule; Wold (1978), "Cross-validatory estimation of the number of
    components", hidden entries.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import choose_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(150, 3)) @ rng.random((3, 12)) + 0.05 * rng.random((150, 12))
    >>> choose_rank(X, range(1, 6), random_state=0).rank
    3
    """
    if sp.issparse(X):
        raise ValueError(
            "choose_rank hides entries and needs dense X, got a sparse one; give X.toarray() or "
            "a part."
        )
    data: NDArray = check_array(
        checked_numbers(X),
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
        input_name="X",
    )
    tried = np.array(sorted(set(ranks)) if isinstance(ranks, Iterable) else [])
    if not len(tried) or tried.dtype.kind not in "iu" or tried[0] < 1:
        raise ValueError(f"ranks must be whole numbers of at least 1, got {ranks!r}.")
    if n_seeds < 2:
        raise ValueError(f"n_seeds must be at least 2, got {n_seeds!r}.")
    if not isinstance(holdout, float) or not 0 < holdout < 1:
        raise ValueError(f"holdout must lie between 0 and 1, got {holdout!r}.")
    base = OnlineNMF(ridge=1e-4, batch_size=64, n_epochs=50) if model is None else model
    rng = generator(random_state)
    errors = np.empty((len(tried), n_seeds))
    found: list[list[Any]] = [[] for _ in tried]
    for seed in range(n_seeds):
        hidden = (rng.random(data.shape) < holdout) & ~np.isnan(data)
        judged = hidden & ((~hidden & ~np.isnan(data)).sum(axis=1, keepdims=True) >= tried[-1])
        if not judged.any():
            raise ValueError(
                f"No hidden entry stands in a row that shows at least {tried[-1]} others: take "
                f"smaller ranks, another holdout than {holdout!r}, or more rows."
            )
        shown, start = np.where(hidden, np.nan, data), int(rng.integers(2**31))
        for place, rank in enumerate(tried):
            settings = {"n_components": int(rank), "missing": True, "random_state": start}
            learned = clone(base).set_params(**settings).fit(shown)
            error = (learned.inverse_transform(learned.transform(shown)) - data)[judged]
            errors[place, seed] = np.mean(error.astype(np.float64) ** 2)
            found[place].append(learned.components_)
    similar = np.array(
        [[align(a, b).stability for a, b in combinations(atoms, 2)] for atoms in found]
    )
    return RankChoice(_smallest_good(tried, errors), tried, errors, similar)


def _smallest_good(ranks: NDArray, errors: NDArray) -> int:
    """Return the smallest rank whose mean error is within one standard error of the best."""
    means = errors.mean(axis=1)
    best = int(means.argmin())
    bound = means[best] + errors[best].std(ddof=1) / np.sqrt(errors.shape[1])
    return int(ranks[np.flatnonzero(means <= bound)[0]])
