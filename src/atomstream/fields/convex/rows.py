"""Atoms made of samples as a model of ``atomstream learn``."""

from dataclasses import dataclass
from typing import Any

from atomstream.base.parameters import whole
from atomstream.runs.settings import option
from atomstream.runs.tasks._rows_settings import RowsSettings


@dataclass(frozen=True)
class ConvexRows(RowsSettings):
    """What settings of runs on rows have for ``--model convex``."""

    representatives: int = option(
        150, "Number of samples that all atoms are made of (for --model convex).", whole()
    )

    def of_model(self) -> dict[str, Any]:
        """Return parameters that only this model has, where it is chosen."""
        more = super().of_model()
        if self.model != "convex":
            return more
        if self.representatives < self.atoms:
            raise ValueError(
                "The model 'convex' needs a representative for each atom, got "
                f"{self.representatives} representatives of {self.atoms} atoms."
            )
        return more | {"n_representatives": self.representatives}

    def why_nothing(self, name: str) -> str | None:
        """Return that the rows were too few for their representatives."""
        if self.model != "convex":
            return super().why_nothing(name)
        return f"{name} has fewer rows than representatives={self.representatives}."
