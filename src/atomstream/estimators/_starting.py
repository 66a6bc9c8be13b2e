"""The start of learning: the dictionary that is made from the first batches of a stream."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import are_fixed, check_memory, in_order, order_for
from atomstream.dictionaries import Dictionary, Rows
from atomstream.estimators import _validation
from atomstream.estimators._given import warn_of_few_first_rows
from atomstream.estimators._settling import Settling
from atomstream.loop.first_dictionary import first_dictionary, inside, redraw
from atomstream.problem import Batch, joined


class Starting(Settling):
    """How a model begins: from atoms that are given, or from the first rows that count."""

    _settles: Callable[[int], bool]

    def _first_batches(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Make the start from the first batches of ``n_rows`` rows; return those that it took."""
        if self._learner.has_state:
            return self._project_start(batches)
        first = next((b for b in batches if b.mass > 0), None)
        if first is None:
            return []
        check_memory(self.n_components, first.X.shape[1])
        if self.algorithm_.objective.loss.trims and isinstance(self.init, str):
            return self._warmed_up(chain([first], batches), n_rows)
        self._start(self._starting_dictionary(first))
        if not isinstance(self.init, str):
            self._redraw_start(first)
        if first.has_entry_weights and (n_rows == np.inf or not self._settles(int(n_rows))):
            if n_rows == np.inf:
                still = are_fixed(self.algorithm_.updater.fixed, self.n_components)
                warn_of_few_first_rows(first, int((~still).sum()))
            self._current().learn_first(first, choose=isinstance(self.init, str))
        return [first]

    def _warmed_up(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Keep rows until outliers can be told from atoms; then make a start from all of them."""
        from atomstream.loop import n_warm_up_rows

        run, wanted = self._learner, n_warm_up_rows(self.n_components, n_rows)
        for batch in batches:
            run.waiting = [*run.waiting, batch]
            if sum(kept.X.shape[0] for kept in run.waiting) >= wanted:
                break
        else:
            return []
        taken, run.waiting = run.waiting, []
        self._start(self._starting_dictionary(joined(taken)))
        return list(taken)

    def _starting_from(self, atoms: NDArray) -> Any:
        """Return atoms as rows in the form that ``from_components`` takes."""
        return atoms

    def _starting_dictionary(self, batch: Batch) -> Dictionary:
        """Return the dictionary given, or one made from the first batch."""
        if isinstance(self.init, str):
            parts = self.algorithm_, self._learner.rng
            return first_dictionary(batch, self.n_components, self.init, *parts)
        shape = (self.n_components, batch.X.shape[1])
        init = in_order(self.init, order_for(self, self.init, "init"))
        given = _validation.check_start(init, shape).astype(batch.X.dtype)
        return Rows(inside(given, self.algorithm_))

    def _project_start(self, batches: Iterator[Batch]) -> list[Batch]:
        """Bring atoms that learning starts from into their set: codes of others are no good.

        Returns the batches that were looked at, up to the first one that counts.
        """
        dictionary, taken = self.state_.dictionary, list[Batch]()
        if type(dictionary) is Rows:
            dictionary.assign(inside(dictionary.atoms(), self.algorithm_))
        for batch in batches:
            taken.append(batch)
            if batch.mass > 0:
                self._redraw_start(batch)
                break
        return taken

    def _redraw_start(self, batch: Batch) -> None:
        """Replace given atoms that add nothing to others by rows of the first batch."""
        run = self._current()
        run.n_reseeded += redraw(run.state, batch, run.algorithm, run.rng)

    def _start(self, dictionary: Any) -> None:
        """Begin to learn from a dictionary, with an empty memory."""
        self._current().start(dictionary)
