"""Columns by their names: where each one stands, and one sentence where the names differ."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.matrices import dense, stacked

MAX_LISTED = 5  # names that a message lists
NAMES = ("feature_names_in_", "_column_labels")  # attributes of models that hold names


@dataclass(frozen=True)
class NamedColumns:
    """Rows as files and shards bring them, with the names of their columns: a frame at no cost.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)
    names : sequence of str of length n_columns
    """

    X: Any
    names: Sequence[str]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self.X.shape
        return n_rows, n_columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """Return the rows alone, dense."""
        return np.array(dense(self.X), dtype) if copy else np.asarray(dense(self.X), dtype)

    def __getitem__(self, rows: Any) -> "NamedColumns":
        """Return some of the rows."""
        return NamedColumns(self.X[rows], self.names)


def names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame or of `NamedColumns`; None where they have none.

    Names are texts, numbers where some column has another one than its place, or other labels,
    such as dates, each as a tuple of its text.
    """
    if isinstance(X, NamedColumns):
        return [*X.names]
    # Tables of Arrow call their names so, and what they hold "columns".
    labels = getattr(X, "column_names", None)
    labels = getattr(X, "columns", None) if labels is None else labels
    # Labelled arrays answer with a coordinate that happens to be called so.
    if labels is None or not hasattr(X, "shape") or hasattr(X, "dims"):
        return None
    names = [label.item() if isinstance(label, np.generic) else label for label in labels]
    names = [name if isinstance(name, str | int | float) else (str(name),) for name in names]
    return None if not names or names == [*range(len(names))] else names


def are_texts(names: Sequence[Any] | None) -> bool:
    """Return whether there are names and all of them are texts, as scikit-learn's names are."""
    return names is not None and all(isinstance(name, str) for name in names)


def order_of(
    names: Sequence[Any] | None, wanted: Sequence[Any] | None, subject: str, differs: str
) -> NDArray | None:
    """Return where each wanted column stands; None where they stand in this order already.

    Parameters
    ----------
    names, wanted : sequence of str, number or other labels, or None
        Columns without names stand where they stand, and so do all where labels that are no texts
        are not the same.
    subject : str
        What has these names: the first words of a message.
    differs : str
        The next words: that it has other names, and than what.

    Raises
    ------
    ValueError
        Where one has a name that the other has not, or has one twice.
    """
    if names is None or wanted is None or [*names] == [*wanted]:
        return None
    places: dict[Hashable, int] = {name: place for place, name in enumerate(names)}
    if len(places) == len(names) == len(wanted) and places.keys() == set(wanted):
        return np.array([places[name] for name in wanted])
    if not (are_texts(names) and are_texts(wanted)):
        return None
    if difference := _difference(places, dict.fromkeys(wanted)):
        raise ValueError(f"{subject} {differs}: {difference}; give the same ones, in any order.")
    twice = next(name for each in (names, wanted) for name in each if [*each].count(name) > 1)
    raise ValueError(
        f"{subject} {differs}: the name {twice!r} stands for two columns, so that they cannot be "
        "told apart; give every column a name of its own."
    )


def _difference(names: dict[Any, Any], wanted: dict[Any, Any]) -> str:
    """Return which names are missing and which are unexpected, or nothing."""
    missing = [name for name in wanted if name not in names]
    unexpected = [name for name in names if name not in wanted]
    parts = (("missing", missing), ("unexpected", unexpected))
    return " and ".join(
        f"{what} {'is' if len(found) == 1 else 'are'} {listed(found)}"
        for what, found in parts
        if found
    )


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    shown = ", ".join(repr(name)[:40] for name in names[:MAX_LISTED])
    n_more = len(names) - MAX_LISTED
    return shown + (f" and {n_more} more" if n_more > 0 else "")


def in_order(X: Any, order: NDArray | None) -> Any:
    """Return rows with the columns at these places, in a container of the same kind."""
    if order is None:
        return X
    if isinstance(X, NamedColumns):
        return NamedColumns(in_order(X.X, order), [X.names[place] for place in order])
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    if not isinstance(X, np.ndarray) and hasattr(X, "select"):  # polars, Arrow
        names = names_of(X) or []
        return X.select([names[place] for place in order])
    if not sp.issparse(X):
        return np.take(np.asarray(X), order, axis=1)
    found = sp.csr_array(X)[:, order]
    found.sort_indices()
    return found


def stacked_columns(parts: Sequence[Any]) -> Any:
    """Return rows below each other, by the names of their columns where they have some."""
    names = names_of(parts[0])
    if len(parts) == 1 or names is None:
        return stacked(parts)
    whole = []
    for part in parts:
        order = order_of(
            names_of(part), names, "A block of rows", "has other columns than the first"
        )
        part = in_order(part, order)
        whole.append(part.X if isinstance(part, NamedColumns) else np.asarray(part))
    return NamedColumns(stacked(whole), names)


# -- what a model knows of its columns


def known_names(model: Any) -> list[Any] | None:
    """Return the names of the columns that a model has learned from; None where they had none."""
    known = getattr(model, "__dict__", {})
    found = next((known[name] for name in NAMES if name in known), None)
    if found is None:
        return None
    texts = found.dtype.kind == "O" and NAMES[0] not in known
    return [(label,) for label in found.tolist()] if texts else list(found.tolist())


def order_for(model: Any, X: Any, subject: str = "X") -> NDArray | None:
    """Return where the columns that a model knows stand in data; None where in their order.

    Raises
    ------
    ValueError
        One sentence, where names differ or come twice.
    """
    names = names_of(X)
    if names is None:
        return None
    # Columns of a model that has learned from arrays are known by their numbers.
    known = known_names(model) or range(len(names))
    return order_of(names, known, subject, "has other feature names than were learned")


def as_known(model: Any, rows: Any) -> Any:
    """Return rows whose columns stand in the order that a model knows, with the names of these."""
    names = vars(model).get("feature_names_in_")
    return rows if names is None else NamedColumns(rows, names)
