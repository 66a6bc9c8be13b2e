"""What a run left on disk, or a model in memory, as a `Record` to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from atomstream.estimators._validation import check_X
from atomstream.exceptions import InputError
from atomstream.io.holdout import Holdout
from atomstream.looks.look import look_of
from atomstream.looks.record import Record
from atomstream.runs.folder import RunFolder
from atomstream.runs.notes import history_of, making_sense, read_checkpoint
from atomstream.watch.callbacks import History


def open_record(path: Path) -> Record:
    """Open a run, or a model file.

    Raises
    ------
    InputError, ModelFileError
        Where there is none, or none that can be read.
    """
    run = task = settings = None
    if path.is_file():
        model, notes = read_checkpoint(path)
    elif not path.exists():
        raise InputError(f"There is no {path}.")
    else:
        run = RunFolder(path)
        run.check()
        found = run.load()
        if found is None:
            raise InputError(
                f"{path} has nothing saved yet: wait for its first checkpoint, or atomstream "
                f"resume {path}"
            )
        model, notes, _ = found
        task, settings = run.task(), run.settings()
    if not model.__sklearn_is_fitted__():
        raise InputError(f"{path} holds a model that has not learned anything.")
    if task is not None:
        task.check_model(settings, model)
    with making_sense(path):
        return Record(model, path, notes, task, settings, run, *_beside(model, notes))


def record_of(model: Any, *, held_out: Any = None, history: History | None = None) -> Record:
    """Return what can be looked at of a model in memory.

    Parameters
    ----------
    model : fitted estimator
    held_out : array-like, frame or sparse of shape (n_rows, n_features), optional
        Rows that were not learned from.
    history : History, optional
        The objective along the stream.

    Raises
    ------
    InputError
        For a model that has not learned, and for objects that no look is known of.
    """
    look_of(model)  # refuses what cannot be looked at
    name = type(model).__name__
    try:
        check_is_fitted(model)
    except NotFittedError:
        sentence = f"This {name} has not learned anything; call fit before report."
        raise InputError(sentence) from None
    shape, names, empty, *_ = _beside(model, {})
    rows = None if held_out is None else check_X(model, held_out, reset=False)
    known = [str(label) for label in held_out.index] if hasattr(held_out, "iloc") else None
    past = empty if history is None else history
    beside = {"shape": shape, "names": names, "history": past}
    return Record(model, Path(name), held_out=rows, held_out_names=known, **beside)


def _beside(model: Any, notes: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the notes of a model hold, checked: shape, names, history, rows held out."""
    shape = tuple(notes.get("shape") or ())
    good = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    known = getattr(model, "feature_names_in_", notes.get("names"))
    names = None if known is None else [str(name) for name in known]
    holdout = Holdout(0, 0)
    if "holdout" in notes:
        holdout.restore(notes["holdout"])
    rows = holdout.rows
    n_features = getattr(getattr(model, "learner_", model), "n_features_in_", 0)
    if rows is not None and rows.shape[1] != n_features:
        raise ValueError(f"rows of {rows.shape[1]} features, the model has {n_features}")
    if names is not None and len(names) != n_features:
        raise ValueError(f"{len(names)} names for {n_features} features")
    if good and int(np.prod(shape)) != n_features:
        raise ValueError(f"samples of shape {shape} and {n_features} features")
    named = None if holdout.labels is None else [str(label) for label in holdout.labels]
    return shape if good else None, names, history_of(notes), rows, named
