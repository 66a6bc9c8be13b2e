"""Nonnegative factorization of several data sets, with atoms shared by all and atoms of each."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, Samples, complete_array
from atomstream.coders.grouped import Grouped
from atomstream.dictionaries import Dictionary
from atomstream.estimators import _parameters
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._estimator import estimator
from atomstream.estimators._fitting import _mean
from atomstream.estimators._matrix import _OnlineMatrixFactorization
from atomstream.estimators._sklearn import with_callbacks
from atomstream.estimators.registry import LossChoice
from atomstream.loop import Algorithm, check_compatible
from atomstream.loop.grouped_start import grouped_start
from atomstream.problem import Batch, joined
from atomstream.updates.reseeding import Reseeding

ROWS_PER_ATOM = 20  # that a start is made from, where data are at hand
NAMELESS = ""  # the data set of rows that come without one


@estimator
class BatchNMF(_OnlineMatrixFactorization):
    r"""Nonnegative factorization of several data sets: shared atoms, and atoms of one set alone.

    Data sets are batches of an experiment, patients, cities: whatever has measured the same
    features. Minimises the mean over all rows of :math:`d(x, hD) + alpha \|h\|_1 +
    \tfrac{ridge}{2} \|h\|_2^2`, where a row of data set g may use the ``n_shared`` first atoms and
    the ``n_own`` atoms of g, and no others. What several data sets have in common is found once,
    and what only one has stands apart.

    Parameters
    ----------
    n_shared : int, default=15
        Atoms that all data sets share.
    n_own : int, default=5
        Atoms of each data set. The rows of a data set are explained by ``n_shared + n_own`` atoms.
    loss : str or loss part, default="squared"
        As in `OnlineNMF`.
    scale : {"none", "std", "max", "log1p", "tfidf"}, default="none"
        Scale of the columns, the same for all data sets, as in `OnlineNMF`.
    data_sets : array-like, optional
        Names of all data sets, where the first rows of a stream do not show them; by default those
        of the first rows (all rows of `fit`). Rows of others use, and teach, the shared atoms.
    missing : bool, default=False
        Whether NaN stands for an entry that was not observed.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes.
    ridge : float or "auto", default="auto"
        Strength of the squared l2 penalty (halved) on the codes.
    schedule : str or callable, default="power"
        As in `OnlineNMF`.
    batch_size : int, default=256
        Rows per step of `fit`.
    n_epochs : int, optional
        Passes of `fit`; by default ten, and rounds over all rows, as in `OnlineNMF`.
    shuffle : bool, default=True
        Whether `fit` draws a new order of the rows for each pass: an atom of one data set learns
        only while rows of that set come.
    n_jobs, max_time : int and float, optional
        As in `OnlineNMF`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_shared + n_own * n_data_sets, n_features)
        All atoms: the shared ones, then those of each data set.
    shared_components_ : ndarray of shape (n_shared, n_features)
    own_components_ : dict of name to ndarray of shape (n_own, n_features)
    data_sets_ : ndarray of shape (n_data_sets,)
        Names, sorted: the order of the own atoms.
    importance_, memory_, n_steps_, n_samples_seen_, n_reseeded_, n_iter_, batch_objective_
        As in `OnlineNMF`.

    Raises
    ------
    ValueError
        As `OnlineNMF`, and for names that do not fit the rows; the model stays as it was.

    Notes
    -----
    How many atoms are shared is yours to choose, and no penalty keeps own atoms small: where a data
    set has nothing of its own, its own atoms split a shared part. Compare ``score`` with and
    without them.

    References
    ----------
    Yang, Michailidis (2016), "A non-negative matrix factorization method for detecting modules in
    heterogeneous omics multi-modal data", Bioinformatics 32, has a deviation of each atom in each
    data set instead, with a penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import BatchNMF
    >>> rng = np.random.default_rng(0)
    >>> shared, one, other = rng.gamma(0.3, 1, (3, 2, 12))
    >>> X = np.vstack([rng.random((100, 4)) @ np.vstack([shared, own]) for own in (one, other)])
    >>> names = np.repeat(["lab A", "lab B"], 100)
    >>> model = BatchNMF(2, 2, random_state=0).fit(X, batch=names)
    >>> model.transform(X, batch=names).shape, sorted(model.own_components_)
    ((200, 6), ['lab A', 'lab B'])
    """

    PARAMETERS: ClassVar = _parameters.BATCHES
    LEARNED = (*OnlineDictionary.LEARNED, "data_sets_")
    _CODED_WITH = ("batch", "mask", "entry_weight")
    _refuses_negative: ClassVar[bool] = True

    n_shared: int = 15
    n_own: int = 5
    _: KW_ONLY
    loss: LossChoice = "squared"
    scale: str = "none"
    data_sets: ArrayLike | None = None
    missing: bool = False
    ridge: float | str = "auto"  # type: ignore[assignment]

    @property
    def n_components(self) -> int:  # type: ignore[override]
        """Number of atoms, of all data sets that are known."""
        return self.n_shared + self.n_own * len(vars(self).get("data_sets_", ()))

    @property
    def _n_atoms_of_a_row(self) -> int:
        return self.n_shared + self.n_own

    @classmethod
    def from_components(cls, components: Any, **params: Any) -> Self:
        """Refuse atoms alone: nothing is known of the data sets that they belong to.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            The atoms.
        **params
            As of other models.

        Returns
        -------
        model
            None: it always raises.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("BatchNMF cannot tell which atoms are shared; learn with fit instead.")

    def _make_algorithm(self) -> Algorithm:
        """Return the parts of `OnlineNMF`, with codes and new starts that know the data sets."""
        algorithm = super()._make_algorithm()
        if not self.n_own:
            return algorithm
        check_compatible(algorithm)  # as the coder inside would be
        coder = Grouped(algorithm.coder, self.n_shared, self.n_own, algorithm.coder.tol)
        reseeding = Reseeding(algorithm.updater.patience, self.n_shared)
        return replace(algorithm, coder=coder, reseeding=reseeding)

    # -- learning

    @with_callbacks
    def fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch.

        Parameters
        ----------
        X : array-like, frame, sparse or `streams.OnDisk` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k counts a row k times. Large data sets outweigh small ones without it.
        batch : array-like of shape (n_samples,), optional
            The data set that each row comes from, numbers or names; without it all rows are one.
        mask, entry_weight : array-like of the shape of X, optional
            As in `OnlineNMF`.
        """
        X, _, weights = self._validated(X, y, sample_weight, mask, entry_weight, fresh=True)
        return self._fit(X, batch, weights)

    def partial_fit(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        time: object = None,
    ) -> Self:
        """Make one step on these rows; the first call also makes the dictionary.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        batch : array-like of shape (n_samples,), optional
            As in `fit`.
        mask, entry_weight : array-like of the shape of X, optional
            As in `fit`.
        time : number, datetime or numpy.datetime64, optional
            As in `OnlineNMF`.
        """
        X, _, weights = self._validated(X, y, sample_weight, mask, entry_weight)
        return self._partial_fit(X, batch, weights, time=time)

    def _unpacked(self, item: Any, column: str | None) -> dict[str, Any]:
        """Return an item (X, batch) or (X, batch, sample_weight) of a stream, or X alone."""
        X, y, weights = (
            (*item, None, None)[:3] if isinstance(item, tuple | list) else (item, None, None)
        )
        return {"X": X, "y": y, "sample_weight": weights}

    # -- data sets by their names

    def _row_facts(
        self, data: Any, weights: NDArray | None, y: Any, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        """Return what is known of each row; ``y`` names its data set."""
        known = super()._row_facts(data, weights, None, ids, position)
        names = np.full(data.shape[0], NAMELESS) if y is None else _names(y)
        if "data_sets_" not in vars(self):
            self.data_sets_ = np.unique(names if self.data_sets is None else _names(self.data_sets))
        if y is None and NAMELESS not in self.data_sets_:
            raise ValueError(
                f"The model learns from the data sets {list(self.data_sets_)!r:.80}; say which one "
                "each row comes from: batch=..., or pairs (X, batch) in a stream."
            )
        return known | {"labels": self._numbers(names)}

    def _numbers(self, names: NDArray) -> NDArray:
        """Return the number of each row's data set, -1 for those that are not known."""
        order = {name: number for number, name in enumerate(self.data_sets_.tolist())}
        return np.array([order.get(name, -1) for name in names.tolist()], dtype=np.int64)

    def _known(self, batch: ArrayLike | None) -> dict[str, Any]:
        return {} if batch is None else {"labels": self._numbers(_names(batch))}

    def _to_batch(
        self, X: Any, weights: NDArray | None = None, labels: NDArray | None = None, **known: Any
    ) -> Batch:
        """Return checked data as a batch; rows without a name are those of the nameless set."""
        labels = self._numbers(np.full(X.shape[0], NAMELESS)) if labels is None else labels
        if len(labels) != X.shape[0]:
            raise ValueError(
                f"batch must name the data set of each of {X.shape[0]} rows, got {len(labels)}."
            )
        return super()._to_batch(X, weights, labels=labels, **known)

    # -- the start

    def _first_batches(self, batches: Iterator[Batch], n_rows: float) -> list[Batch]:
        """Make the start from more than one batch where data are at hand: each set has few rows."""
        wanted, taken, known = ROWS_PER_ATOM * self.n_components, [], 0
        if not self.n_own or n_rows == np.inf:
            return super()._first_batches(batches, n_rows)
        while known < min(wanted, n_rows):
            taken.append(next(batches))
            known += taken[-1].X.shape[0]
        super()._first_batches(iter([joined(taken)]), n_rows)
        return taken

    def _starting_dictionary(self, batch: Batch) -> Dictionary:
        """Return shared atoms and own ones, in the order of the data sets."""
        if not self.n_own:
            return super()._starting_dictionary(batch)
        return grouped_start(batch, len(self.data_sets_), self.algorithm_, self._learner.rng)

    # -- codes

    def transform(
        self,
        X: Samples,
        *,
        batch: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        entry_weight: ArrayLike | None = None,
        sparse_output: bool = False,
        gap: float | None = None,
    ) -> Any:
        """Return the exact codes of samples, 0 for the atoms of other data sets.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        batch : array-like of shape (n_samples,), optional
            The data set of each row. Those that the model does not know, and rows without a name
            where it has learned from named ones, are coded with the shared atoms alone.
        mask, entry_weight : array-like of the shape of X, optional
            As in `OnlineNMF`.
        sparse_output : bool, default=False
            Return a CSR array.
        gap : float, optional
            Another certified duality gap than 1e-9, as a share of the objective.

        Returns
        -------
        ndarray, DataArray or csr_array of shape (n_samples, n_shared + n_own * n_data_sets)
        """
        check_is_fitted(self)
        known = self._known(batch) | {"mask": mask, "entry_weight": entry_weight}
        return self._transformed(X, sparse_output, gap, **known)

    def score(
        self,
        X: Samples,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean loss per sample at optimal codes, without penalties.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        batch : array-like of shape (n_samples,), optional
            As in `transform`.
        """
        check_is_fitted(self)
        samples = self._assessed(X, sample_weight, **self._known(batch))
        return -_mean(self._losses(samples), samples)

    @property
    def shared_components_(self) -> NDArray:
        """The atoms that all data sets share, (n_shared, n_features)."""
        return self.components_[: self.n_shared]

    @property
    def own_components_(self) -> dict[Any, NDArray]:
        """The atoms of each data set by its name, each (n_own, n_features)."""
        parts = self.components_[self.n_shared :].reshape(len(self.data_sets_), self.n_own, -1)
        return dict(zip(self.data_sets_.tolist(), parts, strict=True))


def _names(given: ArrayLike) -> NDArray:
    """Return names of data sets as an array that files can hold."""
    names = complete_array(given, "batch")
    if names.ndim != 1:
        raise ValueError(f"batch must be of shape (n_samples,), got {names.shape}.")
    return names.astype(str) if names.dtype == object else names
