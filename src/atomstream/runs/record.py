"""What a run left on disk, read to be looked at: never changed, no lock needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.callbacks import History
from atomstream.exceptions import CorruptModelError, InputError
from atomstream.io.codec import read_model
from atomstream.io.inputs import STANDARD_INPUT
from atomstream.runs.folder import RunFolder
from atomstream.runs.holdout import Holdout
from atomstream.runs.series_settings import SeriesSettings
from atomstream.runs.settings import NetworkSettings, WalkSettings

__all__ = ["Record", "open_record"]


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
    settings : Settings, NetworkSettings or None
    shape : tuple of int or None
        Of one sample, where samples are images.
    names : list of str or None
        Of the features, where they have some.
    history : History
        The objective along the stream.
    held_out : ndarray or csr_array of shape (n_rows, n_features), or None
        Rows that were not learned from.
    """

    path: Path
    model: Any
    notes: dict[str, Any]
    settings: Any
    shape: tuple[int, ...] | None
    names: list[str] | None
    history: History
    held_out: Any

    @property
    def objective(self) -> float:
        """Mean objective per sample of recent batches, before their update."""
        learner = getattr(self.model, "learner_", self.model)
        return self.history.recent if self.history.objective else float(learner.batch_objective_)

    @property
    def complete(self) -> bool | None:
        """Whether all passes are done; None where there is no saying."""
        if self.settings is None or STANDARD_INPUT in self.settings.inputs:
            return None
        if isinstance(self.settings, WalkSettings | SeriesSettings):
            return True  # written when all was done
        if isinstance(self.settings, NetworkSettings):
            return bool(self.model.n_steps_ >= self.settings.batches)
        return self.notes["position"][0] >= self.settings.epochs


def open_record(path: Path) -> Record:
    """Open a run, or a model file.

    Raises
    ------
    InputError, ModelFileError
        Where there is none, or none that can be read.
    """
    settings = None
    if path.is_file():
        model, notes = read_model(path)
    else:
        folder = RunFolder(path)
        folder.check()
        found = folder.load()
        if found is None:
            raise InputError(
                f"{path} has nothing saved yet: wait for its first checkpoint, or atomstream resume {path}"
            )
        model, notes, _ = found
        settings = folder.settings()
    if not model.__sklearn_is_fitted__():
        raise InputError(f"{path} holds a model that has not learned anything.")
    try:
        return Record(path, model, notes, settings, *_beside(model, notes))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise CorruptModelError(f"{path} has notes that make no sense: {error!r:.200}.") from None


def _beside(model: Any, notes: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the notes of a model hold, checked: shape, names, history, rows held out."""
    shape = tuple(notes.get("shape") or ())
    good = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    known = getattr(model, "feature_names_in_", notes.get("names"))
    names = None if known is None else [str(name) for name in known]
    history, holdout = History(), Holdout(0, 0)
    history.n_samples = notes.get("n_samples", np.empty(0)).tolist()
    history.objective = notes.get("objective", np.empty(0)).tolist()
    if "holdout" in notes:
        holdout.restore(notes["holdout"])
    rows, n_features = holdout.rows, getattr(getattr(model, "learner_", model), "n_features_in_", 0)
    if rows is not None and rows.shape[1] != n_features:
        raise ValueError(f"rows of {rows.shape[1]} features, the model has {n_features}")
    if names is not None and len(names) != n_features:
        raise ValueError(f"{len(names)} names for {n_features} features")
    if good and int(np.prod(shape)) != n_features:
        raise ValueError(f"samples of shape {shape} and {n_features} features")
    return shape if good else None, names, history, rows
