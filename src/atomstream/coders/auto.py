"""The coder that is fastest for a loss and a set of codes."""

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from atomstream.coders.base import Coder, Codes
from atomstream.coders.multiplicative import Multiplicative
from atomstream.coders.projected_gradient import ProjectedGradient
from atomstream.coders.pursuit import MatchingPursuit
from atomstream.coders.quadratic import ActiveSet
from atomstream.dictionaries.base import Dictionary
from atomstream.losses import Loss
from atomstream.penalties.base import Penalty
from atomstream.problem import Accuracy, Batch, Objective


@dataclass(frozen=True)
class Auto(Coder):
    """Code with what is fastest for the loss and the set of codes, or with what the updater asks.

    This is what ``coder="auto"`` stands for; models put the coder itself in its place.

    Parameters
    ----------
    tol : float, {"log", "root"} or callable, optional
        As of every `Coder`.
    """

    tol: Any = None
    handles_mask: ClassVar[bool] = True
    weighs_entries: ClassVar[bool] = True

    def chosen(self, loss: Loss, penalty: Penalty) -> Coder:
        """Return the fastest coder."""
        # Each line outranks those before: outside the squared loss one coder serves all sets.
        fastest: Any = ActiveSet if penalty.polyhedral else ProjectedGradient
        if penalty.most_nonzero is not None:
            fastest = MatchingPursuit
        if not loss.quadratic:
            fastest = Multiplicative
        return fastest(tol=self.tol)

    def encode(
        self,
        batch: Batch,
        dictionary: Dictionary,
        objective: Objective,
        accuracy: Accuracy,
        start: NDArray | None = None,
    ) -> Codes:
        """Return the codes of the fastest coder."""
        coder = self.chosen(objective.loss, objective.codes)
        return coder.encode(batch, dictionary, objective, accuracy, start)
