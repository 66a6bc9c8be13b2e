"""What a run left on disk, or a model in memory, to look at; the report of a model."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from atomstream.estimators._validation import check_X
from atomstream.exceptions import InputError
from atomstream.io.feed import Holdout
from atomstream.looks import Record, look_of
from atomstream.looks.pages import write_page
from atomstream.runs import RunFolder, check_model, making_sense, read_checkpoint
from atomstream.watch import History, history_of


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
        # A run writes its settings at once and its first checkpoint up to a minute later.
        if found is None:
            advice = "wait for its first checkpoint"
            if not run.at_work:
                advice = f"its process has ended; begin again with: atomstream resume {path}"
            raise InputError(f"{path} has nothing saved yet: {advice}.")
        model, notes, _ = found
        task, settings = run.task(), run.settings()
    if not model.__sklearn_is_fitted__():
        raise InputError(f"{path} holds a model that has not learned anything.")
    # The settings are a file that people edit: they may no longer be those of the model beside
    # them.
    if settings is not None:
        check_model(settings, model)
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
    # Names of rows come from the table they were given in; an array has none.
    known = [str(label) for label in held_out.index] if hasattr(held_out, "iloc") else None
    past = empty if history is None else history
    beside = {"shape": shape, "names": names, "history": past}
    return Record(model, Path(name), held_out=rows, held_out_names=known, **beside)


def _beside(model: Any, notes: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the notes of a model hold, checked: shape, names, history, rows held out."""
    shape = tuple(notes.get("shape") or ())
    # A sample is a picture only as height and width, perhaps with three colours; other shapes, as
    # of a tensor, are drawn by their own look.
    good = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    known = getattr(model, "feature_names_in_", notes.get("names"))
    names = None if known is None else [str(name) for name in known]
    holdout = Holdout(0, 0)
    # Notes come from a file: all that follows asks whether they fit the model, for a picture drawn
    # from notes of another model would mislead.
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


def report(
    model: Any, path: str | Path, *, held_out: Any = None, history: History | None = None
) -> Path:
    """Write a report on a model: one page with all pictures inside, and each picture as a file.

    It is the report that ``atomstream report`` writes of a saved model. (It is a function and no
    method because it also reads runs, of which models know nothing.)

    Parameters
    ----------
    model : fitted estimator
        Of any kind.
    path : path
        A folder, made if needed: it receives ``report.html`` and ``figures/``.
    held_out : array-like, frame or sparse of shape (n_rows, n_features), optional
        Rows that the model has not learned from; the report then says how well it explains them.
        For models of rows.
    history : callbacks.History, optional
        The callback that followed the fit; the report then shows the learning curve.

    Returns
    -------
    pathlib.Path
        Path of the page.

    Raises
    ------
    InputError
        For a model that has not learned anything, and where an optional library is missing.
    ValueError
        For a path that names a file.

    Examples
    --------
    >>> import atomstream, tempfile
    >>> model = atomstream.OnlineNMF(2, random_state=0).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomstream.report(model, folder).name
    'report.html'
    """
    folder = Path(path)
    if folder.suffix in (".html", ".htm") or folder.is_file():
        raise ValueError(f"path must name a folder for the report, got {str(path)!r}.")
    record = record_of(model, held_out=held_out, history=history)
    return write_page(record, folder, f"a {type(model).__name__}")
