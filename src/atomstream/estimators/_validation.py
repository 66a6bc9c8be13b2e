"""Checks of data and settings at the border of the estimators."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from atomstream.base import ArrayLike, Matrix, checked_matrix, dense, fixed_atoms, or_wider
from atomstream.estimators._calls import blamed_model
from atomstream.estimators._columns import in_columns, is_array
from atomstream.estimators._given import EntryWeights, checked_weights, relative_weights
from atomstream.exceptions import AtomstreamWarning, DataWarning, ScheduleWarning
from atomstream.loop import MAX_ROUNDS, leaves_nothing
from atomstream.losses import Loss
from atomstream.problem import Batch, Objective
from atomstream.schedules import Constant, Schedule, check_conditions


class NotConvergedWarning(AtomstreamWarning, ConvergenceWarning):
    """Warning: an iteration ended before it reached the requested accuracy.

    A kind of scikit-learn's ``ConvergenceWarning``.
    """


# The largest entry of data whose models are as accurate as those of the same data near 1, by the
# type of the data: for the squared loss, and for other losses.
ACCURATE = {
    np.dtype(np.float64): ((1e-40, 1e120), (1e-40, 1e140)),
    np.dtype(np.float32): ((1e-20, 1e16), (1e-7, 1e16)),
}
# Of a row's mean: what entries are raised to where the loss is infinite at zeros.
FLOOR_SHARE = 1e-8
MIN_MEAN = {np.dtype(np.float64): 1e-40, np.dtype(np.float32): 1e-30}  # of a row that is not empty
MAX_NEGATIVE = 0.1  # of the energy: what noise leaves below zero is less
LENGTHS = 1e-150, 1e150  # of the largest entry of an atom, so that squares are numbers


def check_X(model: BaseEstimator, X: Any, *, reset: bool) -> Any:  # noqa: N802 - as the argument
    """Return data as float32 or float64, dense or CSR, in the features the model knows.

    Finite, but for NaN where the model takes missing entries.

    Raises
    ------
    ValueError
        One sentence that names what came and what was needed.
    """
    if reset or not _is_plain(model, X):
        X = in_columns(model, X, reset=reset)
    said = blamed_model(model)
    name = type(said).__name__
    # Two reductions find NaN, infinity and the sign in passes without a copy.
    values = X if isinstance(X, np.ndarray) else X.data
    # With 0 among them; NaN wins unless it stands for a missing entry.
    low_of, high_of = (np.fmin, np.fmax) if model.missing else (np.minimum, np.maximum)
    low = float(low_of.reduce(values, axis=None, initial=0))
    high = float(high_of.reduce(values, axis=None, initial=0))
    if not (np.isfinite(low) and np.isfinite(high)):
        holes = np.isnan(values).any() and not model.missing
        place = model._place(*first_place(X, np.isnan(values) if holes else np.isinf(values)))
        offer = (
            ", or say missing=True" if holes and "missing" in said.get_params(deep=False) else ""
        )
        raise ValueError(
            f"Input X contains {'NaN' if holes else 'infinity'} (first in {place}, counted from "
            f"0); {name} needs finite values: drop or fill such entries{offer}."
        )
    if reset and model.missing and sp.issparse(X) and not np.isnan(values).any():
        warnings.warn(
            "X is sparse and holds no NaN: zeros count as observed, so that nothing is missing. "
            "If zeros stand for entries that were not observed, give mask=X != 0; zeros that are "
            "stored then count as unseen, too.",
            DataWarning,
            stacklevel=6,  # the caller of fit or partial_fit
        )
    if low < 0 and model.__sklearn_tags__().input_tags.positive_only:
        advice = f"; {said.SIGNED}" if hasattr(said, "SIGNED") else ""
        place = model._place(*first_place(X, values == low))
        raise ValueError(
            f"Negative values in data passed to {name}: the minimum is {low:.4g} (first in "
            f"{place}, counted from 0), needed is 0 or more{advice}."
        )
    known = None if reset else model._learner.dtype
    return X if known is None or X.dtype == known else X.astype(known)


def _is_plain(model: BaseEstimator, X: Any) -> bool:
    """Return whether data are an array that scikit-learn's checks would return as it is."""
    return is_array(model, X) and "feature_names_in_" not in vars(model)


def observe(X: Any, weights: NDArray | None = None, *, missing: bool, **known: Any) -> Batch:
    """Return checked data as a batch, with a mask where entries are missing or have weights.

    Sparse rows with missing entries become dense: a mask says of every entry whether it was
    observed. Weights of the shape of the data are weights of entries.
    """
    if weights is not None and weights.ndim == 2:
        X, tops, shares = relative_weights(X, weights)
        return Batch(X, tops, mask=shares, **known)
    if not missing or not np.isnan(X.data if sp.issparse(X) else X).any():
        return Batch(X, weights, **known)
    X = dense(X)
    return Batch(X, weights, mask=~np.isnan(X), **known)


