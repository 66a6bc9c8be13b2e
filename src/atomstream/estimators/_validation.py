"""Checks of data and settings at the border of the estimators."""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, validate_data

from atomstream.base import Matrix, checked_numbers, dense, fixed_atoms, or_wider
from atomstream.estimators._calls import blamed_model
from atomstream.estimators._given import EntryWeights, checked_weights, relative_weights
from atomstream.exceptions import AtomstreamWarning, DataWarning, ScheduleWarning
from atomstream.loop import MAX_ROUNDS, leaves_nothing
from atomstream.losses import Loss, Mahalanobis
from atomstream.problem import Batch, Objective
from atomstream.schedules import Constant, Schedule, check_conditions


class NotConvergedWarning(AtomstreamWarning, ConvergenceWarning):
    """Warning: an iteration ended before it reached the requested accuracy.

    A kind of scikit-learn's ``ConvergenceWarning``.
    """


FLOATS = frozenset({np.dtype(np.float64), np.dtype(np.float32)})
# The largest entry of data whose models are as accurate as those of the same data near 1, by the
# type of the data: for the squared loss, and for other losses.
ACCURATE = {
    np.dtype(np.float64): ((1e-40, 1e120), (1e-40, 1e140)),
    np.dtype(np.float32): ((1e-20, 1e16), (1e-7, 1e16)),
}
LENGTHS = 1e-150, 1e150  # of the largest entry of an atom, so that squares are numbers
ZERO = 1e-8  # of a row's mean: what zeros are raised to where the loss is infinite there


def check_X(model: BaseEstimator, X: Any, *, reset: bool) -> Any:  # noqa: N802 - as the argument
    """Return data as float32 or float64, dense or CSR, in the features the model knows.

    Finite, but for NaN where the model takes missing entries.

    Raises
    ------
    ValueError
        One sentence that names what came and what was needed.
    """
    if reset or not _is_plain(model, X):
        X = checked_numbers(X)
        _check_two_axes(model, X)
        how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        try:
            X = validate_data(model, X, reset=reset, ensure_all_finite=False, **how)
        except ValueError as error:
            raise _naming_column(X, error) from None
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
        row, _ = _first_place(X, np.isnan(values) if holes else np.isinf(values))
        offer = (
            ", or say missing=True" if holes and "missing" in said.get_params(deep=False) else ""
        )
        raise ValueError(
            f"Input X contains {'NaN' if holes else 'infinity'} (first in row {row}, counted "
            f"from 0); {name} needs finite values: drop or fill such entries{offer}."
        )
    if low < 0 and model.__sklearn_tags__().input_tags.positive_only:
        advice = f" or {said.SIGNED}" if hasattr(said, "SIGNED") else ""
        row, column = _first_place(X, values == low)
        raise ValueError(
            f"Negative values in data passed to {name}: the minimum is {low:.4g} (first in row "
            f"{row}, column {column}, counted from 0), needed is 0 or more; shift the data{advice}."
        )
    known = None if reset else model._learner.dtype
    return X if known is None or X.dtype == known else X.astype(known)


def _naming_column(X: Any, error: ValueError) -> ValueError:
    """Return an error with the name of the first column of a frame that holds no numbers."""
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name], float)
        except (ValueError, TypeError):
            return ValueError(f"Column {name!r} of X holds no numbers: {error}; leave it out.")
    return error


def _check_two_axes(model: BaseEstimator, X: Any) -> None:
    """Refuse an array of more than two axes, saying how to name those of the samples."""
    shape = tuple(X.shape)
    if len(shape) < 3:
        return
    first = tuple(range(len(shape) - 1))
    raise ValueError(
        f"X has shape {shape}, and {type(blamed_model(model)).__name__} needs rows: "
        f"streams.CubeRows(X, {first}) has {math.prod(shape[:-1]):,} rows of {shape[-1]:,} "
        f"features, and streams.CubeRows(X, 0) has {shape[0]:,} of {math.prod(shape[1:]):,}; "
        "sample_axes names the axes of the samples."
    )


def _is_plain(model: BaseEstimator, X: Any) -> bool:
    """Return whether data are an array that scikit-learn's checks would return as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.shape[0] > 0
        and X.shape[1] == model.n_features_in_
        and "feature_names_in_" not in vars(model)
    )


def in_domain(X: Any, loss: Any) -> Any:
    """Return rows that a loss takes: zeros are raised, or refused, where it is infinite at them.

    Zeros are raised to 1e-8 of the mean of their row, at least to the smallest normal number. Rows
    without anything else are raised to 1e-8.

    Raises
    ------
    ValueError
        For zeros where the loss says "refuse", and for another number of features than it has.
    """
    if isinstance(loss, Mahalanobis) and len(loss.A) != X.shape[1]:
        raise ValueError(f"Mahalanobis has a metric of {len(loss.A)} features, X has {X.shape[1]}.")
    if loss.data != "positive":
        return X
    X = dense(X)
    bare = X <= 0
    if not bare.any():
        return X
    if loss.zeros == "refuse":
        row, _ = _first_place(X, bare)
        raise ValueError(
            f"Input X contains zeros (first in row {row}, counted from 0), where {loss!r} is "
            "infinite; say loss__zeros='floor'."
        )
    # Means are over what was observed.
    known = np.where(np.isnan(X), 0, X)
    means = known.sum(axis=1, keepdims=True) / np.maximum(
        (~np.isnan(X)).sum(axis=1, keepdims=True), 1
    )
    raised = np.maximum(ZERO * np.where(means > 0, means, 1), np.finfo(X.dtype).tiny)
    return np.where(bare, raised, X).astype(X.dtype, copy=False)


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


def _first_place(X: Any, bad: NDArray) -> tuple[int, int]:
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


def row_ids(data: Any, n_rows: int, position: int = 0, ids: ArrayLike | None = None) -> NDArray:
    """Return the names of rows: ``ids``, the index of a frame, or their numbers in the stream."""
    if ids is not None:
        names = np.asarray(ids)
        if names.shape != (n_rows,):
            raise ValueError(
                f"ids must be of shape ({n_rows},), one per row of X, got {names.shape}."
            )
        return names
    return (
        np.asarray(data.index) if hasattr(data, "iloc") else np.arange(position, position + n_rows)
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
        checked_numbers(components, "components"),
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


def in_scale(batches: Iterator[Batch], objective: Objective) -> Iterator[Batch]:
    """Yield the first batches of a run, looking at the size of their entries.

    Raises
    ------
    ValueError
        Where sums of squares are not finite.

    Warns
    -----
    DataWarning
        Where numbers are so small or large that accuracy is lost.
    """
    loss, bounds = objective.loss, objective.codes.shape
    for batch in batches:
        values, dtype = batch.X.data if sp.issparse(batch.X) else batch.X, batch.X.dtype
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
        if 0 < largest < low or largest > high:
            warnings.warn(
                f"The largest entry of X is {largest:.2g}; outside of {low:.0e} to {high:.0e} "
                "accuracy is lost, so divide the data by a constant.",
                DataWarning,
                stacklevel=6,  # the caller of fit, fit_stream or partial_fit
            )
        yield batch


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
