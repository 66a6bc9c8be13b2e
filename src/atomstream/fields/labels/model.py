"""Online dictionaries whose codes predict labels."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import ClassifierTags, RegressorTags, column_or_1d

from atomstream.base import ArrayLike, Samples
from atomstream.base.saved_fields import array, texts
from atomstream.dictionaries import Dictionary
from atomstream.estimators._base import PASSES, OnlineDictionary
from atomstream.estimators._calls import Transaction
from atomstream.estimators._columns import in_noted_order, note_names
from atomstream.estimators._estimator import estimator
from atomstream.estimators._given import are_shards
from atomstream.estimators._sklearn import with_callbacks
from atomstream.estimators._validation import check_weights
from atomstream.estimators.registry import ScheduleChoice, Start
from atomstream.fields.labels.dictionary import Predicting
from atomstream.fields.labels.losses import best_head
from atomstream.fields.labels.memory import labelled
from atomstream.fields.labels.parameters import SUPERVISED
from atomstream.fields.labels.predicting import PredictingFromCodes
from atomstream.fields.labels.tables import (
    RowLabels,
    all_classes,
    checked_labels,
    class_table,
    class_weights,
    label_scale,
    labelled_rows,
    number_table,
)
from atomstream.fields.labels.update import LabelledDescent, head_penalties
from atomstream.loop import Algorithm
from atomstream.problem import Batch
from atomstream.streams.on_disk import OnDisk

ROWS_TO_LEARN, MAX_PASSES = 1_000_000, 300  # where the number of passes is not given


@estimator
class SupervisedDictionary(PredictingFromCodes):
    r"""A dictionary of a stream whose codes also predict classes, numbers or counts.

    Minimises the mean of :math:`\tfrac12 \|x - hD\|^2 + alpha \|h\|_1 + \tfrac{ridge}{2} \|h\|^2`
    over the samples, plus ``weight`` times that of a loss of the labels at scores
    :math:`(h, z, 1)\, C`, with z the covariates. The code h of a sample minimises the first part
    alone, so a new sample needs no label; the loss of the labels moves the atoms through the codes.

    Parameters
    ----------
    n_components : int, default=20
        Number of atoms.
    labels : {"classes", "numbers", "counts"}, default="classes"
        What is predicted, under the logistic, the squared or the Poisson loss.
    weight : float, default=0.3
        How much the loss of labels counts, in units of half the mean squared length of a sample
        (with the penalty on its code); 0 learns the atoms of `OnlineNMF`, and the head beside them.
    shrinkage : float, default=0.001
        Strength of the squared penalty on the coefficients of the head, each by the mean square of
        its code; covariates count as if theirs were 1.
    classes : array-like, optional
        All classes, where a stream begins with rows that do not show them; by default those of the
        first labels.
    class_weight : dict or "balanced", optional
        What a label of each class counts; "balanced" is the inverse of its share in the first
        labels (all those of `fit`).
    scale : {"none", "std", "max", "log1p", "tfidf"}, default="none"
        Scale of the columns, as in `OnlineNMF`.
    codes : {"nonnegative", "free"}, default="nonnegative"
        Set of the codes.
    atoms : str or penalty part, default="nonnegative_ball"
        Set of the atoms, as in `OnlineDictionaryLearning`.
    init : str or array of shape (n_components, n_features), default="auto"
        As in `OnlineNMF`.
    alpha, ridge : float, default=0.0
        Strength of the l1 and of the squared l2 penalty (halved) on the codes.
    schedule : str or callable, default="harmonic"
        As in `OnlineNMF`.
    batch_size : int, default=256
        Rows per step of `fit`.
    n_epochs : int, optional
        Passes of `fit` over the data; by default so many that a million rows are learned from, at
        least 10 and at most 300.
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
        The atoms.
    classes_ : ndarray of shape (n_classes,)
        The classes, where these are predicted.
    coef_ : ndarray of shape (n_outputs, n_components)
        What a unit of each atom's code adds to the scores; one row for two classes.
    covariate_coef_ : ndarray of shape (n_outputs, n_covariates)
    intercept_ : ndarray of shape (n_outputs,)
    label_loss_ : float
        Mean loss of the labels over the memory.
    importance_, memory_, n_steps_, n_samples_seen_, batch_objective_
        As in `OnlineNMF`; the objective is that of the samples alone, as `surrogate` and
        `stationarity` are.

    Raises
    ------
    ValueError
        For labels of another kind or length, a class that was not named, a single class, covariates
        in another number of columns; the model stays as it was.

    References
    ----------
    Mairal, Bach, Ponce (2012), "Task-driven dictionary learning", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 34, eqs. (5) and (7); here the averages of the online scheme
    take the place of stochastic gradient steps. Lee, Lyu, Yao (2024), "Supervised matrix
    factorization: local landscape analysis and applications", compare both kinds of models.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from atomstream import SupervisedDictionary
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SupervisedDictionary(10, n_epochs=50, random_state=0).fit(X[:1200], y[:1200])
    >>> bool(model.score(X[1200:], y[1200:]) > 0.85)
    True
    >>> model.coef_.shape
    (10, 10)
    """

    PARAMETERS: ClassVar = SUPERVISED
    BOTH_SIGNS: ClassVar[str] = "say codes='free' and atoms='unit_ball'"
    LEARNED = (
        *OnlineDictionary.LEARNED,
        "classes_",
        array("label_weights_", "o", optional=True, at_least=0),
        array("label_scale_", "2 o", optional=True, finite=True),
        *(texts("_covariate_names", optional=True), texts("_output_names", optional=True)),
    )

    n_components: int = 20
    _: KW_ONLY
    labels: str = "classes"
    weight: float = 0.3
    shrinkage: float = 1e-3
    classes: ArrayLike | None = None
    class_weight: Any = None
    scale: str = "none"
    codes: str = "nonnegative"
    atoms: Any = "nonnegative_ball"
    schedule: ScheduleChoice = "harmonic"
    init: Start = "auto"

    def _make_algorithm(self) -> Algorithm:
        """Return the parts of a plain dictionary, with an updater that also sees the labels."""
        updater = LabelledDescent(
            labels=self._loss, weight=float(self.weight), shrinkage=float(self.shrinkage)
        )
        return replace(super()._make_algorithm(), updater=updater)

    # -- learning

    @with_callbacks
    def fit(  # type: ignore[override]
        self,
        X: Samples,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch; the head ends at the optimum on the codes of all rows.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or, for numbers and counts, (n_samples, n_outputs)
            Labels; None, NaN or pandas' NA where a row has none, and -1 beside two or more other
            classes that are whole numbers.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k counts a row, and its label, k times.
        covariates : array-like of shape (n_samples, n_covariates), optional
            What else labels are predicted from, beside the code.
        """
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        given = RowLabels(y, covariates)
        with Transaction(self, anew=True):
            self._fit(X, given, sample_weight)
            # A run that its time has ended may have no row yet; rows on disk are not read again.
            if self._learner.has_state and not isinstance(X, OnDisk):
                self._finish_head(X, given, sample_weight)
        return self

    def _finish_head(self, X: Samples, given: RowLabels, sample_weight: ArrayLike | None) -> None:
        """Bring the head to its optimum on the exact codes of rows with labels."""
        rows = self._rows(X, reset=False)
        known = self._row_facts(rows, check_weights(sample_weight, rows), given, None, 0)
        batch = self._to_batch(rows, **known)
        part = batch.of(labelled(batch))
        if not part.X.shape[0]:
            raise ValueError(
                "y has no label that counts, or one sample alone; without labels learn with "
                "OnlineNMF."
            )
        state, weights, targets = self.state_, part.row_weights, np.asarray(part.labels)
        dictionary, labels = state.dictionary, state.memory.labels
        inputs = dictionary.inputs(self._encode(part).values, part.covariates)
        penalties = head_penalties(state.memory, dictionary, self.shrinkage)
        head = best_head(self._loss, inputs, targets, weights, penalties, dictionary.head)
        # What is kept of the labels gives this head, too, so that a stream goes on from it.
        known = (labels.head_gram + labels.mass * np.diag(penalties)) @ head
        dictionary.head, state.memory.labels = head, replace(labels, head_cross=known)

    def partial_fit(  # type: ignore[override]
        self,
        X: Samples,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        covariates: ArrayLike | None = None,
        time: object = None,
    ) -> Self:
        """Make one step on these rows; labels that come late come with their rows once more.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            As in `fit`; without it the rows have no labels.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`.
        classes : array-like, optional
            All classes, in the first call, as for scikit-learn's models.
        covariates : array-like of shape (n_samples, n_covariates), optional
            As in `fit`.
        time : number, datetime or numpy.datetime64, optional
            As in `OnlineNMF`.
        """
        return self._partial_fit(X, RowLabels(y, covariates, classes), sample_weight, time=time)

    def fit_stream(  # type: ignore[override]
        self,
        batches: Iterable[Any],
        *,
        n_batches: int | None = None,
        horizon: float = np.inf,
    ) -> Self:
        """Continue to learn from a stream of pairs (X, y); an item is one step.

        Parameters
        ----------
        batches : iterable of (X, y), (X, y, covariates), or X alone for rows without labels
            Weights of rows can be given to `partial_fit` only.
        n_batches : int, optional
            Stop after so many batches.
        horizon : float, default=inf
            As in `OnlineNMF`.
        """
        if are_shards(batches):
            raise TypeError("SupervisedDictionary learns from pairs (X, y); shards hold no labels.")
        return super().fit_stream(batches, n_batches=n_batches, horizon=horizon)

    def _passes(self, n_rows: int) -> int:
        """Return as many as the labels need: they teach more slowly than the rows themselves."""
        return min(max(ROWS_TO_LEARN // n_rows, PASSES), MAX_PASSES)

    def _starting_dictionary(self, batch: Batch) -> Dictionary:
        """Return the atoms to begin with, and a head of zeros."""
        labels: Any = batch.labels
        n_beside = 0 if batch.covariates is None else batch.covariates.shape[1]
        atoms = super()._starting_dictionary(batch).atoms()
        return Predicting(atoms, np.zeros((len(atoms) + n_beside + 1, labels.shape[1])))

    @classmethod
    def from_components(cls, components: Any, **params: Any) -> Self:
        """Refuse atoms alone: nothing is known of what they predict.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            The atoms.
        **params
            As of other models.

        Returns
        -------
        model
            Never.

        Raises
        ------
        ValueError
            Always; atoms are given as ``init``.
        """
        raise ValueError(
            "SupervisedDictionary predicts nothing from atoms alone; give them as init to fit."
        )

    def _unpacked(self, item: Any, column: str | None) -> dict[str, Any]:
        """Return an item (X, y) or (X, y, covariates) of a stream, or X alone."""
        X, *given = item if isinstance(item, tuple | list) else (item,)
        if len(given) > 2:
            raise ValueError(
                "A batch is X, a pair (X, y) or (X, y, covariates), got a list or tuple of "
                f"{len(item)} parts."
            )
        return {"X": X, "sample_weight": None, "y": RowLabels(*given)}

    def _row_facts(
        self, data: Any, weights: NDArray | None, y: Any, ids: ArrayLike | None, position: int
    ) -> dict[str, NDArray | None]:
        """Return what is known of each row, labels as a table and covariates among it."""
        known = super()._row_facts(data, weights, None, ids, position)
        given = y if isinstance(y, RowLabels) else RowLabels(y)
        covariates = self._covariates(given.covariates, data.shape[0])
        labels = self._targets(given, np.ones(data.shape[0]) if weights is None else weights)
        return known | {"labels": labels, "covariates": covariates}

    def _targets(self, given: RowLabels, weights: NDArray) -> NDArray:
        """Return labels as a table; the first ones settle the classes, or the unit of numbers."""
        if "label_scale_" not in vars(self):  # a single output needs no name
            several = getattr(given.y, "shape", ())[1:] > (1,)
            note_names(self, "_output_names", given.y if several else None)
        y = checked_labels(in_noted_order(self, "_output_names", given.y, "y"), len(weights))
        if self._has_classes:
            return self._of_classes(y, weights, given.classes)
        if y is None:
            return np.full((len(weights), self._label_scale.shape[1]), np.nan)
        table = number_table(y, counts=self.labels == "counts")
        if "label_scale_" not in vars(self):
            scale = label_scale(table, weights, counts=self.labels == "counts")
            if scale is None:  # one number has no spread: it waits for others
                return np.full(table.shape, np.nan)
            self.label_scale_ = scale
        n_outputs = self._label_scale.shape[1]
        if table.shape[1] != n_outputs:
            raise ValueError(f"y must have {n_outputs} columns, got {table.shape[1]}.")
        return np.asarray((table - self._label_scale[0]) / self._label_scale[1])

    def _of_classes(self, y: NDArray | None, weights: NDArray, named: Any) -> NDArray:
        named = self.classes if named is None else named
        y = np.full(len(weights), None) if y is None else column_or_1d(y, warn=True)
        first = not hasattr(self, "classes_")
        rows, labels = labelled_rows(y, named if first else self.classes_)
        if first:
            self.classes_ = all_classes(labels, named)
        if "label_weights_" not in vars(self) and len(labels):
            known = self.classes_, labels, weights[rows]
            self.label_weights_ = class_weights(self.class_weight, *known)
        by_class = vars(self).get("label_weights_", np.ones(len(self.classes_)))
        return class_table(rows, labels, self.classes_, by_class)

    def _check_change(self, algorithm: Algorithm) -> None:
        super()._check_change(algorithm)
        if hasattr(self, "classes_") != self._has_classes:
            raise ValueError(
                f"labels={self.labels!r} is of another kind than the model has learned from; call "
                "fit to start over."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self._has_classes else "regressor"
        tags.classifier_tags = ClassifierTags() if self._has_classes else None
        tags.regressor_tags = None if self._has_classes else RegressorTags()
        tags.target_tags.required = True
        tags.target_tags.multi_output = not self._has_classes
        return tags
