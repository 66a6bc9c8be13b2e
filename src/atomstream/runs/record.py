"""What a run left on disk, read to be looked at: never changed, no lock needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atomstream.callbacks import History
from atomstream.exceptions import InputError
from atomstream.persistence import read_model
from atomstream.readers import STANDARD_INPUT
from atomstream.runs.folder import RunFolder
from atomstream.runs.holdout import Holdout
from atomstream.runs.settings import Settings

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
    settings : Settings or None
    """

    path: Path
    model: Any
    notes: dict[str, Any]
    settings: Settings | None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of one sample, where samples are images."""
        shape = self.notes.get("shape")
        good = shape is not None and (len(shape) == 2 or (len(shape) == 3 and shape[2] == 3))
        return tuple(shape) if good else None  # type: ignore[arg-type]

    @property
    def names(self) -> list[str] | None:
        """The names of the features, where they have some."""
        known = getattr(self.model, "feature_names_in_", None)
        return self.notes.get("names") if known is None else list(known)

    @property
    def history(self) -> History:
        """The objective along the stream."""
        history = History()
        history.n_samples = self.notes.get("n_samples", np.empty(0)).tolist()
        history.objective = self.notes.get("objective", np.empty(0)).tolist()
        return history

    @property
    def held_out(self) -> Any:
        """Rows that were not learned from; None where there are none."""
        holdout = Holdout(0, 0)
        if "holdout" in self.notes:
            holdout.restore(self.notes["holdout"])
        return holdout.rows

    @property
    def complete(self) -> bool | None:
        """Whether all passes are done; None where there is no saying."""
        if self.settings is None or STANDARD_INPUT in self.settings.inputs:
            return None
        return self.notes["position"][0] >= self.settings.epochs


def open_record(path: Path) -> Record:
    """Open a run, or a model file.

    Raises
    ------
    InputError, ModelFileError
        Where there is none, or none that can be read.
    """
    if path.is_file():
        model, notes = read_model(path)
        if not hasattr(model, "state_"):
            raise InputError(f"{path} holds a model that has not learned anything.")
        return Record(path, model, notes, None)
    folder = RunFolder(path)
    folder.check()
    found = folder.load()
    if found is None:
        raise InputError(f"{path} has not learned anything yet; go on with: atomstream resume {path}")
    model, notes, _ = found
    return Record(path, model, notes, folder.settings())
