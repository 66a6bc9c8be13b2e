"""Labels as people give them, and as tables of one column an output, NaN where a row has none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from atomstream.base import checked_array, complete_array, is_missing, without_mask


@dataclass(frozen=True)
class RowLabels:
    """What is known of rows beside their features."""

    y: Any = None
    covariates: Any = None
    classes: Any = None


def checked_labels(y: Any, n_rows: int) -> NDArray | None:
    """Return labels as an array with one for each row, or None for none at all."""
    if y is None:
        return None
    # A list of texts and NaN would become texts; a masked entry of an array is None in its list.
    y = without_mask(y)
    y = np.asarray(y, dtype=object) if isinstance(y, list) else np.asarray(y)
    if y.ndim == 0 or len(y) != n_rows:
        raise ValueError(f"y must have a label for each of {n_rows} rows, got {y.shape}.")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("y must be finite, or NaN where a row has no label; it holds inf.")
    return y


def checked_covariates(given: Any, n_rows: int, n_needed: int | None) -> NDArray | None:
    """Return covariates as a table with as many columns as are needed, or None for none."""
    table = None
    if given is not None:
        table = checked_array(given, "covariates", np.float64)
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


def labelled_rows(y: NDArray, named: Any) -> tuple[NDArray, NDArray]:
    """Return which rows have a class, and the classes of these.

    None, NaN and pandas' NA are none, nor is -1 beside two or more other whole numbers.
    """
    rows = ~np.array([is_missing(label) for label in y.tolist()], bool)
    labels = np.array(y[rows].tolist())  # objects get a type of their own
    named = None if named is None else complete_array(named, "classes").tolist()
    if labels.dtype.kind == "i" and (named is None or -1 not in named):
        # Two numbers are two classes, -1 and 1 among them.
        kept = labels != -1
        if named is not None or len(np.unique(labels)) > 2:
            rows[np.flatnonzero(rows)[~kept]] = False
            labels = labels[kept]
    return rows, labels


def all_classes(labels: NDArray, named: Any) -> NDArray:
    """Return the classes that are named, or those that labels show."""
    if len(labels):
        check_classification_targets(labels)
    classes = np.unique(labels if named is None else complete_array(named, "classes"))
    if len(classes) < 2:
        shown = ", ".join(map(str, classes.tolist())) or "none"
        raise ValueError(
            f"Needed are two classes or more, y shows {shown} (one class is no choice; None, NaN "
            "and -1 are no labels). Where the first rows of a stream do not show all classes, name "
            "these: classes=[...]."
        )
    return classes


def class_weights(choice: Any, classes: NDArray, labels: NDArray, weights: NDArray) -> NDArray:
    """Return what a label of each class counts."""
    if choice is None:
        return np.ones(len(classes))
    if choice == "balanced":
        mass = np.array([weights[labels == name].sum() for name in classes])
        if not mass.all():
            bare = classes[mass == 0].tolist()[0]
            raise ValueError(f"class_weight='balanced' needs labels of {bare!r}, y shows none.")
        return np.asarray(mass.sum() / (len(classes) * mass))
    # Names as texts: a file keeps no others.
    by_name = {str(name): float(value) for name, value in choice.items()}
    strange = sorted(by_name.keys() - set(map(str, classes.tolist())))
    if strange or min(by_name.values(), default=0.0) < 0:
        raise ValueError(
            f"class_weight must give numbers of at least 0 to some of the classes "
            f"{classes.tolist()!r:.80}, got {choice!r:.80}."
        )
    return np.array([by_name.get(str(name), 1.0) for name in classes.tolist()])


def class_table(rows: NDArray, labels: NDArray, classes: NDArray, weights: NDArray) -> NDArray:
    """Return the weight of each row in the column of its class."""
    table = np.full((len(rows), len(classes)), np.nan)
    if not len(labels):
        return table
    place = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = classes[place] != labels
    if strange.any():
        raise ValueError(
            f"y holds the class {labels[strange].tolist()[0]!r}, and the model knows "
            f"{classes.tolist()!r:.80}; name all of them: classes=[...]."
        )
    table[rows] = np.eye(len(classes))[place] * weights[place, None]
    return table


def number_table(y: NDArray, *, counts: bool) -> NDArray:
    """Return numbers as a table."""
    table = checked_array(y, "y", np.float64).reshape(len(y), -1)
    if counts and (table < 0).any():
        raise ValueError(f"Counts must not be negative, y holds {np.nanmin(table)}.")
    return table


def label_scale(table: NDArray, weights: NDArray, *, counts: bool) -> NDArray | None:
    """Return mean and standard deviation of numbers, or 0 and the mean of counts; None as yet."""
    rows = ~np.isnan(table).any(axis=1) & (weights > 0)
    if rows.sum() < (1 if counts else 2):
        return None
    mean = np.average(table[rows], axis=0, weights=weights[rows])
    if counts:
        return np.array([0 * mean, np.where(mean > 0, mean, 1.0)])
    spread = np.sqrt(np.average((table[rows] - mean) ** 2, axis=0, weights=weights[rows]))
    return np.array([mean, np.where(spread > 0, spread, 1.0)])
