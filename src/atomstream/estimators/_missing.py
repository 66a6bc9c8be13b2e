"""Missing entries: the ridge that is found for them, and when reconstructions are doubtful."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import Choice
from atomstream.dictionaries import Dictionary
from atomstream.loop.ridge import ridge_for
from atomstream.penalties.base import ElasticNetOnSet
from atomstream.problem import Batch, observed_span
from atomstream.streams.on_disk import OnDisk, at_once

MAX_ROWS = 2048  # that the ridge is found in
RIDGE_ADVICE = "learn with ridge='auto', or 0.001 (weak) to 0.3 (strong), or with fewer atoms"


def find_ridge(model: Any, rows: Any, known: dict[str, Any]) -> None:
    """Let a model have the ridge for these rows, if entries are missing.

    Parameters
    ----------
    model : estimator
        With a learner.
    rows : ndarray, sparse array or OnDisk of shape (n_samples, n_features)
    known : dict
        What is known of each row, as batches are made with.
    """
    some: Any = slice(None)
    stored = isinstance(rows, OnDisk)
    n_rows = min(MAX_ROWS, at_once(rows.shape[1])) if stored else MAX_ROWS
    if rows.shape[0] > n_rows:
        some = np.sort(np.random.default_rng(0).permutation(rows.shape[0])[:n_rows])
    known = {name: None if part is None else part[some] for name, part in known.items()}
    rows = model._rows(rows[some], reset=False) if stored else rows[some]
    batch = model._to_batch(rows, **known)
    if batch.mask is None or not batch.mass:
        return
    run, objective = model._learner, model.algorithm_.objective
    if not objective.loss.quadratic:
        run.ridge = Choice(0.0, "the loss is not quadratic")
    elif not isinstance(objective.codes, ElasticNetOnSet) or holds_codes(
        objective.codes, model.n_components
    ):
        run.ridge = Choice(0.0, "the penalty or the set of the codes holds them back")
    else:

        def start(batch: Batch, rng: np.random.Generator) -> Dictionary:
            """Return a starting dictionary that another source of randomness draws."""
            twin: Any = copy(model)
            twin._learner.rng = rng
            return twin._starting_dictionary(batch)

        run.ridge = ridge_for(batch, model.algorithm_, start)


def doubt_of(model: Any, batch: Batch, codes: NDArray, what: str) -> str:
    """Return why unseen entries may be far from what codes make of them, or nothing.

    Parameters
    ----------
    model : fitted estimator
    batch : Batch
        With missing entries.
    codes : ndarray of shape (n_samples, n_components)
    what : str
        What too few observed entries leave open, for the message.
    """
    seen: Any = batch.mask
    made, (low, high) = model.state_.dictionary.decode(codes), _span(model, batch)
    # Data that are all alike have no width, but a size.
    width = high - low or max(abs(low), abs(high))
    # Nothing is known of the size of features in which no row has an entry.
    known = (seen == 0) & (seen > 0).any(axis=0) & (seen > 0).any(axis=1, keepdims=True)
    outside = np.where(known, np.maximum(low - made, made - high), 0)
    far = ~(outside.max(axis=1, initial=0) <= width)
    if not far.any():
        return _undetermined(model, batch, what)
    value = made.flat[np.where(known, np.abs(made), 0).argmax()]
    return (
        f"In {int(far.sum())} of {len(far)} rows unseen entries are reconstructed as up to "
        f"{value:.2g}, where observed ones lie between {low:.4g} and {high:.4g}: too few "
        f"entries of these rows determine their codes; {RIDGE_ADVICE}."
    )


def holds_codes(codes: Any, n_atoms: int) -> bool:
    """Return whether a set of codes, or its penalty, holds every code back."""
    # A finite conjugate means just that.
    return bool(codes.l1 or np.isfinite(codes.conjugate(np.ones((1, n_atoms)))).all())


def _span(model: Any, batch: Batch) -> tuple[float, float]:
    """Return the least and the largest entry that were observed in learning, or in a batch."""
    learned = vars(model._learner).get("seen")
    low, high = observed_span(batch) if learned is None else learned.span
    return float(low), float(high)


def _undetermined(model: Any, batch: Batch, what: str) -> str:
    """Return how many rows have too few observed entries for their codes, or nothing."""
    seen: Any = batch.mask
    n_seen, r = (seen > 0).sum(axis=1), model._n_atoms_of_a_row
    loose = int(((n_seen > 0) & (n_seen < r)).sum())
    if not loose or holds_codes(model.algorithm_.objective.codes, r):
        return ""
    return (
        f"{loose} of {len(n_seen)} rows have fewer observed entries than the {r} atoms: "
        f"nothing determines {what}; {RIDGE_ADVICE}."
    )