def check_observed(X: Any, weights: NDArray | None, *, missing: bool) -> float:
    """Return the mass of all rows that have an observed entry, refusing none."""
    if weights is not None and not weights.any():
        name = "sample_weight" if weights.ndim == 1 else "entry_weight"
        raise ValueError(f"{name} is zero everywhere; at least one sample needs a positive weight.")
    if weights is not None and weights.ndim == 2:
        weights = relative_weights(X, weights)[1]
    if missing:
        holes = np.isnan(X.data if sp.issparse(X) else X)
        if sp.issparse(X):
            holes = sp.csr_array((holes.astype(np.int64), X.indices, X.indptr), X.shape)
        # Zeros that are not stored were observed.
        seen = np.asarray(holes.sum(axis=1)).ravel() < X.shape[1]
        weights = seen.astype(float) if weights is None else weights * seen
    mass = float(X.shape[0]) if weights is None else float(weights.sum())
    if not mass > 0:
        raise ValueError(
            "X has no row with a positive weight and an observed entry; at least one sample must "
            "count."
        )
    return mass


def first_place(X: Any, bad: NDArray) -> tuple[int, int]:
    """Return row and column of the first of the bad entries; of a sparse X, of its data."""
    first = int(np.flatnonzero(bad)[0])
    if sp.issparse(X):
        # The last row that begins at or before the entry; empty rows before it begin there too.
        return int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])
    row, column = divmod(first, X.shape[1])
    return row, column


