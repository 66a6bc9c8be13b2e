"""Whether a table has structure: more than columns of their own, or one profile at many sizes.

The residuals of an explanation without structure are compared with those of random tables: what it
explains stays, and the residual of every entry gets a random sign. Signs undo what columns have in
common and keep how much each entry varies, however uneven rows and columns are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import counted, dense

N_TABLES = 199  # random tables
STRUCTURED, UNSTRUCTURED = 0.01, 0.1  # p-values up to and above which there is a verdict
MIN_UNITS = 30  # rows, or blocks of rows, below which there is none
MIN_COLUMNS = 4  # of what one size leaves of three columns nothing can be told
MIN_NONZEROS = 4  # in a column: what is seen fewer times goes together with anything
MIN_ENTRIES = 120  # other than zero: so few words of short texts hardly come together by chance
MIN_OBSERVED = 2 / 3  # share of the entries
MAX_ENTRIES = 2**18  # of the columns that vary most, so that a verdict takes seconds at most
MAX_LEVERAGE = 0.9  # share of its own fit that an entry may have; rounding governs what is above
ROUNDS = 5  # of fits of variances and missing entries, which settle at once
VARIANCE_STEPS = 40
ROUNDING = 1e-20  # squared, of what is explained
MIN_VARIATION = 1e-3  # squared: columns that vary less weigh no more in the sizes of rows
TINY = np.finfo(np.float64).tiny

ON_THEIR_OWN = "columns that vary independently of each other"
SIZES = "one profile, times the size of each row"
ABOVE_A_LEVEL = "one profile, times the size of each row, above a level that all columns share"


@dataclass(frozen=True)
class Verdict:
    """Whether a table has structure, and by what that was judged.

    Attributes
    ----------
    structured : bool or None
        True where no explanation without structure is left at a p-value above 0.01, False where one
        has a p-value above 0.1, and None where neither is so or the table is too small.
    explanation : str
        The explanation without structure that fits best of those tried; "" where none was tried.
    p_value : float or None
        Of that explanation: the share of random tables whose columns go together as much; None
        where none was tried.
    correlation, expected : float or None
        Mean squared correlation of what the explanation leaves of the columns, in the data, and on
        average in random tables; None where none was tried.
    n_units, n_columns : int
        Rows (of blocks, blocks) and columns that were judged.
    nonnegative : bool
        Whether no entry is negative: only then rows have sizes.
    dispersion : float or None
        Of counts, their variance about one profile times the size of each row, in that of Poisson
        counts; None where entries are no whole numbers or are missing.
    sentence : str
        All of it in words.
    """

    structured: bool | None
    explanation: str
    p_value: float | None
    correlation: float | None
    expected: float | None
    n_units: int
    n_columns: int
    nonnegative: bool
    dispersion: float | None
    sentence: str


class _Table(NamedTuple):
    """The entries that are judged, which of them are observed, and the blocks of the rows."""

    X: NDArray
    seen: NDArray
    blocks: NDArray


class _Trial(NamedTuple):
    """How well an explanation fits: its p-value, its name, correlations as a `Verdict` has them."""

    p_value: float
    explanation: str
    correlation: float
    expected: float


class _Explanation(NamedTuple):
    """An explanation without structure, but for what it makes of a table.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Their weights: inverse variances.
    columns : ndarray of shape (n_columns,), optional
        Weights of the columns in the size of a row; without it rows have no sizes.
    variances : ndarray of shape (n_columns,), optional
        Of the noise of the columns; without it there is no level. With it columns have the same
        weights in the size.
    """

    rows: NDArray
    columns: NDArray | None = None
    variances: NDArray | None = None

    def fit(self, Y: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return what is left of a table, the sizes of its rows, and its profile."""
        if self.columns is None:
            return Y - Y.mean(axis=0), np.ones(len(Y)), np.zeros(Y.shape[1])
        sizes, level = Y @ self.columns, 0.0
        if self.variances is not None:
            level = self._level(Y, sizes)
            sizes = sizes - level * Y.shape[1]
        weights = self.rows * sizes
        profile = (weights @ Y - level * weights.sum()) / max(weights @ sizes, TINY)
        left = np.multiply.outer(sizes, -profile)
        left += Y
        left -= level
        return left, sizes, profile

    def _level(self, Y: NDArray, sizes: NDArray) -> Any:
        """Return the level above which all columns grow in proportion to the sizes."""
        total = self.rows.sum()
        middle = self.rows @ sizes / total
        weights = self.rows * (sizes - middle)
        slopes = weights @ Y / max(weights @ (sizes - middle), TINY)
        starts = self.rows @ Y / total - slopes * middle
        # The level is in the sizes, too, which are sums of d columns: a column with the slope b
        # starts at 1 - d b times the level.
        reach = 1 - Y.shape[1] * slopes
        precise = reach / self.variances
        return np.clip(starts @ precise / max(reach @ precise, TINY), 0, Y.mean())

    def leverage(self, sizes: NDArray, profile: NDArray) -> NDArray:
        """Return the share of its own fit that each entry has, (n_rows, n_columns)."""
        rows = self.rows * sizes**2
        rows = rows / max(rows.sum(), TINY)
        if self.columns is None:
            return rows[:, None]
        rows = rows + (self.rows / self.rows.sum() if self.variances is not None else 0)
        columns = np.clip(self.columns * profile, 0, None)
        columns = columns / max(columns.sum(), TINY)
        return 1 - np.outer(1 - rows.clip(max=MAX_LEVERAGE), 1 - columns.clip(max=MAX_LEVERAGE))


