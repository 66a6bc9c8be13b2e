"""Online nonnegative matrix factorization under any divergence."""

import warnings
from copy import deepcopy
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream import losses
from atomstream.base import ArrayLike, Samples, dense
from atomstream.estimators import _parameters
from atomstream.estimators._columns import as_given
from atomstream.estimators._estimator import estimator
from atomstream.estimators._matrix import _OnlineMatrixFactorization
from atomstream.estimators.registry import CoderChoice, LossChoice, SetChoice, Start
from atomstream.loop import Algorithm, Scaling
from atomstream.streams.on_disk import OnDisk

MIN_TRIMMED = 0.01  # share of the entries: to trim so many, or not, is no other result


@estimator
class OnlineNMF(_OnlineMatrixFactorization):
    r"""Nonnegative matrix factorization of a stream under any divergence.

    Codes and atoms are nonnegative.

    Minimises the mean over the stream of :math:`d(x, hD) + alpha \|h\|_1 + \tfrac{ridge}{2}
    \|h\|_2^2` over codes h >= 0 and atoms (rows of D) in their set; by default d is half the
    squared distance and atoms are nonnegative, of Euclidean length at most one. Under divergences
    (such as Kullback-Leibler) atoms are distributions over the features: they sum to one, and the
    scale of a sample is in its code. Each batch is coded, enters a few small sums, and is
    forgotten.

    Parameters
    ----------
    n_components : int, default=20
        Number of atoms.
    loss : str or loss part, default="squared"
        "squared", "kl" (counts), "is" (power spectra), "hellinger", "trimmed", "huber", "l1", "l2"
        (outliers), a member of a family ("beta:0.5", "alpha:2", "huber:30", "trimmed:50"), or a
        part of `atomstream.losses`;
        ``loss__zeros`` is what happens to zeros where the loss is infinite at them.
    updater : {"auto", "majorise", "spsg"} or part of `atomstream.updates`, default="auto"
        "spsg" takes the projected stochastic subgradient steps of the paper, with its sets. "auto"
        is much faster where the loss has a power majoriser, which all named ones have but "alpha:0"
        (docs/algorithms/divergences.md); "majorise" never raises its surrogate, and is slower where
        atoms are alike.
    damping : float, default=0.0
        Added to the diagonal of the averaged gram of the codes.
    scale : {"none", "std", "max", "log1p", "tfidf"}, default="none"
        Scale of the columns, learned along the stream and kept in the model: "std" divides each by
        its standard deviation (without centring), "max" by its largest absolute value, "tfidf"
        multiplies it by the inverse document frequency, "log1p" takes log(1 + x). `fit` scales by
        all of the data. In a stream the scale moves with every batch of a first pass and the memory
        of the squared loss with it; under other losses a column keeps the scale that it has when it
        is first learned from. `components_`, penalties, losses and objectives are in units of the
        scale; `inverse_transform`, `impute` and `clean` return the units of the data.
    codes, atoms : str or penalty part, default="auto"
        Their sets: "nonnegative", "nonnegative_ball", "simplex", "box" or a part of
        `atomstream.penalties`. "auto" is "nonnegative" for codes; for atoms "simplex" under
        divergences, else "nonnegative_ball"; under "spsg" the paper's H (entries from 1e-8 to 1e8)
        and C ("covering").
    coder : str or coder part, default="auto"
        "active_set", "projected_gradient" (squared loss), "multiplicative",
        "projected_subgradient", or a part of `atomstream.coders`. "auto" takes what is fastest for
        the loss and the set of codes; ``coder__tol``, as in ``coders.Auto(tol=1e-3)``, is how exact
        codes are while learning. `transform` codes exactly.
    init : str or array of shape (n_components, n_features), default="auto"
        The starting dictionary: "samples" (rows of the first batch drawn by weight), "spread" (rows
        far from each other, k-means++), "svd" (its singular vectors), "random" numbers, or the
        atoms themselves. "auto" is "samples" for the squared loss and "svd" for others; under
        robust losses the atoms of least squares, if codes found on one half of the features leave a
        tenth less of the other half by them. For losses other than the squared one, starts from the
        first batch are mixed half and half with its mean: multiplicative updates leave zeros as
        they are.
    fixed_components : int, mask of shape (n_components,), or indices, default=0
        Which rows of ``init`` are kept as they are: a number means the first rows, a mask of bool
        those where it is True, and indices those rows.
    missing : bool, default=False
        Whether NaN stands for an entry that was not observed: codes are then fitted to the observed
        entries, and the sums completed with the reconstruction. Without it NaN is refused.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes, in the units of the data times their length.
    ridge : float or "auto", default="auto"
        Strength of the squared l2 penalty on the code of a row (halved in the objective), beside
        the squared lengths of atoms, which are at most 1: whatever the units of the data and
        however many entries of a row were observed, 0.001 is weak and 0.3 is strong. "auto" is 0
        until entries are missing; then, under the squared loss and unless ``alpha`` or the set
        holds the codes back, what predicts entries best that were hidden for it
        (`atomstream.loop.ridge.ridge_for`). ``chosen_`` tells it.
    schedule : str or callable, default="power"
        How much a batch weighs in the memory: "power", "harmonic", "polynomial", "log_polynomial",
        "constant" or a part of `atomstream.schedules`. "constant" is for streams that drift: it
        breaks the condition of the convergence theorems that the sum of w_t^2 sqrt(t) is finite, as
        "polynomial" with its default exponent does, and a `ScheduleWarning` says so. `convergent`
        makes a model that the theorems cover.
    batch_size : int, default=256
        Rows per step of `fit`.
    n_epochs : int, optional
        Passes of `fit` over the data; 1 is the online algorithm on a stream that comes once. By
        default ten passes, and then rounds over all rows at a time until one gains next to nothing:
        the end is near that of batch methods, below or above (docs/choosing.md). Such rounds follow
        more than ten passes too, so that more passes do not end worse; ten or fewer are all that is
        made. No rounds follow for updates that promise no descent; under robust losses they do
        where they predict hidden features better.
    shuffle : bool, default=True
        Whether `fit` draws a new order of the rows for each pass.
    n_jobs : int, optional
        The most threads; None takes as many as BLAS may use, -1 all cores. Small batches take one.
    max_time : float, optional
        Seconds after which learning ends, at the end of a step.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, in units of the scale.
    scaling_ : Scaling
        The scale: ``apply`` rows, ``undo`` them, and the ``divisor`` of each column.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the absolute codes, times its length: after `fit` in those at its end
        (where no rounds follow the passes, of 1,024 rows); along a stream the past fades, as in the
        memory.
    memory_ : Aggregates, Majorants or Subgradient
        What is kept of the stream: for the squared loss ``gram`` and ``cross``, the averages A and
        B of the papers; for other losses sums of majorisers, under "spsg" the newest subgradient
        (`atomstream.memory`).
    n_steps_, n_samples_seen_, n_reseeded_, n_iter_ : int
        Steps made, rows learned from, atoms that were replaced because nothing used them; passes of
        `fit` over the rows, with the rounds that followed them.
    batch_objective_ : float
        Mean objective of the last batch, before the update it caused.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Present when the data had column names.

    Raises
    ------
    ValueError
        For data that are negative, not finite or of another number of features, and for settings
        out of range; the model stays as it was.
    IncompatiblePartsError
        When a chosen coder cannot serve the chosen sets.

    References
    ----------
    Lyu, Needell, Balzano (2020), "Online matrix factorization for Markovian data and applications
    to network dictionary learning", eqs. (3), (25), (26) and Algorithms 1-3
    (docs/algorithms/online-mf.md maps each equation to its function). Zhao, Tan, Xu (2017), "Online
    nonnegative matrix factorization with general divergences" (docs/algorithms/divergences.md).

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import OnlineNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 3)) @ rng.random((3, 10))
    >>> model = OnlineNMF(n_components=3, batch_size=50, n_epochs=20, random_state=0).fit(X)
    >>> codes = model.transform(X)
    >>> bool(np.abs(model.inverse_transform(codes) - X).mean() < 0.01)
    True
    """

    PARAMETERS: ClassVar = _parameters.NMF
    _refuses_negative: ClassVar[bool] = True

    n_components: int = 20
    _: KW_ONLY
    loss: LossChoice = "squared"
    updater: object = "auto"
    damping: float = 0.0
    scale: str | Scaling = "none"
    codes: SetChoice = "auto"
    atoms: SetChoice = "auto"
    coder: CoderChoice = "auto"
    init: Start = "auto"
    fixed_components: int | ArrayLike = 0
    missing: bool = False
    ridge: float | str = "auto"  # type: ignore[assignment]

    def _make_algorithm(self) -> Algorithm:
        """Return the parts that the parameters stand for; both sets must be nonnegative."""
        algorithm = super()._make_algorithm()
        for role in ("codes", "atoms"):
            part = getattr(algorithm.objective, role)
            if not getattr(part, "nonnegative", False):
                # A part of one's own that holds none must say so: nothing else tells it.
                ours = type(part).__module__.startswith("atomstream.")
                own = "" if ours else ", or, if it holds none, give it nonnegative = True"
                if hasattr(part, "sign"):
                    own = f", or {role}={replace(part, sign='nonnegative')!r}"
                raise ValueError(
                    f"{role}={part!r} holds negative entries and OnlineNMF needs nonnegative "
                    f"{role}; use OnlineDictionaryLearning for signed ones{own}."
                )
        return algorithm

    def _settle_all(self, rows: Any, known: Any, after: Any) -> None:
        super()._settle_all(rows, known, after)
        loss: Any = self.algorithm_.objective.loss
        if loss.trims and not (loss.threshold or isinstance(rows, OnDisk) or after.late):
            self._end_as_squares(rows, known, after)

    def _end_as_squares(self, rows: Any, known: Any, after: Any) -> None:
        """Take the atoms of the squared loss where trimming explains the rows no better."""
        from atomstream.loop.trimmed_start import end_as_squares
        from atomstream.updates.trimmed_descent import stop_trimming

        given = self.get_params(deep=False) | {"loss": "squared", "max_time": after.remaining}
        given |= {"updater": "auto", "coder": "auto", "random_state": deepcopy(self.random_state)}
        with warnings.catch_warnings(action="ignore"):
            squares = type(self)(**given).fit(rows, sample_weight=known["weights"])
        run, blocks = self._current(), self._blocks(rows, known)
        share = run.state.memory.outlier_share
        if end_as_squares(blocks, run.state, run.algorithm, squares.state_) and share > MIN_TRIMMED:
            stop_trimming(run.state.dictionary, stacklevel=7)  # the caller of fit

    def clean(self, X: Samples) -> NDArray:
        """Return the reconstructions of samples: under a robust loss, without their outliers.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            In the order of the columns of X.
        """
        return as_given(self, X, self.inverse_transform(self.transform(X)))

    def outliers(self, X: Samples) -> NDArray:
        """Return the errors of entries beyond the threshold of a trimmed or of the Huber loss.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Absolute errors beyond the threshold, ``delta`` under Huber's loss; 0 elsewhere and
            where entries are missing. ``model.outliers(X) > 0`` is the mask of the outliers.

        Raises
        ------
        ValueError
            For models with another loss.
        """
        check_is_fitted(self)
        loss: Any = self.algorithm_.objective.loss
        if not loss.trims and not isinstance(loss, losses.Huber):
            raise ValueError(
                f"outliers needs the threshold of loss='trimmed' or 'huber', got {loss!r}; clean "
                "works for every loss."
            )
        batch = self._batch(X)
        reconstruction = self.state_.dictionary.decode(self._encode(batch).values)
        error = np.abs(dense(batch.complete(reconstruction)) - reconstruction)
        limit = (
            loss.delta
            if not loss.trims
            else loss.at(self.state_.dictionary).thresholds(error, batch.mask)
        )
        return as_given(self, X, np.where(error > limit, error, error.dtype.type(0)))