def check_weights(sample_weight: ArrayLike | EntryWeights | None, X: Matrix) -> NDArray | None:
    """Return sample weights as float64, or None where all are one.

    Weights of entries, checked, are of the shape of the data.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, EntryWeights):
        return sample_weight.checked(X.shape)
    n_samples = X.shape[0]
    weights = checked_weights("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must be of shape ({n_samples},), one per row of X, got {weights.shape}."
        )
    return weights


def check_settings(model: BaseEstimator) -> None:
    """Refuse parameters of a dictionary estimator that are out of range or do not fit together."""
    model._validate_params()
    fixed = fixed_atoms(model.fixed_components, model.n_components)
    if fixed and (model.init is None or isinstance(model.init, str)):
        raise ValueError(
            f"fixed_components={model.fixed_components} needs init to be an array whose rows "
            f"stay, got init={model.init!r}."
        )


def check_size(model: BaseEstimator, n_atoms: int) -> None:
    """Refuse a number of components that is not that of the dictionary at hand."""
    if model.n_components != n_atoms:
        raise ValueError(
            f"n_components is {model.n_components} and the dictionary has {n_atoms} atoms; "
            "call fit to start over with another number."
        )


def check_start(components: object, shape: tuple[int, int] | None = None) -> NDArray:
    """Return given atoms as a float array of the shape that is needed."""
    atoms = check_matrix(components)
    if shape is not None and atoms.shape != shape:
        raise ValueError(
            f"init must be of shape (n_components, n_features) = {shape}, got {atoms.shape}."
        )
    check_lengths("components" if shape is None else "init", np.abs(atoms).max(axis=1))
    return atoms


def check_matrix(components: object) -> NDArray:
    """Return given atoms or loadings as a finite float array with two axes."""
    return check_array(
        checked_matrix(components, "components"),
        dtype=[np.float64, np.float32],
        input_name="components",
    )


def check_lengths(name: str, largest: NDArray) -> None:
    """Refuse atoms whose products are not finite, or 0, by the largest entry of each."""
    low, high = LENGTHS
    largest = largest.astype(np.float64)
    # An atom of zeros is allowed: nothing uses it, and it is replaced in time.
    bad = np.flatnonzero((largest > high) | ((largest > 0) & (largest < low)))
    if len(bad):
        raise ValueError(
            f"{name} has an atom whose largest entry is {largest[bad[0]]:.2g} (atom {bad[0]}, "
            f"counted from 0), needed is one from {low:.0e} to {high:.0e}, or 0; rescale the atom."
        )


def cut(
    X: Matrix,
    known: dict[str, NDArray | None],
    size: int,
    n_epochs: int,
    rng: np.random.Generator | None,
    make: Callable[..., Batch],
) -> Iterator[Batch]:
    """Yield batches of ``size`` rows, ``n_epochs`` times over.

    With ``rng`` each pass has an order drawn anew. ``make`` makes a batch from rows and from what
    is known of each of them.
    """
    n_samples = X.shape[0]
    for epoch in range(n_epochs):
        # A single batch has no order that matters.
        order = None if rng is None or n_samples <= size else rng.permutation(n_samples)
        for start in range(0, n_samples, size):
            rows: Any = slice(start, start + size) if order is None else order[start : start + size]
            kept = {name: None if part is None else part[rows] for name, part in known.items()}
            # `take` gathers rows in half the time of an index.
            some = X[rows] if order is None or type(X) is not np.ndarray else X.take(rows, axis=0)
            yield make(some, **kept, position=epoch * n_samples + start)


def in_scale(batches: Iterator[Batch], objective: Objective, signed: str = "") -> Iterator[Batch]:
    """Yield the first batches of a run, looking at the size and the sign of their entries.

    Raises
    ------
    ValueError
        Where sums of squares are not finite.

    Warns
    -----
    DataWarning
        Where numbers are so small or large that accuracy is lost; and where much of the energy is
        of negative entries, and neither codes nor atoms are: ``signed`` says what would fit these.
    """
    loss, bounds = objective.loss, objective.codes.shape
    for batch in batches:
        values, dtype = batch.X.data if sp.issparse(batch.X) else batch.X, batch.X.dtype
        if signed and objective.codes.nonnegative and objective.atoms.nonnegative:
            _warn_of_negative_energy(values, signed)
        largest = float(max(values.max(initial=0), -values.min(initial=0)))
        most = float(np.finfo(dtype).max)
        # Squares are summed under the squared loss; others are of the first degree, more or less.
        if largest > (most**0.5 if loss.quadratic else most / 1e4):
            raise ValueError(
                f"X has entries of {largest:.2g}, whose sums are not finite in {dtype}; rescale "
                f"the data{or_wider(dtype)}."
            )
        low, high = ACCURATE[np.dtype(dtype)][0 if loss.quadratic else 1]
        if bounds is not None and bounds.low > 0:
            low, high = max(low, 1e3 * bounds.low), min(high, 0.1 * bounds.high)
        if loss.data == "positive" and largest == values.dtype.type(FLOOR_SHARE):
            warnings.warn(
                f"No row of X has a mean above {MIN_MEAN[dtype]:.0e}, so that all count as rows of "
                f"zeros under {loss!r}; multiply the data by a constant.",
                DataWarning,
                stacklevel=6,
            )
        elif 0 < largest < low or largest > high:
            warnings.warn(
                f"The largest entry of X is {largest:.2g}; outside of {low:.0e} to {high:.0e} "
                "accuracy is lost, so divide the data by a constant.",
                DataWarning,
                stacklevel=6,  # the caller of fit, fit_stream or partial_fit
            )
        yield batch


def _warn_of_negative_energy(values: NDArray, signed: str) -> None:
    """Warn where negative entries are more than noise."""
    if not values.min(initial=0) < 0:
        return
    # In units of the largest entry, so that squares are numbers.
    values = values / np.abs(values).max()
    share = float((np.minimum(values, 0) ** 2).sum() / (values**2).sum())
    if share > MAX_NEGATIVE:
        warnings.warn(
            f"Negative entries have {share:.0%} of the energy of X, which no nonnegative factors "
            f"fit; for data of both signs {signed}.",
            DataWarning,
            stacklevel=7,  # the caller of fit, fit_stream or partial_fit
        )


def warn_of_no_majoriser(loss: Loss) -> None:
    """Warn that ``fit`` ends before the minimum, for a loss that nothing better learns with."""
    if loss.quadratic or loss.exponents or loss.trims:
        return
    warnings.warn(
        f"{type(loss).__name__} has no majoriser, so fit makes ten passes of projected subgradient "
        "steps, which may end far above the minimum; give the loss exponents and split "
        "(docs/how-to/extend.md), or choose n_epochs.",
        NotConvergedWarning,
        stacklevel=7,  # the caller of fit
    )


def warn_of_schedule(name: object, schedule: Schedule) -> None:
    """Warn where a schedule breaks condition (A3), saying which part of it.

    Only schedules that know their decay are judged: a function of the user's may remember its
    calls, so it is never called for anything but a step. A weight of 1 keeps nothing of the past:
    there no average is meant to converge, and nothing is said.
    """
    if getattr(schedule, "decay", None) is None or schedule == Constant(weight=1.0):
        return
    broken = check_conditions(schedule).broken
    if broken:
        warnings.warn(
            f"schedule={name!r} breaks condition (A3) of the convergence theorems: "
            f"{' and '.join(broken)}. Atoms need not converge, which is right for a stream that "
            "drifts; 'power' and 'harmonic' keep the condition.",
            ScheduleWarning,
            stacklevel=6,  # the caller of fit, fit_stream or partial_fit
        )


def warn_if_unsettled(n_rounds: int | None, run: Any, blocks: list[Batch]) -> None:
    """Warn where as many rounds over all rows were made as there may be, and something is left."""
    loss = run.algorithm.objective.loss
    if n_rounds == MAX_ROUNDS and not leaves_nothing(blocks, loss, run.batch_objective):
        warnings.warn(
            f"fit ended after {MAX_ROUNDS} rounds over all rows, and the last still gained; go on "
            "from these atoms with init=model.components_.",
            NotConvergedWarning,
            stacklevel=5,
        )
