"""Scales of columns: learned along the stream, kept with the model, undone in reconstructions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import ArrayLike, dense
from atomstream.base.saved_fields import array, one_of

SCALES = ("none", "std", "max", "log1p", "tfidf", "zscore")
DEVIATIONS = ("std", "zscore")  # kinds that divide by standard deviations
ROWS_OF_ZSCORE = 1000  # from which offset and scale are learned; later ones change neither
MIN_ROWS, MIN_COLUMNS = 20, 3  # on which it makes sense to ask for a dominant column
ENOUGH_ROWS = 2000  # of many, to look for it
SQUARED_AT_ONCE = 2**18  # numbers that are squared at a time
MAX_ENERGY_SHARE = 0.5  # share of the energy that one column may have


class _Sums(NamedTuple):
    """Figures of the observed entries of each column, float64, each of shape (n_features,).

    Attributes
    ----------
    mass : ndarray
        Sum of the weights of their rows.
    mean : ndarray
        Their mean ("std"), or the mean of their squares.
    spread : ndarray
        The sum of squared deviations from the mean ("std"), the largest absolute value ("max"), or
        the mass of the entries that are not zero ("tfidf").
    """

    mass: NDArray
    mean: NDArray
    spread: NDArray


@dataclass(frozen=True, eq=False)
class Scaling:
    r"""The scale of every column of the data; a value, which `learned` leaves as it is.

    Columns are divided by their standard deviation ("std", which does not centre: zeros stay
    zeros), by their largest absolute value ("max"), or multiplied by the inverse document
    frequency :math:`\log\frac{1 + n}{1 + n_j} + 1` ("tfidf"; n_j of n rows have an entry in column
    j). Columns for which that means nothing, all zero or constant, keep their units. "log1p"
    takes log(1 + x) and learns nothing. "zscore" subtracts the mean of a column, and divides by its
    standard deviation; both are those of the first 1,000 rows. Missing entries do not count.

    Parameters
    ----------
    kind : {"none", "std", "max", "log1p", "tfidf", "zscore"}, default="none"

    Attributes
    ----------
    mass, mean, spread : ndarray of shape (n_features,)
        What is known of the columns; empty before anything was learned.
    """

    SAVED: ClassVar = (
        *(one_of("kind", SCALES), array("mass", "n", np.float64, at_least=0, finite=True)),
        array("mean", "n", np.float64, finite=True),
        array("spread", "n", np.float64, at_least=0, finite=True),
    )

    kind: str = "none"
    mass: NDArray = field(default_factory=lambda: np.empty(0), repr=False)
    mean: NDArray = field(default_factory=lambda: np.empty(0), repr=False)
    spread: NDArray = field(default_factory=lambda: np.empty(0), repr=False)

    @classmethod
    def of(cls, offset: ArrayLike, scale: ArrayLike) -> Self:
        """Return the scale that subtracts and divides by given numbers, which no rows change.

        Parameters
        ----------
        offset, scale : array-like of shape (n_features,)
            What is subtracted from each column, and what it is divided by then, above 0.

        Examples
        --------
        >>> from atomstream.loop import Scaling
        >>> Scaling.of([1.0, 2.0], [2.0, 4.0]).apply(np.array([[3.0, 2.0]])).tolist()
        [[1.0, 0.0]]
        """
        mean, size = (np.array(given, np.float64) for given in (offset, scale))
        good = mean.ndim == 1 and mean.shape == size.shape and np.isfinite([mean, size]).all()
        if not good or not (size > 0).all():
            raise ValueError(
                "offset and scale must be finite numbers, one of each per feature, and scale above "
                f"0, got shapes {mean.shape} and {size.shape}."
            )
        mass = np.full(len(mean), float(ROWS_OF_ZSCORE))
        return cls("zscore", mass, mean, size**2 * mass)

    def check_saved(self, d: int, **sizes: int) -> None:
        """Refuse figures of other columns: only some kinds have a number for each."""
        if len(self.mass) != (d if self.linear else 0):
            raise ValueError(f"a scale of {len(self.mass)} columns where there are {d}")

    @property
    def linear(self) -> bool:
        """Whether it is a number for each column, learned from the data."""
        return self.kind in MEASURES

    @property
    def centres(self) -> bool:
        """Whether columns lose their means."""
        return self.kind == "zscore"

    @property
    def moves_offset(self) -> bool:
        """Whether further rows would move the means of the columns."""
        return self.centres and self.mass.max(initial=0) < ROWS_OF_ZSCORE

    @property
    def offset(self) -> Any:
        """What is subtracted from each column, (n_features,); 0 where nothing is."""
        return self.mean if self.centres and len(self.mass) else 0.0

    @property
    def divisor(self) -> Any:
        """The number that each column is divided by, (n_features,); 1 where there is none."""
        if not len(self.mass):
            return 1.0
        if self.kind == "tfidf":
            # The ones keep it finite; a column that every row has is left as it is.
            return 1 / (np.log((1 + self.mass) / (1 + self.spread)) + 1)
        size = self.spread
        if self.kind in DEVIATIONS:
            # Of a column that was never observed mass and spread are 0, and so is the deviation.
            size = np.sqrt(size / np.maximum(self.mass, np.finfo(float).tiny))
            # What rounding leaves of a constant column is no deviation.
            size = np.where(size > 1e-14 * np.abs(self.mean), size, 0)
        return np.where(size > 0, size, 1.0)

    @property
    def energy(self) -> NDArray:
        """Mean square of each column in units of the scale, (n_features,)."""
        squares = self.mean
        if self.kind in DEVIATIONS:
            squares = self.spread / np.maximum(self.mass, np.finfo(float).tiny)
        if self.kind == "std":
            squares = self.mean**2 + squares  # E x^2 = (E x)^2 + Var x
        return squares / self.divisor**2

    def learned(self, X: Any, weights: NDArray | None, *, settled: bool = False) -> Self:
        """Return the scale that knows these rows too.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples,), or None
        settled : bool, default=False
            Keep the scale of every column that has one.

        Raises
        ------
        ValueError
            For entries whose sums are not finite.
        """
        if not self.linear or (self.centres and not self.moves_offset):
            return self
        # Sums that overflow are answered in words below.
        with np.errstate(over="ignore", invalid="ignore"):
            new = MEASURES[self.kind](*_columns(X, weights))
        if not all(np.isfinite(part).all() for part in new):
            raise ValueError(
                f"X has entries whose sums are not finite, which scale={self.kind!r} needs; divide "
                "the data by a constant."
            )
        if len(self.mass):
            old = _Sums(self.mass, self.mean, self.spread)
            merged = _merged(old, new, self.kind)
            # A column of zeros so far has no scale yet, so nothing was learned in its units.
            known = (old.spread > 0) & settled
            new = _Sums(*(np.where(known, a, b) for a, b in zip(old, merged, strict=True)))
        return type(self)(self.kind, *new)

    def apply(self, X: Any) -> Any:
        """Return rows in units of the scale; sparse ones stay sparse unless columns are centred.

        Raises
        ------
        ValueError
            For values of -1 or less under "log1p".
        """
        if self.kind == "log1p":
            low = float(np.nanmin(X.data if sp.issparse(X) else X, initial=0.0))
            if low <= -1:
                raise ValueError(
                    f"scale='log1p' takes the logarithm of 1 + x and needs values above -1, got a "
                    f"minimum of {low:.4g}."
                )
            return X.log1p() if sp.issparse(X) else np.log1p(X)
        if not len(self.mass):
            return X
        divisor = self.divisor.astype(X.dtype)
        if self.centres:
            # In float64: the difference of large numbers is what counts.
            return ((dense(X) - self.offset) / self.divisor).astype(X.dtype)
        if not sp.issparse(X):
            return X / divisor
        return sp.csr_array((X.data / divisor[X.indices], X.indices, X.indptr), X.shape)

    def undo(self, X: NDArray) -> NDArray:
        """Return rows in the units of the data again."""
        if self.kind == "log1p":
            return np.expm1(X)
        if self.centres and len(self.mass):
            return (X * self.divisor + self.offset).astype(X.dtype)
        return self.undo_atoms(X)

    def undo_atoms(self, atoms: NDArray) -> NDArray:
        """Return atoms, to which no offset belongs, in the units of the data."""
        return atoms if not len(self.mass) else atoms * self.divisor.astype(atoms.dtype)


def scaling_of(model: Any) -> Scaling:
    """Return the scaling of a fitted model; one that changes nothing where it has none."""
    return getattr(model, "scaling_", None) or Scaling()


def dominant(X: Any, weights: NDArray | None = None) -> tuple[int, float] | None:
    """Return the column that has more than half of the energy of rows, and its share.

    None where no column has it, and for fewer than 3 columns or 20 rows. Of many rows some 2,000,
    evenly spread, are looked at.
    """
    if X.shape[0] < MIN_ROWS or X.shape[1] < MIN_COLUMNS:
        return None
    some = slice(None, None, 1 + X.shape[0] // ENOUGH_ROWS)
    X, weights = X[some], None if weights is None else weights[some]
    size = X.shape[0] if sp.issparse(X) else max(SQUARED_AT_ONCE // X.shape[1], 1)
    # In float64: squares of large float32 entries overflow.
    energy = np.zeros(X.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, X.shape[0], size):
            rows = slice(start, start + size)
            part = _columns(X[rows], None if weights is None else weights[rows])
            values, columns, row_weights, _ = part
            energy += _total(values.astype(np.float64) ** 2, columns, row_weights, X.shape[1])
        total = energy.sum()
    top = int(energy.argmax())
    if not (np.isfinite(total) and energy[top] > MAX_ENERGY_SHARE * total):
        return None
    return top, float(energy[top] / total)


def dominance(
    X: Any, names: Sequence[Any] | None, remedy: str, weights: NDArray | None = None
) -> str | None:
    """Return a sentence on the column that has most of the energy; None where none has.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    names : sequence, or None
        Names of the columns; without them they are numbered from 0.
    remedy : str
        What to say against it, such as "scale='std'".
    weights : ndarray of shape (n_samples,), optional
    """
    found = dominant(X, weights)
    if found is None:
        return None
    column = repr(str(names[found[0]])) if names is not None else f"{found[0]} (counted from 0)"
    return (
        f"Column {column} has {100 * found[1]:.0f} % of the energy of all columns, so that atoms "
        f"describe little else; say {remedy} to let all columns count alike."
    )


# -- figures of the columns: of observed entries as flat values, with column and weight of each


def _columns(X: Any, weights: NDArray | None) -> tuple[NDArray, Any, Any, NDArray]:
    """Return stored values, their columns and weights, and the observed mass of each column.

    Of dense rows the values are a matrix, and their columns None.
    """
    n_rows, n_features = X.shape
    total = float(n_rows) if weights is None else float(weights.sum())
    mass = np.full(n_features, total)
    values, columns, each = X, None, 1.0 if weights is None else weights[:, None]
    if sp.issparse(X):
        values, columns = X.data, X.indices
        each = 1.0 if weights is None else np.repeat(weights, np.diff(X.indptr))
    holes = np.isnan(values)
    if holes.any():
        mass = mass - _total(holes.astype(np.float64), columns, each, n_features)
    return np.where(holes, 0, values), columns, np.where(holes, 0.0, each), mass


def _total(values: NDArray, columns: Any, weights: Any, n_features: int) -> NDArray:
    """Return the weighted sum of values in each column, in float64."""
    weighted = values if weights is None else values * weights
    if columns is None:
        return np.asarray(weighted.sum(axis=0, dtype=np.float64))
    # Of no entries at all the sums would be whole numbers.
    return np.bincount(columns, weighted, n_features).astype(np.float64, copy=False)


def _std(values: NDArray, columns: Any, weights: Any, mass: NDArray) -> _Sums:
    n, some = len(mass), np.where(mass > 0, mass, 1.0)
    values = values.astype(np.float64)
    # The mean first: a difference of squares loses all digits where the mean is large.
    mean = _total(values, columns, weights, n) / some
    around = mean if columns is None else mean[columns]
    spread = _total((values - around) ** 2, columns, weights, n)
    if columns is not None:  # entries that are not stored are zeros
        stored = _total(np.ones(len(values)), columns, weights, n)
        spread += np.maximum(mass - stored, 0) * mean**2
    return _Sums(mass, mean, spread)


def _max(values: NDArray, columns: Any, weights: Any, mass: NDArray) -> _Sums:
    # A maximum knows no weights: rows of weight 0 are left out.
    sizes = np.where(weights > 0, np.abs(values), 0).astype(np.float64)
    if columns is None:
        most = sizes.max(axis=0, initial=0.0)
    else:
        most = np.zeros(len(mass))
        np.maximum.at(most, columns, sizes)
    return _Sums(mass, _squares(values, columns, weights, mass), most)


def _tfidf(values: NDArray, columns: Any, weights: Any, mass: NDArray) -> _Sums:
    there = (values != 0).astype(np.float64)
    spread = _total(there, columns, weights, len(mass))
    return _Sums(mass, _squares(values, columns, weights, mass), spread)


def _squares(values: NDArray, columns: Any, weights: Any, mass: NDArray) -> NDArray:
    """Return the mean square of each column."""
    total = _total(values.astype(np.float64) ** 2, columns, weights, len(mass))
    return total / np.where(mass > 0, mass, 1.0)


MEASURES: dict[str, Callable[..., _Sums]] = {
    **{"std": _std, "max": _max, "tfidf": _tfidf, "zscore": _std},
}


def _merged(old: _Sums, new: _Sums, kind: str) -> _Sums:
    """Return the figures of both together.

    References
    ----------
    Chan, Golub, LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician, eq. (2.1).
    """
    mass = old.mass + new.mass
    share = new.mass / np.where(mass > 0, mass, 1.0)
    apart = new.mean - old.mean
    spread = np.maximum(old.spread, new.spread) if kind == "max" else old.spread + new.spread
    if kind in DEVIATIONS:
        # Two means that differ are a deviation too.
        spread += apart**2 * old.mass * share
    return _Sums(mass, old.mean + apart * share, spread)
