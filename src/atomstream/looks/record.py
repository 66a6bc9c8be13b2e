"""A model to look at, and what is known of how it came to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atomstream.callbacks import History

__all__ = ["Record"]


@dataclass(frozen=True)
class Record:
    """A model, and what is known of how it came to be; a model in memory comes alone.

    Attributes
    ----------
    model : fitted estimator
    path : pathlib.Path
        Of the run or of the model file.
    notes : dict
        What the newest checkpoint holds besides the model; empty for a model file.
    task : type of Task, or None
        The kind of run; None for a model file.
    settings : Settings or None
    run : RunFolder or None
        The folder of the run, where it is one.
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

    model: Any
    path: Path = Path()
    notes: dict[str, Any] = field(default_factory=dict)
    task: Any = None
    settings: Any = None
    run: Any = None
    shape: tuple[int, ...] | None = None
    names: list[str] | None = None
    history: History = field(default_factory=History)
    held_out: Any = None
    held_out_names: list[str] | None = None
    skips: bool | None = None

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
    def learner(self) -> Any:
        """The dictionary estimator inside, or the model itself."""
        return getattr(self.model, "learner_", self.model)

    @property
    def objective(self) -> float:
        """Mean objective per sample of recent batches, before their update."""
        return (
            self.history.recent if self.history.objective else float(self.learner.batch_objective_)
        )

    @property
    def complete(self) -> bool | None:
        """Whether all that was asked for is done; None where that cannot be said."""
        if self.task is None:
            return None
        finished: bool | None = self.task.finished(self.settings, self.model, self.notes)
        return finished
