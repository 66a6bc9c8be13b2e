"""Samples that arrive together, and what is known of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import dense
from atomstream.base.saved_fields import ANY, NUMBERS, array, count, either
from atomstream.losses import squared_norms

# Of the features: a batch with entries in more of them is learned from as a whole.
MAX_TOUCHED_SHARE = 0.25
MAX_JUDGED = 512  # rows that atoms are compared on, or less than twice as many


@dataclass(frozen=True)
class Batch:
    """Samples that arrive together, and what is known of each.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), or None
        Sample weights; None stands for ones.
    mask : ndarray of bool or float of shape (n_samples, n_features), or None
        True where an entry was observed; None where all were. What stands behind it is set to 0,
        and a row without any entry weighs 0. Needs a coder that ``handles_mask``. Numbers from 0 to
        1 are weights of the entries, beside that of the row; they need parts that
        ``weigh_entries``.
    ids : ndarray of shape (n_samples,), or None
        What the caller calls each row (index of a frame, number in the stream); carried along,
        never computed with.
    labels : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        The atom, or the data set, that each row is known to belong to, or what is to be predicted
        of it; a row of NaN has no label.
    covariates : ndarray of shape (n_samples, n_covariates), or None
        What else labels are predicted from, beside the code.
    position : int
        How many samples of the stream came before this batch.
    """

    SAVED: ClassVar = (
        *(array("X", "n d"), array("weights", "n", NUMBERS, optional=True)),
        *(array("mask", "n d", bool, optional=True), array("ids", "n", ANY, optional=True)),
        either(array("labels", "n", ANY), array("labels", "n o"), optional=True),
        *(array("covariates", "n c", optional=True), count("position")),
    )

    X: Any
    weights: NDArray | None = None
    mask: NDArray | None = None
    ids: NDArray | None = None
    labels: NDArray | None = None
    covariates: NDArray | None = None
    position: int = 0

    def __post_init__(self) -> None:
        if self.mask is None:
            return
        known: dict[str, Any] = {"mask": None}
        # A mask that hides nothing is none: complete rows take the faster way, to the same bits.
        if not (self.mask == 1).all():
            # Zeros behind the mask keep products of whole rows right, where NaN would spread.
            known = {"mask": self.mask, "X": np.where(self.mask, self.X, self.X.dtype.type(0))}
            # A row of which nothing was seen says nothing, so it must not count in means.
            seen = self.mask.any(axis=1)
            if not seen.all():
                known["weights"] = np.where(
                    seen, 1.0 if self.weights is None else self.weights, 0.0
                )
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def of(self, rows: slice | NDArray) -> Batch:
        """Return some of the samples as a batch."""
        names = ("weights", "mask", "ids", "labels", "covariates")
        parts = {name: getattr(self, name) for name in names}
        known = {name: part[rows] for name, part in parts.items() if part is not None}
        return Batch(self.X[rows], **known)

    def on(self, features: NDArray) -> Batch:
        """Return the samples on some of the features as a batch."""
        mask = None if self.mask is None else np.take(self.mask, features, axis=1)
        dense = isinstance(self.X, np.ndarray)
        X = np.take(self.X, features, axis=1) if dense else self.X[:, features]
        return Batch(X, self.weights, mask, labels=self.labels)

    def complete(self, reconstruction: NDArray, rows: slice | NDArray = slice(None)) -> Any:
        """Return samples with their reconstruction in place of what is missing.

        An entry of weight w counts as w parts of itself and 1 - w parts of the reconstruction y:
        half of w^2 (x - y)^2 is then the loss of the entry, less what `slack` returns.
        """
        if self.mask is None:
            return self.X[rows]
        mask, X = self.mask[rows], self.X[rows]
        if mask.dtype == bool:
            return np.where(mask, X, reconstruction)
        # The error that is left is w (x - y).
        return mask * X + (1 - mask) * reconstruction

    def slack(self, reconstruction: NDArray) -> NDArray:
        """Return what weights of entries add to the squared loss of completed samples."""
        if self.mask is None or self.mask.dtype == bool:
            return np.zeros(len(reconstruction))
        # w - w^2: what the loss of completed entries, w^2 (x - y)^2 / 2, lacks of w (x - y)^2 / 2.
        spread = self.mask * (1 - self.mask)
        return 0.5 * (spread * (self.X - reconstruction) ** 2).sum(axis=1, dtype=np.float64)

    @property
    def weighs_entries(self) -> bool:
        """Whether some entries of a row weigh more than others, or are missing."""
        return self.mask is not None

    @property
    def has_entry_weights(self) -> bool:
        """Whether entries have weights, and are not only observed or missing."""
        return self.mask is not None and self.mask.dtype != bool

    @property
    def seen(self) -> Any:
        """The samples by the weights of their entries; zeros where entries are missing."""
        if self.mask is None or self.mask.dtype == bool:
            return self.X
        return self.mask * self.X

    @property
    def row_weights(self) -> NDArray:
        """The sample weights; ones where they are None."""
        return np.ones(self.X.shape[0]) if self.weights is None else self.weights

    @property
    def mass(self) -> float:
        """Sum of the sample weights."""
        return float(self.X.shape[0]) if self.weights is None else float(self.weights.sum())

    @cached_property
    def touched(self) -> NDArray | None:
        """The features in which a sample has an entry; None where they are not few."""
        if self.mask is not None:
            return None
        n_features = self.X.shape[1]
        if isinstance(self.X, np.ndarray):
            # The first row often tells at once that entries are many.
            if not len(self.X) or np.count_nonzero(self.X[0]) > MAX_TOUCHED_SHARE * n_features:
                return None
            seen = self.X.any(axis=0)
        else:
            seen = np.zeros(n_features, bool)
            seen[self.X.indices[self.X.data != 0]] = True
        features = np.flatnonzero(seen)
        return features if len(features) <= MAX_TOUCHED_SHARE * n_features else None

    def merged(self, features: NDArray) -> Batch:
        """Return the samples on these features, and all others, where they are 0, as one more."""
        n_rows, n_features = self.X.shape
        if isinstance(self.X, np.ndarray):
            X = sp.csr_array(self.X[:, features])
            parts, n_features = (X.data, X.indices, X.indptr), len(features) + 1
        else:
            places = np.zeros(n_features, self.X.indices.dtype)
            places[features] = np.arange(len(features))
            X, n_features = self.X, len(features) + 1
            # A stored zero stands in a feature outside these, which has no place of its own.
            if not X.data.all():
                X = X.copy()
                X.eliminate_zeros()
            parts = (X.data, places[X.indices], X.indptr)
        merged = sp.csr_array(parts, shape=(n_rows, n_features))
        return Batch(merged, self.weights, labels=self.labels)

    @cached_property
    def energy(self) -> NDArray:
        """Squared length of each row, by the weights of its entries, in float64."""
        if self.seen is self.X:
            return squared_norms(self.X)
        return (self.seen * self.X).sum(axis=1, dtype=np.float64)


def observed_span(batch: Batch) -> NDArray:
    """Return the least and the largest observed entry of a batch, (2,)."""
    if sp.issparse(batch.X):  # zeros that are not stored were observed
        return np.array([batch.X.data.min(initial=0), batch.X.data.max(initial=0)], np.float64)
    seen: Any = True if batch.mask is None else batch.mask > 0
    ends = np.min(batch.X, initial=np.inf, where=seen), np.max(batch.X, initial=-np.inf, where=seen)
    return np.array(ends, np.float64)


def some_rows(blocks: Sequence[Batch], most: int) -> Batch:
    """Return about so many rows of the first block, at equal distances, or all of them."""
    return blocks[0].of(slice(None, None, max(1, blocks[0].X.shape[0] // most)))


def judged_rows(blocks: Sequence[Batch]) -> Batch:
    """Return some rows that atoms are compared on, in float64."""
    some = some_rows(blocks, MAX_JUDGED)
    # The majoriser of a row that is explained exactly, such as zeros, is too steep for float32.
    return replace(some, X=some.X.astype(np.float64))


def joined(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several batches as one, dense where some of their entries are missing."""
    parts, mask = [batch.X for batch in batches], None
    if any(batch.mask is not None for batch in batches):
        parts = [dense(X) for X in parts]
        marks = [np.ones(b.X.shape, bool) if b.mask is None else b.mask for b in batches]
        mask = np.concatenate(marks)
    stored = any(map(sp.issparse, parts))
    X = sp.csr_array(sp.vstack(parts)) if stored else np.concatenate(parts)
    labels = None if batches[0].labels is None else np.concatenate([b.labels for b in batches])
    weights = np.concatenate([batch.row_weights for batch in batches])
    return Batch(X, weights, mask, labels=labels)
