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
        return fastest_coder(loss, penalty)[0](tol=self.tol)

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


def fastest_coder(loss: Loss, penalty: Penalty) -> tuple[type[Any], str]:
    """Return the class of the fastest coder for a loss and a set of codes, and why it is that."""
    # Outside the squared loss one coder serves all sets.
    if not loss.quadratic:
        return Multiplicative, "the loss is not quadratic"
    if penalty.most_nonzero is not None:
        return MatchingPursuit, "codes have at most so many entries"
    if penalty.polyhedral:
        return ActiveSet, "the set of codes is polyhedral"
    return ProjectedGradient, "the set of codes is not polyhedral"
