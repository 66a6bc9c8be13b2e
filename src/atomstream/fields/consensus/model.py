"""Consensus of many replicates: how many atoms there are, and which of them return."""

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import NAMES, Choice, Samples, as_known, tell
from atomstream.base.saved_fields import part
from atomstream.estimators._base import OnlineDictionary
from atomstream.estimators._estimator import view
from atomstream.estimators._sklearn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from atomstream.fields.consensus.agreement import Consensus
from atomstream.fields.consensus.ensemble import Ensemble
from atomstream.fields.consensus.intervals import honest
from atomstream.fields.consensus.learning import ConsensusLearning
from atomstream.fields.consensus.parameters import CONSENSUS
from atomstream.fields.consensus.rank_choice import Judging, RankChoice, compare


def _agreed(attribute: str, doc: str) -> property:
    """Return a property that shows what the replicates of the chosen rank agree on."""
    return property(lambda model: getattr(model.consensus(), attribute), doc=doc)


class ConsensusNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConsensusLearning):
    r"""Atoms that many replicates agree on, and how many there are.

    For every rank many replicates learn from the same batches, so that a stream is read once, and
    memory does not grow with it. Replicates differ in their start and in the share of the rows
    that each leaves out; with ``bootstrap`` they also count every other row a Poisson number of
    times (of mean one), which is a bootstrap of the stream. The atoms of all replicates of
    a rank are clustered, without those that stand alone; the consensus atoms are the medians of the
    clusters. Ranks are compared on rows that a replicate has left out, a part of whose entries is
    hidden at a time.

    Parameters
    ----------
    n_components : int or iterable of int, optional
        The ranks, numbers of atoms, to compare; by default 5 to 30.
    n_replicates : int, default=100
        Replicates of each rank, at least 2. Intervals need 40 or more, and ``bootstrap``.
    loss : str or loss part, default="squared"
        As in `OnlineNMF`.
    model : estimator, optional
        An `OnlineNMF`, `OnlineDictionaryLearning` or `OnlineCPDictionary`, not fitted, whose
        settings the replicates use; ``n_components`` and ``random_state`` are set here. By default
        ``OnlineNMF(loss=loss)``.
    holdout : float, default=0.1
        Share of the rows that a replicate leaves out, and share of the columns that are hidden in
        these at a time; above 0 and at most 0.5.
    bootstrap : bool, optional
        Whether replicates count their rows a random number of times, as intervals need it:
        stability then tells what other rows would do, and atoms that few rows carry may be lost.
        Without that replicates differ in their starts and in the rows that they leave out alone, as
        in the consensus of Kotliar et al., and those of up to 5,000 rows alternate over all of
        these until they have settled: stability tells what starts do. Of the replicates that have
        the same rows, the half that fits them better makes the atoms. Under divergences such
        replicates start from rows, for ``init="auto"`` would be one start for all. By default only
        under divergences, for on the same counts false atoms come back.
    to_the_end : bool, default=False
        Whether bootstraps of up to 5,000 rows, too, alternate in `fit` until they have settled, as
        a single model does, with one pass before: as factors of counts need it whose parts are all
        present in most rows. Intervals are narrower then, and hold fewer of the large entries.
    rule : {"auto", "error", "reproducibility"}, default="auto"
        What chooses the rank: errors on hidden entries, or the largest rank all of whose atoms come
        back and which predicts hidden entries no worse than smaller ones do, which finds rare
        parts. By default the second for counts, whole numbers under a divergence, and the first for
        all else; ``choice_`` holds what both choose.
    min_share : float, default=0.7
        All atoms of a rank come back if so large a share of the replicates has each of them.
    min_cosine : float, default=0.9
        Cosine from which a replicate has an atom for that.
    block_size : int, default=1
        Consecutive rows that are drawn and left out together. For rows that overlap, such as
        windows of a series, at least ten times as many rows as overlap.
    batch_size : int, default=512
        Rows per step of `fit`.
    n_epochs : int, optional
        Passes of `fit`; by default as many as make 50,000 rows, at most 10. After these, and after
        more, replicates of up to 5,000 rows make as many rounds over all of their rows as they need
        (of a bootstrap three). Starts alone under the squared loss, which have more of the rows,
        take 30,000 in place of 50,000, and 10,000 where such rounds follow.
    shuffle : bool, default=True
        Whether `fit` draws a new order of the rows for each pass.
    n_jobs : int, optional
        The most threads over replicates; None takes as many as BLAS may use, -1 all cores.
    max_time : float, optional
        Seconds after which learning ends, at the end of a batch.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    n_components_ : int
        The rank that was chosen.
    choice_ : RankChoice
        Error on hidden entries, stability and further measures of each rank, a verdict on whether
        the data have structure at all, and the reason for the choice in words.
    components_ : ndarray of shape (n_components_, n_features)
        The consensus atoms, most important first: of Euclidean length one, or under divergences of
        sum one. Atoms of tensors are flattened; ``dictionary().loadings_`` has them by modes.
    stability_ : ndarray of shape (n_components_,)
        Share of the replicates that have the atom: of which the partner, one-to-one, is within a
        cosine of 0.9.
    cosine_ : ndarray of shape (n_components_,)
        Mean cosine of the partners in all replicates.
    importance_ : ndarray of shape (n_components_,)
        Share of each atom in codes times lengths, the median over replicates, scaled to sum one.
    intervals_, importance_intervals_ : tuple of two ndarrays
        Lower and upper ends of intervals of 95 %, for every entry, and for the importance, from
        replicates that are bootstraps. Lower ends reach down by what noise that is cut at zero may
        have added. NaN without ``bootstrap``, and for atoms that fewer than half of the replicates
        have: these few look alike because they were chosen for that.
    replicates_ : dict of int to list of estimator
        For each rank its replicates.
    n_steps_, n_samples_seen_ : int
        Steps made, rows learned from, passes included.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Present when the data had column names.

    Raises
    ------
    ValueError
        For data that the model refuses, settings out of range, and fewer rows than tell replicates
        apart; the model stays as it was.

    References
    ----------
    Kotliar et al. (2019), "Identifying gene expression programs of cell-type identity and cellular
    activity with single-cell RNA-Seq", eLife 8, e43803; Owen, Perry (2009), "Bi-cross-validation of
    the SVD and the nonnegative matrix factorization"; Oza, Russell (2001), "Online bagging and
    boosting", Poisson weights.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import ConsensusNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(300, 3)) @ rng.random((3, 12)) ** 3
    >>> X += 0.05 * rng.random(X.shape)
    >>> model = ConsensusNMF(range(2, 5), n_replicates=10, random_state=0).fit(X)
    >>> model.n_components_
    3
    >>> bool(model.stability_.min() >= 0.9)
    True
    """

    PARAMETERS: ClassVar = CONSENSUS
    LEARNED = (
        "seed_",
        part("ensemble_", Ensemble),
        part("front_", OnlineDictionary),
        "n_steps_",
        "n_features_in_",
        "feature_names_in_",
        "_found",
    )

    # -- what was found

    @property
    def choice_(self) -> RankChoice:
        """The ranks compared, and the one chosen."""
        return self._conclude()["choice"]

    @property
    def n_components_(self) -> int:
        """The rank that was chosen."""
        return self.choice_.rank

    components_ = _agreed(
        "atoms", "The consensus atoms, ``(n_components_, n_features)``, most important first."
    )
    stability_ = _agreed(
        "share", "Share of the replicates that have each atom, ``(n_components_,)``."
    )
    cosine_ = _agreed(
        "cosine", "Mean cosine of the nearest atom of each replicate, ``(n_components_,)``."
    )
    importance_ = _agreed(
        "importance", "Share of each atom in codes times lengths, ``(n_components_,)``."
    )
    intervals_ = _agreed(
        "intervals", "Ends of the intervals of the entries, each ``(n_components_, n_features)``."
    )
    importance_intervals_ = _agreed(
        "importance_intervals",
        "Ends of the intervals of the importance, each ``(n_components_,)``.",
    )
    n_samples_seen_ = view("ensemble_.n_rows", "Rows learned from, passes included.")
    batch_objective_ = view(
        "ensemble_.batch_objective",
        "Mean objective of the newest batch over the replicates of the largest rank.",
    )

    @property
    def replicates_(self) -> dict[int, list[Any]]:
        """The replicates of each rank."""
        check_is_fitted(self)
        return dict(zip(self.ensemble_.ranks, self.ensemble_.learners, strict=True))

    def consensus(self, rank: int | None = None) -> Consensus:
        """Return what the replicates of a rank agree on.

        Parameters
        ----------
        rank : int, optional
            By default the one chosen.

        Returns
        -------
        Consensus
        """
        found = self._conclude()
        rank = found["choice"].rank if rank is None else rank
        if rank not in self.ensemble_.ranks:
            known = ", ".join(map(str, self.ensemble_.ranks))
            raise ValueError(f"rank must be one that was tried ({known}), got {rank!r}.")
        return found["consensus"][self.ensemble_.ranks.index(rank)]

    def dictionary(self, rank: int | None = None) -> Any:
        """Return a model of the class of the replicates that codes with the consensus atoms.

        Parameters
        ----------
        rank : int, optional
            By default the one chosen.

        Returns
        -------
        OnlineNMF, OnlineDictionaryLearning or OnlineCPDictionary
            With an empty memory; it can go on learning. Its atoms are the consensus atoms, or the
            rank-one tensors nearest to them.
        """
        start = self.front_._starting_from(self.consensus(rank).atoms)
        kind, settings = type(self.front_), self.front_.get_params(deep=False)
        settings |= {"n_components": self.consensus(rank).atoms.shape[0], "init": start}
        found = kind.from_components(start, **settings | {"random_state": self.seed_})
        known = vars(self.front_)
        vars(found).update({name: known[name] for name in NAMES if name in known})
        return found

    @property
    def chosen_(self) -> Mapping[str, Choice]:
        """What settings became, each with the reason; read-only. See `OnlineNMF.chosen_`."""
        self._conclude()
        return super().chosen_

    def _choices(self) -> dict[str, Choice]:
        """Return the number of atoms once it has been chosen, and what replicates differ in."""
        ensemble, found = self.ensemble_, vars(self).get("_found")
        why = "a divergence is least" if ensemble.draws.bootstrap else "the loss is squared"
        made = {"bootstrap": Choice(ensemble.draws.bootstrap, why)}
        if self.bootstrap is not None:
            made = {"bootstrap": Choice.given(self.bootstrap)}
        if found is None or len(ensemble.ranks) == 1:
            return made
        choice = found["choice"]
        return {"n_components": Choice(int(choice.rank), choice.reason, guessed=True), **made}

    # -- codes

    def transform(self, X: Samples, *, sparse_output: bool = False) -> Any:
        """Return the codes of samples by the consensus atoms, exactly, as `OnlineNMF.transform`.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        sparse_output : bool, default=False
            Return a CSR array.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        samples = self.front_._samples(self._checked(X, reset=False))
        return self.dictionary().transform(as_known(self, samples), sparse_output=sparse_output)

    def inverse_transform(self, codes: Any) -> NDArray:
        """Return the reconstructions of codes.

        Parameters
        ----------
        codes : array-like or sparse of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self.dictionary().inverse_transform(codes)

    # -- conclusions

    def _conclude(self) -> dict[str, Any]:
        """Compare the replicates, unless that has been done since they last learned."""
        check_is_fitted(self)
        found = vars(self).get("_found")
        # Files of before there were verdicts hold a choice without one.
        if found is None or found["choice"].verdict is None:
            ensemble = self.ensemble_
            shape = getattr(
                self.front_.algorithm_.objective.atoms, "shape", None
            )  # of tensors none
            by_sum = bool(shape and shape.total)
            agreed = [
                Consensus.of(
                    *(ensemble.atoms(i), ensemble.importances(i), ensemble.voting(i)), by_sum=by_sum
                )
                for i in range(len(ensemble.ranks))
            ]
            agreed = [honest(each, ensemble, i) for i, each in enumerate(agreed)]
            judging = Judging(self.rule, self.min_share, self.min_cosine)
            self._found = {"choice": compare(ensemble, agreed, judging), "consensus": agreed}
            found = self._choices().items()
            tell(type(self).__name__, {name: made for name, made in found if made.guessed})
        return self._found

    def __sklearn_is_fitted__(self) -> bool:
        return "ensemble_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        template = self._template()
        tags.input_tags = template.__sklearn_tags__().input_tags
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as they are written to a file."""
        given = self.n_components
        ranks = given if given is None or isinstance(given, int) else self._ranks()
        return super().saved_parameters() | {"n_components": ranks}
