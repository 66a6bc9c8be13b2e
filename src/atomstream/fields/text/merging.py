"""Topics that say the same, joined into one."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.estimators._calls import Transaction
from atomstream.fields.text.figures import TopicFigures


class TopicMerging(TopicFigures):
    """The method of a topic model that makes fewer topics of those that it has."""

    anchors: Mapping[str, Sequence[str]] | None

    def merge(self, topics: Sequence[int]) -> Self:
        """Join topics that say the same into one, in the place of the first of them.

        It is their mean, weighted by the words that each explains, and the memory is as if their
        codes had been one code from the start; the topics behind them move up. ``n_components``
        becomes smaller. (Two models do not merge: their topics are others.)

        Parameters
        ----------
        topics : sequence of int
            Numbers of two topics or more, at most one of them with anchors.
        """
        check_is_fitted(self)
        groups = _groups_of(topics, self.learner_.n_components, len(self.anchors or ()))
        with Transaction(self):
            learner = copy(self.learner_).set_params(n_components=len(groups))
            learner._learner = copy(learner._learner)
            learner._learner.join(groups)
            self.learner_, self.n_components = learner, len(groups)
        return self


def _groups_of(topics: Sequence[int], n_components: int, n_anchors: int) -> NDArray:
    """Return which topics are one after a merge, (n_groups, n_components), in their order.

    Raises
    ------
    ValueError
        For anything but numbers of two topics or more, and for several with anchors.
    """
    joined = np.unique(np.asarray(topics))
    good = joined.dtype.kind in "iu" and len(joined) == np.size(topics) > 1
    if not good or not 0 <= joined[0] <= joined[-1] < n_components:
        raise ValueError(
            f"topics must be different numbers from 0 to {n_components - 1}, two or more, got "
            f"{topics!r:.80}."
        )
    if n_anchors > joined[1]:
        raise ValueError(f"Topics {joined[0]} and {joined[1]} have anchors of their own.")
    groups = np.eye(n_components)
    groups[joined[0], joined] = 1
    return np.delete(groups, joined[1:], axis=0)
