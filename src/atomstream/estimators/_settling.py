"""Rounds over all rows, in memory or read anew in each: how learning from data at rest ends."""

from collections.abc import Callable, Iterable
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, Samples
from atomstream.estimators._calls import Notifier, Transaction
from atomstream.estimators._fitting import Fitting
from atomstream.estimators._given import as_stream, rows_and_weights
from atomstream.estimators._sklearn import with_callbacks
from atomstream.estimators._validation import check_observed, check_weights, cut, warn_if_unsettled
from atomstream.loop import MAX_ROUNDS, Learner, Progress
from atomstream.problem import Batch
from atomstream.streams.on_disk import OnDisk, at_once

SETTLING_ROWS = 4096  # rows that are coded at a time in a round
MAX_USAGE_ROWS = 1024  # evenly spread, that tell how much atoms are used where no round does


class Settling(Fitting):
    """The public methods that go on in rounds over all rows, until one gains next to nothing."""

    _updated_learner: Callable[[], Learner]
    _current: Callable[[], Learner]
    _learn_scale: Callable[..., None]
    _row_facts: Callable[..., dict[str, NDArray | None]]
    n_components: int
    init: Any = "auto"  # and what follows: settled where they are no parameters
    fixed_components: Any = 0
    _progress: Any  # of the newest step, while callbacks look at it

    def settle(self, X: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Go on from what was learned, in rounds over all rows, until one gains next to nothing.

        This is how ``fit`` ends with ``n_epochs=None`` (`atomstream.loop.settling.rounds`), for
        what was learned in another way, such as from a stream of which a sample is in memory. The
        past is forgotten: the dictionary comes to rest on these rows.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional

        Warns
        -----
        NotConvergedWarning
            Where the last of 500 rounds still gained.
        """
        check_is_fitted(self)
        self._settled(X, sample_weight)
        return self

    @with_callbacks
    def settle_stream(
        self, batches: Iterable[Any], *, n_batches: int | None = None, column: str | None = None
    ) -> Self:
        """Add the rows of a stream to a round over all rows; the atoms stay as they are.

        `end_round` improves them when all rows have come. This is `settle` for rows that do not fit
        into memory: nothing is kept of them but sums, with which a model is saved. Any other step
        gives the round up. Updaters that settle on no data (as under robust losses)
        pass over the rows.

        Parameters
        ----------
        batches : iterable of array-likes of shape (n_samples, n_features), or of pairs
            As in `fit_stream`.
        n_batches : int, optional
            How many to take at most, as in `fit_stream`.
        column : str, optional
            Where batches are mappings, the key of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> from atomstream import OnlineNMF, streams
        >>> X = np.random.default_rng(0).random((300, 8))
        >>> model = OnlineNMF(3, random_state=0).fit_stream(streams.batches(X))
        >>> while not model.settle_stream(streams.batches(X)).end_round():
        ...     pass
        >>> model.settling_.n_rounds > 1
        True
        """
        check_is_fitted(self)
        stream, n_batches = as_stream(batches, n_batches)
        after = Notifier(self, n_batches)
        for item in stream:
            X, weights = rows_and_weights(item, column, several=self._several)
            with Transaction(self):
                rows = self._rows(X, reset=False)
                weights = check_weights(weights, rows)
                known = self._row_facts(X if hasattr(X, "iloc") else rows, weights, None, None, 0)
                self._updated_learner()
                progress = self._learner.add_to_round(self._to_batch(rows, **known))
            if after(progress):
                break
        after.close()
        return self

    def end_round(self) -> bool:
        """Improve the atoms by the rows of a round, as `settle_stream` has added them.

        Returns
        -------
        bool
            Whether further rounds would gain next to nothing.
        """
        check_is_fitted(self)
        with Transaction(self):
            self._updated_learner()
            return self._learner.end_round()

    @property
    def settling_(self) -> Any:
        """The rounds that `settle_stream` has begun; None where another step was taken since."""
        check_is_fitted(self)
        return vars(self._learner).get("rounds")

    # -- rows in memory, or read as they are needed

    def _rows_to_learn(self, X: Any) -> tuple[Any, Callable[..., Batch]]:
        """Return rows, checked if they are in memory, and what makes a batch of some of them."""
        if not isinstance(X, OnDisk):
            return self._rows(X, reset=True), self._to_batch
        self._rows(X[:1], reset=True)
        return X, lambda part, **known: self._to_batch(self._rows(part, reset=False), **known)

    def _learn_whole_scale(self, rows: Any, weights: NDArray | None) -> None:
        """Learn the scale of the columns from all rows, where they have one."""
        if not isinstance(rows, OnDisk):
            self._learn_scale(rows, weights, whole=True)
        elif getattr(self, "scale", "none") != "none":
            for start in range(0, rows.shape[0], SETTLING_ROWS):
                some = slice(start, start + SETTLING_ROWS)
                part = None if weights is None else weights[some]
                self._learn_scale(self._rows(rows[some], reset=False), part)

    def _mass(self, rows: Any, weights: NDArray | None) -> float:
        """Return the mass of all rows; on disk those without an observed entry count, too."""
        stored = isinstance(rows, OnDisk)
        if stored and weights is not None and weights.ndim == 2:
            weights = weights.max(axis=1)  # a row counts as much as its largest entry
        return check_observed(rows, weights, missing=self.missing and not stored)

    def _settle_all(
        self, rows: Any, known: dict[str, NDArray | None], after: Callable[[Progress | None], bool]
    ) -> None:
        """End a fit in rounds over all of its rows."""
        if not isinstance(rows, OnDisk):
            start = isinstance(self.init, str)
            self._settle(self._blocks(rows, known), after, choose=start)
            return
        stored: Any = rows
        make, run = self._rows_to_learn(rows)[1], self._current()
        n_rows = min(SETTLING_ROWS, at_once(rows.shape[1]))
        for _ in range(MAX_ROUNDS):
            latest = None
            for batch in cut(stored, known, n_rows, 1, None, make):
                latest = run.add_to_round(batch) or latest
                if after(None):
                    return
            if run.end_round() or after(latest):
                return
        warn_if_unsettled(MAX_ROUNDS, run, [])

    def _measure_usage(
        self, rows: Any, known: dict[str, NDArray | None], make: Callable[..., Batch]
    ) -> None:
        """Let the usage of the atoms be that of codes at the end of a fit that made no rounds."""
        some = slice(None, None, -(-rows.shape[0] // MAX_USAGE_ROWS))
        facts = {name: None if part is None else part[some] for name, part in known.items()}
        self._current().measure_usage(make(rows[some], **facts))

    @with_callbacks
    def _settled(self, X: Samples, sample_weight: ArrayLike | None) -> bool:
        """Go on in rounds over all rows; return whether they came to their end."""
        with Transaction(self):
            rows = self._rows(X, reset=False)
            weights = check_weights(sample_weight, rows)
            check_observed(rows, weights, missing=self.missing)
            known = self._row_facts(X if hasattr(X, "iloc") else rows, weights, None, None, 0)
            self._updated_learner()
            after = Notifier(self)
            ended = self._settle(self._blocks(rows, known), after)
            after.close()
        return ended

    def _blocks(self, rows: Any, known: dict[str, NDArray | None]) -> list[Batch]:
        """Return all rows that count, in blocks that are coded at a time."""
        blocks = cut(rows, known, SETTLING_ROWS, 1, None, self._to_batch)
        return [block for block in blocks if block.mass > 0]

    def _settle(
        self, blocks: list[Batch], after: Callable[[Progress | None], bool], **limits: Any
    ) -> bool:
        """Alternate over all data, to limits; return whether ``after`` let it end by itself."""
        n_rounds = self._current().settle(blocks, after, **limits)
        warn_if_unsettled(n_rounds, self._learner, blocks)
        return n_rounds is not None
