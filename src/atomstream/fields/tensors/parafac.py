"""CP decomposition of a tensor that does not fit in memory, by streaming through its slices."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import (
    Samples,
    check_count,
    check_keywords,
    checked_array,
    checked_numbers,
    generator,
    threads,
)
from atomstream.dictionaries.low_rank import LowRank
from atomstream.estimators._validation import check_X
from atomstream.fields.tensors.loadings import khatri_rao
from atomstream.fields.tensors.model import OnlineCPDictionary
from atomstream.memory import Aggregates, State
from atomstream.problem import Accuracy, Batch

EXACT = Accuracy(gap=1e-9)
# Of all entries: tensors in memory with fewer that are not 0 are swept by those alone.
MAX_STORED_SHARE = 0.125
MIN_GAIN = 1e-5  # of the objective: a sweep that gains less is the last one
MAX_SWEEPS = 500  # sweeps
OF_RANK = ("n_components", "batch_size")  # what follows from other parameters
N_PASSES = 10  # before the sweeps, by default


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
        self._X = checked_numbers(X)
        self._mode, self._size = mode, size
        shape = tuple(self._X.shape)
        self._shape = (shape[mode], *shape[:mode], *shape[mode + 1 :])
        self._rows: Any = self._rows_of(self._X) if sp.issparse(X) else None
        self._known: list[Batch | None] = []

    def __len__(self) -> int:
        return -(-self._shape[0] // self._size)

    @property
    def in_memory(self) -> bool:
        """Whether another sweep reads no file."""
        # A memory map is a subclass of ndarray.
        return self._rows is not None or type(self._X) is np.ndarray

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
        # Holes and modes that are joined out of order need the dense way.
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
            # In ascending order, as files are read; the order within a batch does not matter.
            self._places = places = np.sort(order[start : start + self._size])
            if self._rows is not None:
                yield self._sparse(places)
                continue
            part: Any
            if places[-1] - places[0] == len(places) - 1:
                where: Any = (*before, slice(int(places[0]), int(places[-1]) + 1))
                # Neighbours are read as one slice.
                part = self._X[where]
            else:
                where = (*before, places)
                part = read[where]
            yield np.moveaxis(checked_array(part), self._mode, 0)

    def in_tensor(self, sentence: str) -> str:
        """Return a complaint about the slices read last, with the place in the tensor."""

        def words(found: re.Match[str]) -> str:
            """Return the place of an entry of a sample."""
            index = [int(number) for number in re.findall(r"\d+", found[2])]
            index.insert(self._mode, int(self._places[int(found[1])]))
            return f"first at {tuple(index)}"

        return re.sub(r"first in sample (\d+), entry (\d+|\([\d, ]+\))", words, sentence)

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
    with threads(model.n_jobs):
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
    # No radius: there is no stream any more whose next batch could disagree.
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


@dataclass(frozen=True)
class CPTensor:
    """A sum of rank-one tensors; unpacks into weights and factors, as TensorLy's functions expect.

    Attributes
    ----------
    weights : ndarray of shape (rank,)
        Ones: the scale lies in the factor of the sample mode.
    factors : list of ndarray of shape (I_k, rank)
        One per mode of the tensor, in its order.
    relative_error : float
        Frobenius norm of what the sum leaves over that of the tensor (observed entries).
    model : OnlineCPDictionary
        What was learned of the other modes: it codes further slices and can go on learning.
    """

    weights: NDArray
    factors: list[NDArray]
    relative_error: float
    model: OnlineCPDictionary

    def __iter__(self) -> Iterator[Any]:
        return iter((self.weights, self.factors))

    def to_tensor(self) -> NDArray:
        """Return the sum as an array."""
        first, *others = self.factors
        total = (first * self.weights) @ khatri_rao(others).T
        return total.reshape(*(len(factor) for factor in self.factors))


def online_parafac(
    X: Samples,
    rank: int,
    *,
    sample_mode: int = 0,
    fraction: float = 0.2,
    n_epochs: int | None = None,
    n_polish: int | str | None = "auto",
    callbacks: Iterable[Any] = (),
    **params: Any,
) -> CPTensor:
    """Factorize one tensor into nonnegative rank-one parts.

    The tensor itself may have negative entries, as noise makes them. Only a fraction of its slices
    is held at a time. The slices along one mode are the samples of an `OnlineCPDictionary`; they
    are read in a new random order in each pass, and at the end the factor of that mode is found by
    coding all of them.

    Parameters
    ----------
    X : array, memory map, Zarr or sparse array with at least two axes
        Only the slices of a batch are read at a time.
    rank : int
        Number of rank-one parts.
    sample_mode : int, default=0
        The mode whose slices stream by; slices along mode 0 of a file in C order are read fastest.
    fraction : float, default=0.2
        Share of the slices in a batch, in (0, 1].
    n_epochs : int, optional
        Passes over the slices, by default ten.
    n_polish : int, None or "auto", default="auto"
        Full block sweeps at the end, each of which reads the tensor once: all slices are coded
        exactly, then the loadings minimise the error for these codes, as alternating least squares
        does. None goes on until a sweep gains less than 1e-5 of the squared error (500 sweeps at
        most). "auto" is None for an array or a sparse array in memory, and 0 for what is read from
        a file and where ``n_epochs`` is ten or less. Sparse tensors, and arrays in memory with less
        than an eighth of entries that are not 0, are read once for all sweeps, and then only these
        entries count.
    callbacks : iterable of callback, default=()
        As for `OnlineCPDictionary.set_callbacks`.
    **params
        Further parameters of `OnlineCPDictionary`, ``random_state`` among them; ``max_time`` holds
        for all passes together, and a pass that is stopped is the last.

    Returns
    -------
    CPTensor
        Weights and factors, as TensorLy takes them.

    References
    ----------
    Strohmeier (2023), section 4.7 and Algorithm 6, used on subsampled slices of one mode.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import online_parafac
    >>> rng = np.random.default_rng(0)
    >>> X = np.einsum("ir,jr,kr->ijk", rng.random((30, 2)), rng.random((8, 2)), rng.random((9, 2)))
    >>> weights, factors = cp = online_parafac(X, 2, random_state=0)
    >>> [factor.shape for factor in factors], bool(cp.relative_error < 0.01)
    ([(30, 2), (8, 2), (9, 2)], True)
    """
    X = X if hasattr(X, "shape") else checked_numbers(X)
    shape = tuple(X.shape)
    if len(shape) < 2 or 0 in shape:
        raise ValueError(f"X must have at least two axes and no empty one, got shape {shape}.")
    check_count("sample_mode", sample_mode, -len(shape), len(shape) - 1)
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 < fraction <= 1:
        raise ValueError(f"fraction must lie in (0, 1], got {fraction!r}.")
    if n_epochs is not None:
        check_count("n_epochs", n_epochs, 1)
    if n_polish not in (None, "auto"):
        check_count("n_polish", n_polish, 0)
    if "batch_size" in params:
        raise ValueError("batch_size follows from fraction here; leave it out.")
    known = [name for name in OnlineCPDictionary.PARAMETERS if name not in OF_RANK]
    check_keywords("online_parafac", params, known)
    mode, rng = sample_mode % len(shape), generator(params.pop("random_state", None))
    slices = Slices(X, mode, max(1, round(fraction * shape[mode])))
    n_sweeps: Any = n_polish
    if n_polish == "auto":
        settles = n_epochs is None or n_epochs > N_PASSES
        n_sweeps = None if settles and slices.in_memory else 0
    model = OnlineCPDictionary(rank, random_state=rng, **params)
    model.set_callbacks(*callbacks)
    deadline = np.inf if model.max_time is None else time.monotonic() + model.max_time
    for epoch in range(n_epochs or N_PASSES):
        horizon = model.clock_.mass if epoch else np.inf
        if model.max_time is not None:
            # Each pass gets what is left of the time for all.
            model.set_params(max_time=max(deadline - time.monotonic(), 0.0))
        try:
            model.fit_stream(slices.shuffled(rng), n_batches=len(slices), horizon=horizon)
        except ValueError as refusal:
            raise type(refusal)(slices.in_tensor(str(refusal))) from None
        if time.monotonic() >= deadline or model.n_steps_ < (epoch + 1) * len(slices):
            n_sweeps = 0
            break
    model.set_callbacks()
    polish(model, slices, n_sweeps, deadline)
    codes, error = _coded(model, slices)
    factors = model.loadings_
    factors.insert(mode, codes)
    return CPTensor(model.weights, factors, error, model)


def _coded(model: OnlineCPDictionary, slices: Slices) -> tuple[NDArray, float]:
    """Return the codes of all slices and the relative error that they leave."""
    codes, left, energy = [], 0.0, 0.0
    whole = slices.stored(model)
    batches = (model._batch(part) for part in slices) if whole is None else [whole]
    for batch in batches:
        found = model._encode(batch).values
        codes.append(found)
        left += float(
            model.algorithm_.objective.losses(batch, found, model.state_.dictionary).sum()
        )
        energy += float(batch.energy.sum())
    return np.concatenate(codes), float(np.sqrt(2 * left / energy)) if energy else 0.0