def judge(X: Any, blocks: NDArray | None = None, seed: Any = 0) -> Verdict:
    """Judge whether the columns of a table go together.

    Structure is what is left by each of three explanations without any: columns that vary
    independently about their means; of data without negative entries one profile, times the size of
    each row; and the same above a level that all columns share, such as noise whose mean is not
    zero. The statistic is the mean squared correlation of the columns of the residuals.

    Parameters
    ----------
    X : ndarray or sparse of shape (n_rows, n_columns)
        NaN stands for entries that are missing.
    blocks : ndarray of int of shape (n_rows,), optional
        Rows with the same number depend on each other: their residuals get the same signs.
    seed : int or sequence of int, default=0
        Of the random signs.

    Returns
    -------
    Verdict

    References
    ----------
    Liu (1988), "Bootstrap procedures under some non-i.i.d. models": random signs of residuals;
    Hong, Sheng, Dobriban (2020), "Selecting the number of components in PCA via random signflips";
    Besag, Clifford (1991), "Sequential Monte Carlo p-values": the early end where many tables go
    together as much.
    """
    table = _table(X, blocks)
    n_units, n_columns = len(np.unique(table.blocks)), table.X.shape[1]
    unit = "row" if blocks is None else "block"
    nonnegative = bool((table.X >= 0).all())
    known = n_units, n_columns, nonnegative, _dispersion(table)
    given = X.shape[0] if blocks is None else len(np.unique(blocks))
    if (lacking := _lacking(table, given, unit)) is not None:
        return Verdict(None, "", None, None, None, *known, lacking)
    # Of any unit: squares of squares must be numbers.
    table = table._replace(X=table.X / np.abs(table.X).max())
    rng = np.random.default_rng(seed)
    tried: list[_Trial] = []
    for name in (ON_THEIR_OWN, SIZES, ABOVE_A_LEVEL) if nonnegative else (ON_THEIR_OWN,):
        tried.append(_tried(table, name, rng))
        if tried[-1].p_value > UNSTRUCTURED:
            break
    # Of two with the same p-value the one that leaves less.
    best = max(tried, key=lambda each: (each.p_value, each.expected / max(each.correlation, TINY)))
    p = best.p_value
    structured = True if p <= STRUCTURED else False if p > UNSTRUCTURED else None
    told = best.explanation, p, best.correlation, best.expected
    return Verdict(structured, *told, *known, _sentence(structured, best))


