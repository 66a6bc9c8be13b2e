"""Exact codes at the public border: checked data in, codes with a certificate out."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from atomstream.base import (
    ArrayLike,
    Samples,
    check_count,
    check_number,
    checked_matrix,
    checked_numbers,
    dense,
    in_order,
    names_of,
    order_of,
    threads,
)
from atomstream.base.parameters import THREADS
from atomstream.coders import Coder, Codes
from atomstream.dictionaries import Dictionary, Rows
from atomstream.estimators._validation import NotConvergedWarning, check_lengths
from atomstream.estimators.registry import SETS, resolve, resolve_coder, with_elastic_net
from atomstream.losses import Squared
from atomstream.penalties import Free, TopK
from atomstream.problem import Accuracy, Batch, Objective

GAPS = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-9}


def sparse_encode(
    X: Samples,
    dictionary: object,
    *,
    alpha: float = 0.0,
    ridge: float = 0.0,
    sign: object = "nonnegative",
    gap: float | None = None,
    max_nonzero: int | None = None,
    start: ArrayLike | None = None,
    sparse_output: bool = False,
    n_jobs: int | None = None,
) -> Any:
    r"""Return the codes of samples under a fixed dictionary, exactly.

    Row by row :math:`\tfrac12 \|x - hD\|_2^2 + alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|_2^2` is
    minimised until the certified duality gap is at most 1e-9 of the objective (1e-6 for float32
    data).

    Parameters
    ----------
    X : array-like, frame or sparse of shape (n_samples, n_features)
        Float32 and float64 are kept, others become float64.
    dictionary : array-like of shape (n_components, n_features)
        One atom per row, of any length.
    alpha, ridge : float, default=0.0
        Strengths of the l1 and of the squared l2 penalty.
    sign : {"nonnegative", "free"} or penalty part, default="nonnegative"
        The codes' set; a part of `atomstream.penalties` (boxes, the simplex, balls) brings its own
        l1 and l2.
    gap : float, optional
        Certified duality gap at which a code is exact enough, as a share of the objective.
    max_nonzero : int, optional
        Largest number of entries of a code that differ from zero, instead of a penalty: codes are
        then found by orthogonal matching pursuit, as with the set `atomstream.penalties.TopK`, and
        there is no certificate.
    start : array-like or sparse of shape (n_samples, n_components), optional
        Codes to search from, where good ones are known: those of a dictionary that has changed a
        little.
    sparse_output : bool, default=False
        Return a CSR array.
    n_jobs : int, optional
        The most threads; None takes as many as BLAS may use, -1 all cores. The bits do not depend
        on it.

    Returns
    -------
    ndarray or csr_array of shape (n_samples, n_components)

    Raises
    ------
    ValueError
        For data that are not finite or of another number of features than the dictionary, and
        settings out of range.

    Warns
    -----
    NotConvergedWarning
        Where a row's gap stayed above what was wanted.

    References
    ----------
    docs/algorithms/sparse-coding.md.

    Examples
    --------
    >>> import atomstream
    >>> atomstream.sparse_encode([[3.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]], alpha=0.5)
    array([[2.5, 0. ]])
    >>> atomstream.sparse_encode([[3.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]], alpha=0.5, sign="free")
    array([[ 2.5, -0.5]])
    """
    check_number("alpha", alpha)
    check_number("ridge", ridge)
    check_gap(gap)
    if n_jobs is not None and not THREADS.accepts(n_jobs):
        raise ValueError(f"n_jobs must be None, or {THREADS}, got {n_jobs!r:.80}.")
    floats = [np.float64, np.float32]
    order = order_of(names_of(X), names_of(dictionary), "X", "has other columns than dictionary")
    samples = _checked(in_order(X, order), "X", floats, accept_sparse="csr")
    atoms, batch = _checked(dictionary, "dictionary", [samples.dtype]), Batch(samples)
    for known, name, energy in ((samples, "X", batch.energy), (atoms, "dictionary", atoms)):
        if not np.isfinite(energy).all():
            check_array(known, accept_sparse=True, input_name=name)
    check_lengths("dictionary", np.abs(atoms).max(axis=1))
    if atoms.shape[1] != samples.shape[1]:
        raise ValueError(
            f"dictionary has {atoms.shape[1]} features and X has {samples.shape[1]}; they must "
            "agree."
        )
    penalty = with_elastic_net(_resolve_sign(sign, max_nonzero), alpha, ridge)
    objective = Objective(Squared(), codes=penalty, atoms=Free())
    coder = resolve_coder("auto", objective.loss, penalty)
    begin = None if start is None else _check_start(start, (samples.shape[0], len(atoms)))
    with threads(n_jobs):
        codes = encode_exactly(coder, batch, Rows(atoms), objective, begin, gap).values
    return sp.csr_array(codes) if sparse_output else codes


def _checked(X: Any, name: str, dtypes: list[Any], **admitted: Any) -> Any:
    """Return numbers as scikit-learn checks them; plain ones at once, that may be infinite."""
    X = checked_matrix(X, name)
    # The check takes 50 us, and passes over all entries.
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in dtypes:
        return X
    return check_array(X, dtype=dtypes, input_name=name, **admitted)


def check_gap(gap: float | None) -> None:
    """Refuse a duality gap that no code can have."""
    if gap is not None:
        check_number("gap", gap)


def _resolve_sign(sign: object, max_nonzero: int | None) -> Any:
    """Return the set of codes of this sign, with so many entries that are not zero."""
    known = {name: SETS[name] for name in ("nonnegative", "free")}
    if max_nonzero is None:
        return resolve("sign", sign, known, "prox")
    most = check_count("max_nonzero", max_nonzero)
    if not isinstance(sign, str) or sign not in known:
        raise ValueError(
            f"max_nonzero={max_nonzero!r} needs sign 'nonnegative' or 'free', got {sign!r:.80}."
        )
    return TopK(most, sign)


def encode_exactly(
    coder: Coder,
    batch: Batch,
    dictionary: Dictionary,
    objective: Objective,
    start: NDArray | None = None,
    gap: float | None = None,
) -> Codes:
    """Code to this residual, or 1e-9 (float32: 1e-6; more where the loss says so), or warn."""
    usual = max(GAPS[np.dtype(batch.X.dtype)], getattr(objective.loss, "precision", 0.0))
    wanted = usual if gap is None else gap
    codes = coder.encode(batch, dictionary, objective, Accuracy(gap=wanted), start)
    missed = ~(codes.residual <= wanted)  # NaN has missed it too
    if missed.any():
        warnings.warn(
            f"{int(missed.sum())} of {len(missed)} codes stopped at a residual of up to "
            f"{codes.residual.max():.1e} (wanted: {wanted:.0e}); give the coder more iterations "
            "or add ridge.",
            NotConvergedWarning,
            stacklevel=4,
        )
    return codes


def _check_start(start: Any, shape: tuple[int, int]) -> NDArray:
    """Return starting codes as a finite array of this shape."""
    start = checked_numbers(start, "start")
    codes = check_array(dense(start), input_name="start")
    if codes.shape != shape:
        raise ValueError(
            f"start must be of shape {shape}, one code per row of X, got {codes.shape}."
        )
    return codes
