"""Labels as people give them, and as tables of one column an output, NaN where a row has none."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from atomstream.base import checked_numbers


def checked_labels(y: Any, n_rows: int) -> NDArray | None:
    """Return labels as an array with one for each row, or None for none at all."""
    if y is None:
        return None
    y = np.asarray(y)
    if y.ndim == 0 or len(y) != n_rows:
        raise ValueError(f"y must have a label for each of {n_rows} rows, got {y.shape}.")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("y must be finite, or NaN where a row has no label; it holds inf.")
    return y


def checked_covariates(given: Any, n_rows: int, n_needed: int | None) -> NDArray | None:
    """Return covariates as a table with as many columns as are needed, or None for none."""
    table = None
    if given is not None:
        table = np.asarray(checked_numbers(given, "covariates"), dtype=np.float64)
        if table.ndim != 2 or len(table) != n_rows or not np.isfinite(table).all():
            raise ValueError(
                f"covariates must be finite and of shape ({n_rows}, n_covariates), got "
                f"{table.shape}."
            )
    n_given = 0 if table is None else table.shape[1]
    if n_needed is not None and n_given != n_needed:
        raise ValueError(
            f"covariates must have the {n_needed} columns that the model has learned with, got "
            f"{n_given}."
        )
    return table


def told_rows(y: NDArray, named: Any) -> NDArray:
    """Return which rows have a class: not None, not NaN, nor -1 beside two other whole numbers."""
    told = ~np.array([label is None or label != label for label in y], bool)
    if y.dtype.kind != "i" or (named is not None and -1 in named):
        return told
    # Two numbers are two classes, -1 and 1 among them.
    return told & (y != -1) if named is not None or len(np.unique(y)) > 2 else told


def all_classes(y: NDArray, named: Any) -> NDArray:
    """Return the classes that are named, or those that labels show."""
    check_classification_targets(y)
    classes = np.unique(y if named is None else np.asarray(named))
    if len(classes) < 2:
        raise ValueError(
            f"y shows {len(classes)} class and needed are two or more; rows whose label is None, "
            "NaN or -1 have none. Where the first rows of a stream do not show all classes, name "
            "these: classes=[...]."
        )
    return classes


def class_weights(choice: Any, classes: NDArray, y: NDArray) -> NDArray:
    """Return what a label of each class counts."""
    if choice is None:
        return np.ones(len(classes))
    return np.asarray(compute_class_weight(choice, classes=classes, y=y))


def class_table(y: NDArray, told: NDArray, classes: NDArray, weights: NDArray) -> NDArray:
    """Return the weight of each row in the column of its class."""
    place = np.minimum(np.searchsorted(classes, y[told]), len(classes) - 1)
    strange = classes[place] != y[told]
    if strange.any():
        raise ValueError(
            f"y holds the class {y[told][strange][0]!r}, and the first rows showed "
            f"{classes.tolist()!r:.80}; name all of them: classes=[...]."
        )
    table = np.full((len(y), len(classes)), np.nan)
    table[told] = np.eye(len(classes))[place] * weights[place, None]
    return table


def number_table(y: NDArray, *, counts: bool) -> NDArray:
    """Return numbers as a table."""
    table = np.asarray(checked_numbers(y, "y"), dtype=np.float64).reshape(len(y), -1)
    if counts and (table < 0).any():
        raise ValueError(f"Counts must not be negative, y holds {np.nanmin(table)}.")
    return table


def center_and_spread(table: NDArray, weights: NDArray) -> NDArray:
    """Return mean and standard deviation of each column over the rows that have labels."""
    told = ~np.isnan(table).any(axis=1) & (weights > 0)
    mean = np.average(table[told], axis=0, weights=weights[told])
    spread = np.sqrt(np.average((table[told] - mean) ** 2, axis=0, weights=weights[told]))
    return np.array([mean, np.where(spread > 0, spread, 1.0)])
