"""Online convex matrix factorization: the one loop with atoms made of a few kept samples."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, Samples, counted
from atomstream.estimators import registry
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._estimator import estimator, view
from atomstream.estimators._sklearn import with_callbacks
from atomstream.fields.convex.hulls import Hulls
from atomstream.fields.convex.parameters import CODES, CONVEX
from atomstream.fields.convex.representatives import (
    Representatives,
    Share,
    check_labels,
    counting_rows,
    places_of,
    read_only,
    row_names,
    stacked_rows,
)
from atomstream.fields.convex.theorem import ConvexTheorem
from atomstream.fields.convex.update import HullUpdate, RowWise, nearest_in_hulls, starting_hulls
from atomstream.loop import Learner, Whole
from atomstream.losses import Squared
from atomstream.penalties.interval import Free
from atomstream.problem import Batch, Objective
from atomstream.watch import relative_move

CLUSTERED_ROWS = 20  # for each representative, where data are at hand


@estimator
class OnlineConvexMF(ConvexTheorem, OnlineDictionary):
    r"""Dictionary learning on a stream whose atoms are convex combinations of a few kept samples.

    Minimises the mean over the stream of
    :math:`\tfrac12 \|x - hD\|_2^2 + alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|^2` over codes h and
    atoms, each in the convex hull of its own representatives: a fixed number of samples of the
    stream. Every new row is offered to an atom and takes the place of one of its representatives
    where that lowers the objective most, or of none. So every atom reads as "62 % of this row,
    38 % of that row".

    Parameters
    ----------
    n_components : int, default=5
        Number of atoms.
    n_representatives : int, default=150
        Number N of representatives of all atoms together. The first N rows of the stream are
        clustered by k-means: the sizes of the clusters are those of the atoms' representative sets
        forever. Where `fit` shuffles the rows, the first 20 N are clustered, and N of them, in
        proportion to the sizes of their clusters, are the first representatives.
    assignment : {"code", "random", "labels", "pooled"}, default="code"
        Which atom a new row is offered to: the atom with the largest coefficient in its code (R_r
        of the paper); one drawn at random (R_u); that of its known label, given as ``y`` (the case
        that the theory of R_r covers); or all atoms, which then share one set of representatives.
    damping : float, default=0.0
        Added to the diagonal of the averaged gram of the codes, the paper's kappa_1.
    codes : {"free", "nonnegative", "simplex"}, default="free"
        Set of the codes: signed as in the paper, nonnegative, or shares that sum to one.
    missing : bool, default=False
        Whether NaN stands for an entry that was not observed: codes are fitted to the others, and
        gaps of a row, as part of the memory or as a representative, are filled by its
        reconstruction (of the first N rows by the mean of their cluster).
        `Representatives.observed` says which entries were observed.
    alpha : float or "auto", default="auto"
        Strength of the l1 penalty on the codes, the paper's lambda; "auto" as in
        `OnlineDictionaryLearning`.
    ridge : float, default=0.0
        As in `OnlineNMF`.
    schedule : str or callable, default="harmonic"
        How much a row weighs in the memory: "harmonic", "power", "polynomial", "log_polynomial",
        "constant" or a part of `atomstream.schedules`. Every row is a step.
    batch_size : int, default=256
        Rows that `fit` learns from at a time; changes only speed and how often callbacks run.
    n_epochs : int, default=1
        Passes of `fit` over the data.
    shuffle : bool, default=True
        As in `OnlineNMF`.
    n_jobs, max_time : int and float, optional
        As in `OnlineNMF`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms: ``weights_`` times all representatives, those of the first atom first.
    weights_ : ndarray of shape (n_components, n_representatives)
        Nonnegative rows of sum one, zero outside the atom's own representatives.
    representatives_ : list of Representatives
        One per atom; of "pooled" all are the same.
    n_swaps_ : int
        How often a row has become a representative, after the first N.
    classes_ : ndarray
        The labels of the atoms, with ``assignment="labels"``.
    importance_, memory_, n_steps_, n_samples_seen_, batch_objective_
        As in `OnlineNMF`; every row is a step.

    Raises
    ------
    ValueError
        As `OnlineNMF`, and for fewer distinct rows than atoms; the model stays as it was.
    NotFittedError
        Where atoms are asked for before N rows have come to `partial_fit`.

    References
    ----------
    Agarwal, Peng, Milenkovic (2019), "Online convex matrix factorization with representative
    regions", Algorithms 1 and 2. docs/algorithms/convex-mf.md maps each step to its function.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineConvexMF
    >>> rng = np.random.default_rng(0)
    >>> centres = rng.uniform(0, 20, (3, 8))
    >>> X = centres[rng.integers(3, size=500)] + rng.standard_normal((500, 8))
    >>> model = OnlineConvexMF(3, n_representatives=30, alpha=0.05, random_state=0).fit(X)
    >>> [round(part.share, 2) for part in model.explain(0, top=3)]  # doctest: +SKIP
    [0.31, 0.22, 0.17]
    >>> bool((X[model.representatives_[0].ids] == model.representatives_[0].samples).all())
    True
    """

    PARAMETERS: ClassVar = CONVEX
    LEARNED = (*OnlineDictionary.LEARNED, "classes_")
    TOLERANCE = 0.0

    n_swaps_ = view(
        "state_.dictionary.n_swaps", "How often a row became a representative, after the first N."
    )

    n_components: int = 5
    _: KW_ONLY
    n_representatives: int = 150
    assignment: str = "code"
    alpha: registry.AlphaChoice = "auto"  # type: ignore[assignment]
    damping: float = 0.0
    codes: str = "free"
    schedule: registry.ScheduleChoice = "harmonic"
    n_epochs: int = 1
    missing: bool = False

    def _make_algorithm(self) -> Any:
        """Return the parts that the parameters stand for."""
        sets = {name: registry.SETS[name] for name in CODES}
        part = registry.resolve("codes", self.codes, sets, "prox")
        codes = registry.with_elastic_net(part, self.alpha, self.ridge)
        coder = registry.resolve_coder("auto", Squared(), codes)
        objective, updater = Objective(Squared(), codes, Free()), HullUpdate(float(self.damping))
        parts = objective, coder, self._assign, updater, Whole()
        return RowWise(*parts, missing=bool(self.missing))

    def _assign(self, batch: Batch, rng: np.random.Generator) -> NDArray:
        """Return the atom each row is offered to, -1 for that with the largest coefficient."""
        n = batch.X.shape[0]
        if self.assignment == "random":
            return (rng.random(n) * self.n_components).astype(np.int64)
        if self.assignment == "labels":
            return places_of(np.asarray(batch.labels), self.classes_)
        return np.full(n, 0 if self.assignment == "pooled" else -1)

    # -- learning

    @with_callbacks
    def fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch; with fewer than N rows all of them are representatives.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Labels, as many different ones as atoms, for ``assignment="labels"``; else ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What a row counts in the memory: one step, so no repetition; 0 leaves it out.
        ids : array-like of shape (n_samples,), optional
            What to call the rows; by default the index of a frame, or their numbers.
        mask : array-like of bool of shape (n_samples, n_features), optional
            True where an entry was observed, as in `OnlineNMF`.
        entry_weight : None
            Refused: a representative is a row as it came.
        """
        given = self._validated(X, y, sample_weight, mask, entry_weight, fresh=True)
        return self._fit(*given, ids)

    def partial_fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        time: object = None,
    ) -> Self:
        """Go on with these rows, one by one; the first N rows are kept until they are complete.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y, sample_weight : array-like of shape (n_samples,), optional
        ids, mask, entry_weight : array-like, optional
            All as in `fit`.
        time : number, datetime or numpy.datetime64, optional
            As in `OnlineNMF`.
        """
        given = self._validated(X, y, sample_weight, mask, entry_weight)
        return self._partial_fit(*given, ids, time)

    def predict(self, X: Samples) -> NDArray:
        """Return the atom with the largest coefficient for each sample, or its label.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        found = self.transform(X).argmax(axis=1)
        return self.classes_[found] if hasattr(self, "classes_") else found

    # -- what was learned

    @property
    def weights_(self) -> NDArray:
        """Shares of the representatives in the atoms, (n_components, n_representatives)."""
        check_is_fitted(self)
        return read_only(self.state_.dictionary.weights)

    @property
    def representatives_(self) -> list[Representatives]:
        """The representatives of each atom."""
        check_is_fitted(self)
        return Representatives.of(self.state_.dictionary)

    def explain(self, atom: int, top: int = 5) -> list[Share]:
        """Return what an atom is made of, largest share first.

        Parameters
        ----------
        atom : int
            Its number, from 0.
        top : int, default=5
            At most so many; shares of zero are left out.
        """
        check_is_fitted(self)
        return Share.of(self.state_.dictionary, atom, top)

    def stationarity(self, X: Samples) -> float:
        r"""Return how far the atoms are from a critical point of the mean loss over their hulls.

        With G the gradient of the mean loss at optimal codes and L the largest eigenvalue of their
        Gram matrix, :math:`\|D - P(D - G/L)\| / \|D\|`, P the projection on the hulls of the
        representatives: 0 exactly at critical points.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        """
        delta = self._measured(X)
        hulls = self.state_.dictionary
        return relative_move(delta, hulls, lambda rows, step: nearest_in_hulls(hulls, rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.assignment == "labels"
        return tags

    # -- settings

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.n_representatives < self.n_components:
            raise ValueError(
                f"n_representatives must be at least n_components={self.n_components}, one per "
                f"atom, got {self.n_representatives}."
            )

    def _updated_learner(self) -> Learner:
        run = super()._updated_learner()
        known = [batch.labels for batch in run.waiting if batch.labels is not None]
        labelled = hasattr(self, "classes_") or bool(known)
        same = labelled == (self.assignment == "labels")
        if run.has_state:
            shared = run.state.dictionary.sizes is None
            same &= shared == (self.assignment == "pooled")
        if not same and (run.has_state or run.waiting):
            raise ValueError(
                f"assignment={self.assignment!r} is of another kind than the run began with; call "
                "fit to start over."
            )
        return run

    # -- files

    def _validate_learned(self) -> None:
        super()._validate_learned()
        run = self._learner
        good = not run.has_state or type(run.state.dictionary) is Hulls
        if run.has_state and self.assignment == "labels":
            good &= np.shape(self.classes_) == (run.state.dictionary.shape[0],)
        if not good:
            raise ValueError("parts of other kinds")

    # -- data into batches

    def _row_facts(
        self, data: Any, weights: NDArray | None, y: object, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        known = super()._row_facts(data, weights, y, ids, position)
        labels = check_labels(y, data.shape[0]) if self.assignment == "labels" else None
        return known | {"ids": row_names(np.asarray(known["ids"])), "labels": labels}

    # -- the start

    def _first_batches(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Keep rows until there are N, or all there are; then make hulls from N of them.

        Where data are at hand, in no order that matters, more rows are clustered than become
        representatives: N rows hold few of a small cluster.
        """
        run = self._learner
        n_kept = sum(counting_rows(batch).size for batch in run.waiting)
        n_wanted = self.n_representatives
        if self.shuffle and n_rows < np.inf and self.assignment != "labels":
            n_wanted *= CLUSTERED_ROWS
        while n_kept < n_wanted and run.n_rows < n_rows:
            batch = next(batches, None)
            if batch is None:
                return []
            run.waiting = [*run.waiting, batch]
            n_kept += counting_rows(batch).size
        if n_kept < self.n_components:
            raise ValueError(
                f"X has {counted(n_kept, 'row')} that count, n_components={self.n_components}."
            )
        taken, run.waiting = run.waiting, []
        self._start(self._starting_hulls(taken, min(n_wanted, n_kept)))
        return list(taken)

    def _starting_hulls(self, batches: Sequence[Batch], n_wanted: int) -> Hulls:
        """Return hulls of some of the first ``n_wanted`` rows that count."""
        rows = [(batch, counting_rows(batch)) for batch in batches]
        first = stacked_rows(rows).first(n_wanted)
        labels = None
        if self.assignment == "labels":
            known = np.concatenate([np.asarray(batch.labels)[some] for batch, some in rows])
            self.classes_, labels = np.unique(known[:n_wanted], return_inverse=True)
            if len(self.classes_) != self.n_components:
                raise ValueError(
                    f"y has {len(self.classes_)} different labels in the first {n_wanted} rows, "
                    f"needed is one for each of n_components={self.n_components} atoms."
                )
        seed, shared = int(self._learner.rng.integers(2**31)), self.assignment == "pooled"
        n_kept = min(self.n_representatives, n_wanted)
        return starting_hulls(first, self.n_components, labels, seed, n_kept, shared=shared)
