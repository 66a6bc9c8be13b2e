"""The report of a model in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from atomstream.looks.pages import write_page
from atomstream.runs.record import record_of
from atomstream.watch.callbacks import History


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
