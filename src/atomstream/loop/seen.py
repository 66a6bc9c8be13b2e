"""What a learner keeps of past batches besides its memory: the span of entries, and means."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from atomstream.base.saved_fields import array
from atomstream.problem import Batch, observed_span


@dataclass(frozen=True, eq=False)
class Seen:
    """Figures of the rows that came; a value, which its methods leave as it is.

    Attributes
    ----------
    span : ndarray of shape (2,)
        The least and the largest observed entry.
    mean_code, mean_row : ndarray of shape (n_components,) and (n_features,)
        Of the past, by the weights of the memory; empty where columns keep their means.
    """

    SAVED: ClassVar = (
        *(array("span", "2", np.float64), array("mean_code", "m", np.float64)),
        array("mean_row", "n", np.float64),
    )

    span: NDArray = field(default_factory=lambda: np.array([np.inf, -np.inf]))
    mean_code: NDArray = field(default_factory=lambda: np.empty(0))
    mean_row: NDArray = field(default_factory=lambda: np.empty(0))

    def spanning(self, batch: Batch) -> Self:
        """Return the figures with the span of a batch, too."""
        (low, high), (least, most) = observed_span(batch), self.span
        return replace(self, span=np.array([min(low, least), max(high, most)]))

    def averaged(self, codes: NDArray, rows: NDArray, row_weights: NDArray, weight: float) -> Self:
        """Return the figures whose means have moved to those of a batch, by its weight."""

        def moved(old: NDArray, newest: NDArray) -> NDArray:
            mean = np.average(newest.astype(np.float64), axis=0, weights=row_weights)
            return (1 - weight) * old + weight * mean if len(old) else mean

        means = moved(self.mean_code, codes), moved(self.mean_row, rows)
        return replace(self, mean_code=means[0], mean_row=means[1])
