"""CP decomposition of a tensor that does not fit in memory, by streaming through its slices."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base.checks import check_count, generator
from atomstream.base.matrices import Samples
from atomstream.dictionaries.loadings import khatri_rao
from atomstream.estimators._polishing import Slices, polish
from atomstream.estimators.cp import OnlineCPDictionary


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
    n_epochs: int = 10,
    n_polish: int | None = 0,
    callbacks: Iterable[Any] = (),
    **params: Any,
) -> CPTensor:
    """Factorize one tensor into nonnegative rank-one parts.

    Only a fraction of its slices is held at a time. The slices along one mode are the samples of an
    `OnlineCPDictionary`; they are read in a new random order in each pass, and at the end the
    factor of that mode is found by coding all of them.

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
    n_epochs : int, default=10
        Passes over the slices.
    n_polish : int or None, default=0
        Full block sweeps at the end, each of which reads the tensor once: all slices are coded
        exactly, then the loadings minimise the error for these codes, as alternating least squares
        does. None goes on until a sweep gains less than 1e-5 of the squared error (500 sweeps at
        most). Sparse tensors, and arrays in memory with less than an eighth of entries that are not
        0, are read once for all sweeps, and then only these entries count.
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
    >>> weights, factors = cp = online_parafac(X, 2, n_epochs=20, n_polish=20, random_state=0)
    >>> [factor.shape for factor in factors], bool(cp.relative_error < 0.01)
    ([(30, 2), (8, 2), (9, 2)], True)
    """
    shape = tuple(getattr(X, "shape", np.shape(X)))
    if len(shape) < 2 or 0 in shape:
        raise ValueError(f"X must have at least two axes and no empty one, got shape {shape}.")
    check_count("sample_mode", sample_mode, -len(shape), len(shape) - 1)
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 < fraction <= 1:
        raise ValueError(f"fraction must lie in (0, 1], got {fraction!r}.")
    check_count("n_epochs", n_epochs, 1)
    if n_polish is not None:
        check_count("n_polish", n_polish, 0)
    if "batch_size" in params:
        raise ValueError("batch_size follows from fraction here; leave it out.")
    mode, rng = sample_mode % len(shape), generator(params.pop("random_state", None))
    slices = Slices(X, mode, max(1, round(fraction * shape[mode])))
    model = OnlineCPDictionary(rank, random_state=rng, **params)
    model.set_callbacks(*callbacks)
    deadline = np.inf if model.max_time is None else time.monotonic() + model.max_time
    for epoch in range(n_epochs):
        horizon = model.clock_.mass if epoch else np.inf
        if model.max_time is not None:
            model.set_params(max_time=max(deadline - time.monotonic(), 0.0))
        model.fit_stream(slices.shuffled(rng), n_batches=len(slices), horizon=horizon)
        if time.monotonic() >= deadline or model.n_steps_ < (epoch + 1) * len(slices):
            n_polish = 0
            break
    model.set_callbacks()
    polish(model, slices, n_polish, deadline)
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
