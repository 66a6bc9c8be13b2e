"""Full sweeps over one tensor: all codes, then the loadings that are best for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base.parallel import one_blas_thread
from atomstream.dictionaries.low_rank import LowRank
from atomstream.estimators._validation import check_X
from atomstream.memory.gram import Aggregates
from atomstream.memory.state import State
from atomstream.problem.batch import Batch
from atomstream.problem.clock import Accuracy

EXACT = Accuracy(gap=1e-9)
# Of all entries: tensors in memory with fewer that are not 0 are swept by those alone.
MAX_STORED_SHARE = 0.125
MIN_GAIN = 1e-5  # of the objective: a sweep that gains less is the last one
MAX_SWEEPS = 500  # sweeps


class Slices:
    """The slices of a tensor along one mode, some at a time, in order; the mode comes first.

    Parameters
    ----------
    X : array-like, memory map, Zarr or sparse array
    mode : int
    size : int
        Slices read at a time.
    """

    def __init__(self, X: Any, mode: int, size: int) -> None:
        self._X = X if hasattr(X, "shape") else np.asarray(X)
        self._mode, self._size = mode, size
        shape = tuple(self._X.shape)
        self._shape = (shape[mode], *shape[:mode], *shape[mode + 1 :])
        self._rows: Any = self._rows_of(X) if sp.issparse(X) else None
        self._known: list[Batch | None] = []

    def __len__(self) -> int:
        return -(-self._shape[0] // self._size)

    def __iter__(self) -> Iterator[Any]:
        return self._read(np.arange(self._shape[0]))

    def shuffled(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield the slices in a new random order."""
        return self._read(rng.permutation(self._shape[0]))

    def stored(self, model: Any) -> Batch | None:
        """Return all slices as one sparse batch, made once; None where that would not be small."""
        if not self._known:
            self._known.append(self._stored(model))
        return self._known[0]

    def _stored(self, model: Any) -> Batch | None:
        X = self._X
        if model.missing or model.axes_.order != tuple(range(len(self._shape) - 1)):
            return None
        if self._rows is None:
            # A file is read slice by slice, and an entry that is stored takes half as much again.
            if type(X) is not np.ndarray or np.count_nonzero(X) > MAX_STORED_SHARE * X.size:
                return None
            rows = sp.csr_array(np.moveaxis(X, self._mode, 0).reshape(self._shape[0], -1))
        else:
            rows = self._rows
        return model._to_batch(check_X(model, rows, reset=False))

    def _rows_of(self, X: Any) -> Any:
        """Return a sparse tensor as rows in CSR format, one for each slice."""
        X = X.tocoo()
        coords = list(X.coords)
        row, others = coords.pop(self._mode), self._shape[1:]
        column = np.ravel_multi_index(tuple(coords), others)
        shape = (self._shape[0], int(np.prod(others)))
        return sp.csr_array((X.data, (row, column)), shape=shape)

    def _read(self, order: NDArray) -> Iterator[Any]:
        before = (slice(None),) * self._mode
        read = getattr(self._X, "oindex", self._X)
        for start in range(0, len(order), self._size):
            places = np.sort(order[start : start + self._size])
            if self._rows is not None:
                yield self._sparse(places)
                continue
            part: Any
            if places[-1] - places[0] == len(places) - 1:
                where: Any = (*before, slice(int(places[0]), int(places[-1]) + 1))
                part = self._X[where]
            else:
                where = (*before, places)
                part = read[where]
            yield np.moveaxis(np.asarray(part), self._mode, 0)

    def _sparse(self, places: NDArray) -> Any:
        """Return some sparse slices in their shape."""
        part = self._rows[places].tocoo()
        others = np.unravel_index(part.col, self._shape[1:])
        shape = (len(places), *self._shape[1:])
        return sp.coo_array((part.data, (part.row, *others)), shape=shape)


def polish(model: Any, slices: Slices, n_sweeps: int | None, deadline: float) -> None:
    """Code all slices exactly and minimise the error for these codes, mode by mode, repeatedly.

    Parameters
    ----------
    model : OnlineCPDictionary
    slices : Slices
    n_sweeps : int or None
        How often; None: until that gains next to nothing.
    deadline : float
        Of ``time.monotonic``, after which no sweep begins.
    """
    batch, before = slices.stored(model) if n_sweeps != 0 else None, np.inf
    light = None if batch is None else _light(model, batch)
    with one_blas_thread:
        for _ in range(MAX_SWEEPS if n_sweeps is None else n_sweeps):
            if time.monotonic() >= deadline:
                break
            if light is None:
                objective = _swept(model, slices)
            else:
                objective = _swept_by_entries(model, batch, light, wanted=n_sweeps is None)
            if n_sweeps is None and before - objective <= MIN_GAIN * objective:
                break
            before = objective
    if light is not None and len(light.memory.cross.left):
        memory = light.memory
        known = {"gram": memory.gram, "cross": np.asarray(memory.cross)}
        vars(model.state_.memory).update(known, constant=memory.constant)


def _swept(model: Any, slices: Slices) -> float:
    """Make one sweep that reads the slices some at a time; return the objective before it."""
    state, algorithm = model.state_, model.algorithm_
    batches = (model._batch(part) for part in slices)
    found = (
        (batch, algorithm.coder.encode(batch, state.dictionary, algorithm.objective, EXACT))
        for batch in batches
    )
    deltas = (
        algorithm.statistics.measure(*pair, state.dictionary, algorithm.objective) for pair in found
    )
    whole: Any = reduce(add, deltas)
    state.memory.absorb(whole, 1.0)
    replace(algorithm.updater, radius=None).update(state, algorithm.objective, model.clock_)
    return float(whole.objective)


def _light(model: Any, batch: Batch) -> State:
    """Return a state with the dictionary of the model, and sums that are never formed."""
    n_components, n_features = model.state_.dictionary.shape
    memory = Aggregates(n_components, n_features, factored=True)
    return State(model.state_.dictionary, memory, model.state_.usage)


def _swept_by_entries(model: Any, batch: Any, light: State, *, wanted: bool) -> float:
    """Make one sweep whose products run over the stored entries.

    Returns the objective before it, or infinity where nobody needs it: it costs a product.
    """
    algorithm, dictionary, memory = model.algorithm_, light.dictionary, light.memory
    # Codes of the last sweep are near those of this one.
    start: Any = memory.cross.left * len(memory.cross.left) if len(memory.cross.left) else None
    codes = algorithm.coder.encode(batch, dictionary, algorithm.objective, EXACT, start).values
    codes = codes.astype(np.float64, copy=False)
    gram, n, objective = codes.T @ codes, len(codes), np.inf
    constant = 0.5 * float(batch.energy.sum())
    constant += float(algorithm.objective.codes.elastic_net(codes).sum())
    if wanted:
        explained = np.vdot(codes, dictionary.correlate(batch.X))
        objective = constant + 0.5 * np.vdot(gram, dictionary.gram()) - explained
    memory.gram, memory.cross, memory.constant = gram / n, LowRank(codes / n, batch.X), constant / n
    replace(algorithm.updater, radius=None).update(light, algorithm.objective, model.clock_)
    return float(objective)
