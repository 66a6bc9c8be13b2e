"""What a run left on disk, read to be looked at: never changed, no lock needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.callbacks import History
from atomstream.estimators._validation import check_X
from atomstream.exceptions import InputError
from atomstream.io.holdout import Holdout
from atomstream.runs.edits import EDITS, Edits, read_edits
from atomstream.runs.folder import RunFolder
from atomstream.runs.notes import history_of, making_sense, read_checkpoint
from atomstream.runs.task import VIEWS, Table, Task, View, view_of

ALL = 2**62  # rows of a table


@dataclass(frozen=True)
class Record:
    """A model, and what is known of how it came to be.

    Attributes
    ----------
    path : pathlib.Path
        Of the run or of the model file.
    model : fitted estimator
    notes : dict
        What the newest checkpoint holds besides the model; empty for a model file.
    task : type of Task, or None
        The kind of run; None for a model file.
    settings : Settings or None
    shape : tuple of int or None
        Of one sample, where samples are images.
    names : list of str or None
        Of the features, where they have some.
    history : History
        The objective along the stream.
    held_out : ndarray or csr_array of shape (n_rows, n_features), or None
        Rows that were not learned from.
    held_out_names : list of str or None
        What these are called, where they have names.
    skips : bool or None
        Whether rows that cannot be coded are left without codes; None is as in the settings.
    """

    path: Path
    model: Any
    notes: dict[str, Any]
    task: type[Task] | None
    settings: Any
    shape: tuple[int, ...] | None
    names: list[str] | None
    history: History
    held_out: Any
    held_out_names: list[str] | None = None
    skips: bool | None = None

    @property
    def view(self) -> View:
        """How such a model is looked at."""
        return view_of(self.model)

    @property
    def folder(self) -> Path:
        """Where results go: the folder of the run, or the one that the model file lies in."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def results(self) -> Path:
        """Where reports and edits go: the folder of the run, or one beside the model file."""
        return self.path if self.path.is_dir() else self.path.with_name(f"{self.path.stem}-report")

    @property
    def skips_bad_rows(self) -> bool:
        """Whether rows that cannot be coded are left without codes; by default an error."""
        asked = getattr(self.settings, "on_bad_line", "raise") == "skip"
        return asked if self.skips is None else self.skips

    @property
    def n_atoms(self) -> int:
        """Number of atoms, by which edits know them."""
        return 1 + max((row[0] for row in self.view.table(self, ALL).rows), default=-1)

    @property
    def edits(self) -> Edits:
        """What people have decided about the atoms; nothing for a model in memory."""
        path = self.results / EDITS
        on_disk = self.task is not None or self.path.is_file()
        if on_disk and path.exists():
            return read_edits(path, self.n_atoms)
        return Edits(0, {}, self.notes.get("run", ""), int(getattr(self.learner, "n_steps_", 0)))

    def table(self, most: int) -> Table:
        """Return the most important atoms as they read with the edits."""
        edits = self.edits
        every = self.view.table(self, ALL if edits.made else most)
        return edits.table(every, most)

    @property
    def learner(self) -> Any:
        """The dictionary estimator inside, or the model itself."""
        return getattr(self.model, "learner_", self.model)

    @property
    def objective(self) -> float:
        """Mean objective per sample of recent batches, before their update."""
        learner = self.learner
        return self.history.recent if self.history.objective else float(learner.batch_objective_)

    @property
    def complete(self) -> bool | None:
        """Whether all that was asked for is done; None where that cannot be said."""
        if self.task is None:
            return None
        return self.task.finished(self.settings, self.model, self.notes)


def open_record(path: Path) -> Record:
    """Open a run, or a model file.

    Raises
    ------
    InputError, ModelFileError
        Where there is none, or none that can be read.
    """
    task = settings = None
    if path.is_file():
        model, notes = read_checkpoint(path)
    else:
        if not path.exists():
            raise InputError(f"There is no {path}.")
        folder = RunFolder(path)
        folder.check()
        found = folder.load()
        if found is None:
            raise InputError(
                f"{path} has nothing saved yet: wait for its first checkpoint, or atomstream "
                f"resume {path}"
            )
        model, notes, _ = found
        task = folder.task()
        settings = folder.settings()
    if not model.__sklearn_is_fitted__():
        raise InputError(f"{path} holds a model that has not learned anything.")
    if task is not None:
        task.check_model(settings, model)
    with making_sense(path):
        return Record(path, model, notes, task, settings, *_beside(model, notes))


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
        For a model that has not learned, and for objects that no view is known of.
    """
    name = type(model).__name__
    if name not in VIEWS:
        raise InputError(f"No report is known of a {name}; give one of {', '.join(VIEWS)}.")
    if not model.__sklearn_is_fitted__():
        raise InputError(f"This {name} has not learned anything; call fit before report.")
    shape, names, empty, *_ = _beside(model, {})
    rows = None if held_out is None else check_X(model, held_out, reset=False)
    known = [str(label) for label in held_out.index] if hasattr(held_out, "iloc") else None
    past = empty if history is None else history
    return Record(Path(name), model, {}, None, None, shape, names, past, rows, known)


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
