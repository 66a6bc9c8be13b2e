"""Models that learn from labels, in ``atomstream learn``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.exceptions import InputError
from atomstream.fields.labels.parameters import SUPERVISED
from atomstream.runs.settings import option
from atomstream.runs.tasks._rows_settings import RowsSettings


@dataclass(frozen=True)
class LabelRows(RowsSettings):
    """What settings of runs on rows have for ``--label``."""

    label: str | None = option(
        None,
        "Column of tables that holds the label of each row, or nothing: codes then predict it.",
        whole=True,
    )
    label_kind: str = option("classes", SUPERVISED["labels"].help, SUPERVISED["labels"])
    label_weight: float = option(0.3, SUPERVISED["weight"].help, SUPERVISED["weight"])
    classes: tuple[str, ...] = option((), SUPERVISED["classes"].help, whole=True)

    def check(self) -> None:
        """Raise ValueError where labels do not go with the model that is chosen."""
        if self.label is not None and self.model != "nmf":
            raise ValueError(f"--label needs --model nmf, got {self.model!r}.")
        super().check()

    @property
    def model_class(self) -> str:
        """Name of the class of the model."""
        return super().model_class if self.label is None else "SupervisedDictionary"

    @property
    def label_column(self) -> str | None:
        """Name of the column with labels that are learned from; None without one."""
        return self.label

    def of_model(self) -> dict[str, Any]:
        """Return the parameters that say what is predicted."""
        more = super().of_model()
        if self.label is None:
            return more
        known = {"labels": self.label_kind, "weight": self.label_weight}
        return more | known | {"classes": list(self.classes) or None}

    def labels_of(self, fields: NDArray) -> NDArray:
        """Return labels as the model takes them; what stands for a missing entry is no label."""
        form = self.input_options().numbers
        if self.label_kind == "classes":
            given = (None if it is None or form.is_missing(str(it)) else it for it in fields)
            return np.array([*given], object)
        try:
            labels = np.array([form.entry(field) for field in fields])
        except ValueError as error:
            raise InputError(f"--label {self.label}: {error}; needed are numbers.") from None
        return np.where(np.isin(labels, form.sentinels), np.nan, labels)
