"""Models that turn data of one kind into batches of rows, and hand these to a learner inside."""

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from copy import copy
from dataclasses import KW_ONLY, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Choice, Counted, RandomSource, generator
from atomstream.base.saved_fields import part
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._calls import blame
from atomstream.estimators._estimator import Estimator, estimator, view
from atomstream.estimators._given import are_shards
from atomstream.estimators._sklearn import CallbackSupportMixin
from atomstream.estimators.dictionary_learning import OnlineDictionaryLearning
from atomstream.estimators.nmf import OnlineNMF
from atomstream.estimators.registry import SCHEDULES, resolve

LEARNER = part("learner_", OnlineDictionary)


@estimator
class LearnerInside(CallbackSupportMixin, Estimator):
    """A model with a learner inside: it learns what the learner learns, and shows what that knows.

    Attributes
    ----------
    learner_ : OnlineDictionary
        Learns from rows. Every call learns with a copy, so that one that raises changes nothing.
    """

    _: KW_ONLY
    alpha: float = 0.0
    random_state: RandomSource = None

    learner_: Any = field(init=False)
    nonnegative: bool = field(init=False)  # a parameter of some

    importance_ = view(
        "learner_.importance_",
        "Share of each atom in the absolute codes times its length, (n_components,).",
    )
    n_steps_ = view("_n_steps", "Number of steps of the learner.")

    @property
    def components_(self) -> NDArray:
        """The atoms in the shape of the data, read-only."""
        check_is_fitted(self)
        atoms = self.learner_.components_
        return atoms.reshape(len(atoms), *self._atom_shape)

    @property
    def _atom_shape(self) -> tuple[int, ...]:
        """Shape of an atom."""
        return (self.learner_.n_features_in_,)

    @property
    def _n_steps(self) -> int:
        """Number of steps of the learner, 0 before the first."""
        return self.learner_.n_steps_ if self.__sklearn_is_fitted__() else 0

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(vars(self).get("learner_"), "state_")

    def _teach(
        self,
        batches: Generator[Any] | Any,
        n_batches: int | None,
        horizon: float = np.inf,
        *,
        how: Any = None,
        **settings: Any,
    ) -> None:
        """Learn from batches with these settings of the learner, as `OnlineNMF.fit_stream`."""
        self.learner_ = copy(self.learner_).set_params(**settings)
        stream: AbstractContextManager[Any] = nullcontext()
        if not are_shards(batches):
            stream, batches = closing(batches), Counted(batches, n_batches)
        with self._followed(self.learner_), stream:
            self.learner_.fit_stream(batches, horizon=horizon, **(how or {}))

    @contextmanager
    def _followed(self, learner: Any) -> Iterator[None]:
        """Let a learner work in the place of this model, which callbacks and messages are told."""
        try:
            learner.set_callbacks(*getattr(self, "_skl_callbacks", ()))
            with blame(self):
                yield
        finally:
            learner.set_callbacks()

    @property
    def _kind(self) -> type[OnlineNMF] | type[OnlineDictionaryLearning]:
        """What learns, where a setting says whether codes and atoms are nonnegative."""
        return OnlineNMF if self.nonnegative else OnlineDictionaryLearning

    def _choices(self) -> dict[str, Choice]:
        """Return what the settings of the learner became; a model adds its own."""
        learner = vars(self).get("learner_")
        return {} if learner is None else learner._choices()

    def _check_kind(self) -> None:
        """Refuse a model that has learned atoms of the other kind."""
        self._refuse_change(nonnegative=type(self.learner_) is OnlineNMF)

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        if hasattr(self, "schedule"):
            resolve("schedule", self.schedule, SCHEDULES, "__call__")


def drawn_seed(random_state: RandomSource) -> int:
    """Return a seed drawn from a source of randomness, which later draws leave as it is."""
    return int(generator(random_state).integers(2**63))