def _table(X: Any, blocks: NDArray | None) -> _Table:
    """Return the rows and columns that tell something, as many as are judged at most."""
    rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    blocks = np.arange(rows.shape[0]) if blocks is None else np.asarray(blocks)
    n_most = max(MAX_ENTRIES // max(rows.shape[0], 1), MIN_COLUMNS)
    keep = np.flatnonzero(_column_sums(rows, lambda values: values != 0) >= MIN_NONZEROS)
    if len(keep) > n_most:
        totals, squares = (_column_sums(rows, of)[keep] for of in (np.positive, np.square))
        order = np.argsort(totals**2 / rows.shape[0] - squares, kind="stable")
        keep = np.sort(keep[order[:n_most]])
    found = dense(rows[:, keep]).astype(np.float64)
    seen = ~np.isnan(found)
    found[~seen] = 0
    # Rows without anything have no size; where entries may be negative a row may be all zeros.
    some = found.any(axis=1) if (found >= 0).all() else seen.any(axis=1)
    return _Table(found[some], seen[some], blocks[some])


def _column_sums(rows: Any, of: Callable[[NDArray], NDArray]) -> NDArray:
    """Return the sums over the observed entries of a function that is 0 at 0, in float64."""
    if sp.issparse(rows):
        values = np.nan_to_num(rows.data.astype(np.float64))
        return np.bincount(rows.indices, of(values), minlength=rows.shape[1])
    return of(np.nan_to_num(rows.astype(np.float64))).sum(axis=0)


def _explanation(table: _Table, name: str) -> tuple[_Explanation, NDArray]:
    """Return an explanation with its weights, and the table with missing entries filled by it."""
    X, n_rows = table.X, len(table.X)
    means = X.sum(axis=0) / np.maximum(table.seen.sum(axis=0), 1)
    filled = np.where(table.seen, X, means)
    if name == ON_THEIR_OWN:
        return _Explanation(np.ones(n_rows)), filled
    # By precise columns, so that one that varies wildly does not make the sizes. Below a level
    # the precise ones may tell least, so there sizes are the sums of rows.
    columns = means / np.maximum(filled.var(axis=0), MIN_VARIATION * means**2)
    columns = np.ones(X.shape[1]) if name == ABOVE_A_LEVEL else columns
    variances = means if name == ABOVE_A_LEVEL else None
    found = _Explanation(1 / np.maximum(filled @ columns, TINY), columns, variances)
    for _ in range(ROUNDS):
        left, *_ = found.fit(filled)
        filled = np.where(table.seen, X, filled - left)
        squares = np.where(table.seen, left, 0) ** 2
        variances = np.maximum(found.rows @ squares, TINY)
        uneven = (squares / variances).mean(axis=1)
        rows = 1 / _smooth_variances(uneven, filled @ columns)
        variances = np.maximum(variances, 1e-6 * variances.max())
        found = _Explanation(rows, columns, variances if name == ABOVE_A_LEVEL else None)
    return found, filled


def _smooth_variances(energies: NDArray, sizes: NDArray) -> NDArray:
    """Return variances of rows as a sum of a constant, their sizes, and the squares of these.

    Noise, Poisson counts and uneven counts have such variances. The energies of the rows are fitted
    in the Itakura-Saito divergence, the likelihood of variances, by multiplicative updates.
    """
    if not energies.any():
        return np.ones_like(sizes)
    sizes = sizes / max(sizes.mean(), TINY)
    powers = np.stack([np.ones_like(sizes), sizes, sizes**2])
    shares = np.full(3, energies.mean() / powers.mean(axis=1).sum())
    for _ in range(VARIANCE_STEPS):
        fitted = shares @ powers
        shares = shares * np.sqrt(powers @ (energies / fitted**2) / (powers @ (1 / fitted)))
    return shares @ powers


def _tried(table: _Table, name: str, rng: np.random.Generator) -> _Trial:
    """Return how well an explanation fits."""
    explanation, filled = _explanation(table, name)
    left, sizes, profile = explanation.fit(filled)
    left = np.where(table.seen, left, 0)
    values = filled - left
    # A fit takes up a part of each residual; a random table needs what there was before.
    noise = left / (1 - explanation.leverage(sizes, profile))
    scale = np.sqrt(explanation.rows)[:, None] * table.seen
    # Columns that are explained but for rounding correlate by that alone.
    rounding = ROUNDING * np.einsum("ij,ij->j", scale * values, scale * values) + TINY
    _, places = np.unique(table.blocks, return_inverse=True)
    alone = places.max() + 1 == len(places)

    def correlation(Y: NDArray) -> float:
        residuals = explanation.fit(Y)[0]
        residuals *= scale
        return _mean_squared_correlation(residuals, rounding)

    found, as_high = correlation(values + left), 0
    others: list[float] = []
    # Where so many go together as much, the p-value is above both bounds whatever the rest do.
    while len(others) < N_TABLES and as_high < UNSTRUCTURED * (N_TABLES + 1):
        signs = rng.integers(0, 2, (places.max() + 1, noise.shape[1]), dtype=np.int8) * 2 - 1
        drawn = noise * (signs if alone else signs[places])
        drawn += values
        others.append(correlation(drawn))
        as_high += others[-1] >= found * (1 - 1e-9)
    return _Trial((1 + as_high) / (1 + len(others)), name, found, float(np.mean(others)))


def _mean_squared_correlation(residuals: NDArray, rounding: NDArray) -> float:
    """Return the mean over pairs of columns, which are centred as the explanation has them."""
    energies = np.einsum("ij,ij->j", residuals, residuals)
    varies = energies > rounding
    # Of length one, columns need no more digits for a mean over pairs.
    Z = (residuals[:, varies] / np.sqrt(energies[varies])).astype(np.float32)
    n_rows, n_columns = Z.shape
    products = Z @ Z.T if n_rows < n_columns else Z.T @ Z
    # The squares of both products have the same sum; a column and itself have a correlation of 1.
    pairs = max(n_columns * (n_columns - 1), 1)
    return float(np.vdot(products, products) - n_columns) / pairs


def _dispersion(table: _Table) -> float | None:
    """Return Pearson's chi-squared of one profile at the sizes of the rows, by its freedom."""
    X = table.X
    if not X.size or not table.seen.all() or (X < 0).any() or (X % 1 != 0).any():
        return None
    expected = np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum()
    return float(((X - expected) ** 2 / expected).sum() / max((len(X) - 1) * (X.shape[1] - 1), 1))


def _lacking(table: _Table, given: int, unit: str) -> str | None:
    """Return why a table cannot be judged, and what is needed, if that is so."""
    n_columns, n_entries = table.X.shape[1], int(np.count_nonzero(table.X))
    needed = max(MIN_UNITS, math.ceil(given * MIN_ENTRIES / n_entries) if n_entries else 0)
    if given >= MIN_UNITS and n_columns < MIN_COLUMNS:
        what = (
            f"at least {MIN_COLUMNS} columns that are not zero in {MIN_NONZEROS} rows or more are "
            f"needed, got {n_columns}; give more rows or columns"
        )
    elif given < needed:
        what = f"at least {counted(needed, unit)} are needed, got {given}; give more"
    elif (share := table.seen.mean()) < MIN_OBSERVED:
        what = (
            f"at least {MIN_OBSERVED:.0%} of the entries must be observed, got {share:.0%}; leave "
            "out the rows and columns that lack most"
        )
    else:
        return None
    return f"Whether the data have structure cannot be judged: {what}."


def _sentence(structured: bool | None, best: _Trial) -> str:
    """Return a verdict in words."""
    measured = (
        "the mean squared correlation of what that leaves of the columns is "
        f"{best.correlation:.2g}, in random tables {best.expected:.2g} (p = {best.p_value:.2g})"
    )
    if structured:
        return f"The data show structure beyond {best.explanation}: {measured}."
    if structured is None:
        return (
            f"It is open whether the data have structure beyond {best.explanation}: {measured}; up "
            f"to p = {STRUCTURED:g} they have, above {UNSTRUCTURED:g} they have not. More rows "
            "would tell."
        )
    return f"The data show no structure beyond {best.explanation}: {measured}."
