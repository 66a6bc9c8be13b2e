"""The columns of data by name: those that a model has learned from, in the order it knows."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_n_features, check_array, validate_data

from atomstream.base import (
    NAMES,
    NamedColumns,
    are_texts,
    checked_array,
    checked_numbers,
    in_order,
    known_names,
    names_of,
    order_for,
    order_of,
)
from atomstream.estimators._calls import blamed_model
from atomstream.estimators._given import as_table, is_labelled, like
from atomstream.streams.on_disk import OnDisk

FLOATS = frozenset({np.dtype(np.float64), np.dtype(np.float32)})


def learn_names(model: Any, X: Any) -> None:
    """Note the names of the columns that a model begins to learn from.

    Texts are ``feature_names_in_``, as scikit-learn has it; other labels, such as wavelengths and
    dates, are not.
    """
    for name in NAMES:
        vars(model).pop(name, None)
    names = names_of(X)
    if names is None:
        return
    if are_texts(names):
        model.feature_names_in_ = np.array(names, dtype=object)
    elif all(isinstance(name, int | float) for name in names):
        model._column_labels = np.array(names)
    elif all(isinstance(name, tuple) for name in names):
        model._column_labels = np.array([label for (label,) in names], dtype=object)


def as_sample(x: Any) -> Any:
    """Return one sample as rows; a series of pandas names its entries as a frame its columns."""
    if sp.issparse(x) or hasattr(x, "columns"):
        return x
    if isinstance(x, OnDisk):
        return x[:1]
    return x.to_frame().T if hasattr(x, "iloc") else checked_array(x, "x").reshape(1, -1)


def note_names(model: Any, attribute: str, table: Any) -> None:
    """Note the names of the columns of a table beside the data; None where they have none."""
    names = names_of(as_table(table))
    texts = np.array(names, dtype=object) if names is not None and are_texts(names) else None
    setattr(model, attribute, texts)


def in_noted_order(model: Any, attribute: str, table: Any, name: str) -> Any:
    """Return a table beside the data with its columns in the order that was noted."""
    table, known = as_table(table), vars(model).get(attribute)
    wanted, differs = (
        None if known is None else known.tolist(),
        "has other columns than were learned",
    )
    return in_order(table, order_of(names_of(table), wanted, name, differs))


def beside(X: Any, given: Any, name: str) -> Any:
    """Return what is given for every entry of X, such as a mask, in the order of its columns."""
    given = as_table(given)
    differs = "has other names of columns than X"
    return in_order(given, order_of(names_of(given), names_of(as_table(X)), name, differs))


def in_axes(model: Any, X: Any) -> Any:
    """Return data; labelled arrays and triples in the axes that a model has learned."""
    if isinstance(X, OnDisk) and (names := known_names(model)) is not None:
        return X.with_columns(names)
    axes = vars(model).get("axes_")
    return X if axes is None or not is_labelled(X) else axes.in_place(X)


def as_given(model: Any, X: Any, values: Any) -> Any:
    """Return rows that a model has made of X as an array in the order of the columns of X."""
    order = order_for(model, as_table(X))
    # Frames and labelled arrays say by themselves which column is which.
    return (
        values[:, np.argsort(order)] if order is not None and type(values) is np.ndarray else values
    )


def like_given(model: Any, X: Any, values: NDArray) -> Any:
    """Return rows that a model has made of X in the container of X, each column by its name."""
    X = in_axes(model, X)  # labels say by themselves what stands where
    return like(X, as_given(model, X, values))


def in_columns(model: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Return numbers in the columns that the model knows, which stand where their names say."""
    how: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
    how["ensure_all_finite"] = False
    settled = isinstance(X, NamedColumns)
    if not settled:
        X = checked_numbers(X)
        _check_two_axes(model, X)
        # Arrays that are read late show their masks when they are read.
        X = X if hasattr(X, "columns") or sp.issparse(X) else checked_array(X)
        _check_once(names_of(X) or [])
        settled = not reset and are_texts(names_of(X)) and are_texts(known_names(model))
    given = X
    X = X if reset else in_order(X, order_for(model, X))
    rows = X.X if isinstance(X, NamedColumns) else X
    if settled and not reset and is_array(model, rows):
        return rows
    try:
        if settled:  # names were looked at, and scikit-learn may not see them
            rows = check_array(checked_numbers(rows), estimator=model, input_name="X", **how)
            _check_n_features(model, rows, reset=reset)
        else:
            rows = validate_data(model, rows, reset=reset, **how)
    except ValueError as error:
        raise _naming_column(given, error) from None
    if reset:
        learn_names(model, given)
    return rows


def _check_once(names: list[Any]) -> None:
    """Refuse names that come twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns {twice!r}; give every column a name of its own.")


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


def is_array(model: BaseEstimator, X: Any) -> bool:
    """Return whether data are an array of floats in as many columns as the model knows."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.shape[0] > 0
        and X.shape[1] == model.n_features_in_
    )
