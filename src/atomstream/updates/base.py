"""The interface of an updater, which declares the memory that it learns from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

from atomstream.base import Fixed
from atomstream.base.parameters import Part
from atomstream.coders import Coder, Codes
from atomstream.losses import Loss
from atomstream.memory import State, Statistics
from atomstream.penalties import Nonnegative, NonnegativeBall, Penalty, Simplex
from atomstream.problem import Batch, Clock, Needs, Objective

PATIENCE = 10.0
StateT = TypeVar("StateT", bound=State, contravariant=True)


class CodedBatch(NamedTuple):
    """Samples on some of the features, and the codes that explain them there."""

    batch: Batch
    codes: Codes
    features: slice | NDArray = slice(None)


class Updater(Part, ABC, Generic[StateT]):
    """Improves the dictionary, given what the memory holds.

    An updater of your own inherits from this class, names its ``statistics`` and defines
    ``update``. Where it is a dataclass with the fields ``fixed`` or ``damping``, the estimators'
    ``fixed_components`` and ``damping`` are put there; they are refused where it has none.

    Attributes
    ----------
    statistics : Statistics
        What it measures of a batch, and the memory that keeps it.
    needs : mapping, default={}
        What it needs of the loss and of the sets; see `atomstream.problem.objective.Needs`.
    coder : Coder, optional
        Where its codes come from if none is chosen; None, the default, is the fastest coder for
        loss and set.
    weighs_entries : bool, default=False
        Whether it learns rightly from batches whose mask holds weights of entries.
    creeps : bool, default=False
        Whether rounds over all of the data gain little each, but go on to do so for long.
    """

    statistics: ClassVar[Statistics]
    needs: ClassVar[Needs] = {}
    weighs_entries: ClassVar[bool] = False
    creeps: ClassVar[bool] = False
    coder: ClassVar[Coder | None] = None

    @property
    def folds(self) -> int:
        """Parts of the features, each explained by codes found on the others; 1: all by all."""
        return 1

    @property
    def descends_on_full_data(self) -> bool:
        """Whether updates after rounds over all of the data never raise their objective."""
        return False

    @property
    def fixed(self) -> Fixed:
        """Which atoms never change: the first so many, or those at these places."""
        return 0

    @property
    def patience(self) -> float:
        """Times n_components: samples without use after which an atom is re-seeded; inf: never."""
        return PATIENCE

    @abstractmethod
    def update(
        self, state: StateT, objective: Objective, clock: Clock, latest: Sequence[CodedBatch] = ()
    ) -> None:
        """Make the dictionary better for the memory; ``latest`` was absorbed last.

        ``latest`` has one item, or one for each part of the features where there are ``folds``.
        """

    def review(self, state: StateT) -> None:
        """Warn of what was learned in a call that is over; by default of nothing."""
        return

    def average_dictionaries(
        self, dictionaries: Sequence[Any], shares: NDArray, memory: Any
    ) -> Any:
        """Return one dictionary for the sums of several that learned apart from one start.

        By default their average, which the next update improves.

        Parameters
        ----------
        dictionaries : sequence of Dictionary
        shares : ndarray of shape (n_dictionaries,)
            Of the samples that each learned from; their sum is one.
        memory : Memory
            The average of what they keep of the stream.
        """
        return dictionaries[0].average(dictionaries, shares)

    def value(self, state: StateT, objective: Objective) -> float:
        """Return what ``update`` makes smaller: by default the surrogate."""
        return state.memory.value(state.dictionary)

    def sets(self, loss: Loss) -> tuple[Penalty, Penalty]:
        """Return its sets of nonnegative codes and of atoms, where none are chosen."""
        return Nonnegative(), Simplex() if loss.reconstruction == "positive" else NonnegativeBall()
