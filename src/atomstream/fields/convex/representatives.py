"""Representatives of convex atoms, and the rows that can become some."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count, complete_array, dense
from atomstream.fields.convex.hulls import Hulls, NamedRows, alike
from atomstream.problem import Batch, joined


@dataclass(frozen=True)
class Representatives:
    """The samples that one atom is made of.

    Attributes
    ----------
    samples : ndarray or csr_array of shape (n, n_features)
        Rows of the stream, as they came, with their gaps filled in.
    indices : ndarray of int of shape (n,)
        Their places in the stream, from 0.
    ids : ndarray of shape (n,)
        What the caller calls them: ``ids``, the index of the frame, or the number of the row in the
        data of `fit`.
    observed : ndarray of bool of shape (n, n_features), or None
        False where an entry was missing: ``samples`` holds there what the model reconstructed when
        the row became a representative. None where no representative of any atom had a gap.
    """

    samples: Any
    indices: NDArray
    ids: NDArray
    observed: NDArray | None = None

    @classmethod
    def of(cls, hulls: Hulls) -> list[Self]:
        """Return the representatives of each atom."""
        found = []
        for rows in map(hulls.region, range(len(hulls.weights))):
            marks = None if hulls.observed is None else read_only(hulls.observed[rows])
            parts = (hulls.samples, hulls.indices, hulls.ids)
            samples, indices, ids = (read_only(part[rows]) for part in parts)
            found.append(cls(samples, indices, ids, marks))
        return found


@dataclass(frozen=True)
class Share:
    """A representative and its share in an atom.

    Attributes
    ----------
    share : float
    id : int or str
        What the caller calls the sample.
    index : int
        Its place in the stream, from 0.
    sample : ndarray of shape (n_features,)
    observed : ndarray of bool of shape (n_features,)
        False where an entry of the sample was missing and has been filled in.
    """

    share: float
    id: Any
    index: int
    sample: NDArray
    observed: NDArray

    @classmethod
    def of(cls, hulls: Hulls, atom: int, top: int) -> list[Self]:
        """Return the representatives with the largest shares in an atom, largest first."""
        atom, top = check_count("atom", atom, 0, len(hulls.weights) - 1), check_count("top", top, 1)
        order = np.argsort(-hulls.weights[atom], kind="stable")[:top]
        parts = []
        for n in order[hulls.weights[atom, order] > 0]:
            row = dense(hulls.samples[[n]])[0]
            name = hulls.ids[n].item() if isinstance(hulls.ids[n], np.generic) else hulls.ids[n]
            share, place = float(hulls.weights[atom, n]), int(hulls.indices[n])
            known = np.ones(len(row), bool) if hulls.observed is None else hulls.observed[n].copy()
            parts.append(cls(share, name, place, row, known))
        return parts


def counting_rows(batch: Batch) -> NDArray:
    """Return the rows of a batch that have weight."""
    return np.arange(batch.X.shape[0]) if batch.weights is None else np.flatnonzero(batch.weights)


def row_names(names: NDArray) -> NDArray:
    """Return the names of rows as numbers or texts, which a file can hold."""
    if names.dtype.kind in "iu" and (names.dtype.kind == "i" or names.max(initial=0) < 2**63):
        return names.astype(np.int64)
    if names.dtype.kind == "f":
        return names.astype(np.float64)
    if names.dtype.kind == "M":
        return np.datetime_as_string(names, unit="auto").astype(object)
    return np.array([str(name) for name in names], dtype=object)


def read_only(part: Any) -> Any:
    """Return an array that cannot be written to, sharing its numbers."""
    if not sp.issparse(part):
        part = part.view()
        part.flags.writeable = False
    return part


def stacked_rows(rows: list[tuple[Batch, NDArray]]) -> NamedRows:
    """Return some rows of batches as one, with zeros where entries are missing."""
    whole = joined([batch.of(some) for batch, some in rows])
    places = np.concatenate([batch.position + some for batch, some in rows])
    ids = np.concatenate(alike(*(np.asarray(batch.ids)[some] for batch, some in rows)))
    return NamedRows(whole.X, places, ids, whole.mask)


def check_labels(y: object, n_rows: int) -> NDArray:
    """Return the label of each row."""
    if y is None:
        raise ValueError(
            "assignment='labels' needs the labels of the rows: it requires y to be passed, but the "
            "target y is None."
        )
    labels = complete_array(y, "y")
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must be of shape ({n_rows},), one label per row of X, got {labels.shape}."
        )
    return labels


def places_of(labels: NDArray, classes: NDArray) -> NDArray:
    """Return the place of each label among the sorted classes."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    new = labels[classes[places] != labels]
    if len(new):
        known = ", ".join(map(str, classes))
        raise ValueError(f"y holds the label {new[0]}, which is none of {known}.")
    return places
