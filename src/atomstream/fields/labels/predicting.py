"""What a dictionary with a head predicts, how well, and its coefficients."""

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, Samples, without_mask
from atomstream.estimators._columns import in_noted_order, note_names
from atomstream.estimators._given import checked_weights
from atomstream.estimators._matrix import _OnlineMatrixFactorization
from atomstream.fields.labels.losses import LABELS, LabelLoss
from atomstream.fields.labels.tables import checked_covariates


class PredictingFromCodes(_OnlineMatrixFactorization):
    """The public methods that predict labels; `SupervisedDictionary` says how to learn."""

    labels: str
    classes_: NDArray
    label_scale_: NDArray

    def _covariates(self, given: Any, n_rows: int) -> NDArray | None:
        """Return covariates as a table with as many columns as the model has learned with."""
        run = self._learner
        n_needed = run.state.dictionary.n_covariates if run.has_state else None
        if not run.has_state and "_covariate_names" not in vars(self):
            note_names(self, "_covariate_names", given)
        given = in_noted_order(self, "_covariate_names", given, "covariates")
        return checked_covariates(given, n_rows, n_needed)

    @property
    def _loss(self) -> LabelLoss:
        return LABELS[self.labels]

    @property
    def _has_classes(self) -> bool:
        return bool(self.labels == "classes")

    @property
    def _label_scale(self) -> NDArray:
        """Mean and spread of numbers, (2, n_outputs); 0 and 1 before any has come."""
        return vars(self).get("label_scale_", np.array([[0.0], [1.0]]))

    def _scores(self, X: Samples, covariates: ArrayLike | None) -> NDArray:
        """Return the scores of the exact codes of samples, (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._scored(self._encode(self._batch(X)).values, covariates)

    def _scored(self, codes: NDArray, covariates: ArrayLike | None = None) -> NDArray:
        """Return what the head makes of codes, (n_samples, n_outputs)."""
        beside, dictionary = self._covariates(covariates, len(codes)), self.state_.dictionary
        return dictionary.inputs(codes, beside) @ dictionary.head

    def predict(self, X: Samples, *, covariates: ArrayLike | None = None) -> NDArray:
        """Return the likeliest class, or the expected number or count, of each sample.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Needed where the model has learned with covariates.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs) where there are several
        """
        return self._predicted(self._scores(X, covariates))

    def _predicted(self, scores: NDArray) -> NDArray:
        """Return the likeliest classes, or what numbers and counts are expected."""
        if self._has_classes:
            return self.classes_[scores.argmax(axis=1)]
        mean, spread = self._label_scale
        expected = self._loss.mean(scores) * spread + mean
        return expected[:, 0] if expected.shape[1] == 1 else expected

    @available_if(attrgetter("_has_classes"))
    def predict_proba(self, X: Samples, *, covariates: ArrayLike | None = None) -> NDArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._loss.mean(self._scores(X, covariates))

    @available_if(attrgetter("_has_classes"))
    def decision_function(self, X: Samples, *, covariates: ArrayLike | None = None) -> NDArray:
        """Return the scores of the classes; of two classes how much the second one's is larger.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        return self._contrast(self._scores(X, covariates).T).T

    def score(  # type: ignore[override]
        self,
        X: Samples,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy of classes, R^2 of numbers, or the share of explained deviance.

        How well the samples themselves are explained tell `losses` and `objective`.

        Parameters
        ----------
        X : array-like, frame or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels, of all rows.
        sample_weight : array-like of shape (n_samples,), optional
        covariates : array-like of shape (n_samples, n_covariates), optional
            As in `predict`.

        Returns
        -------
        float
        """
        y = without_mask(in_noted_order(self, "_output_names", y, "y"))
        found = self.predict(X, covariates=covariates)
        if sample_weight is not None:
            sample_weight = checked_weights("sample_weight", sample_weight)
        weights = {"sample_weight": sample_weight}
        if self._has_classes:
            return float(metrics.accuracy_score(y, found, **weights))
        if self.labels == "counts":
            return float(metrics.d2_tweedie_score(y, found, power=1, **weights))
        return float(metrics.r2_score(y, found, **weights))

    def _contrast(self, by_output: NDArray) -> NDArray:
        """Return rows of outputs; of two classes the second less the first, as one row."""
        two = self._has_classes and len(by_output) == 2
        return by_output[1] - by_output[0] if two else by_output

    @property
    def coef_(self) -> NDArray:
        """What a unit of each atom's code adds to the scores, (n_outputs, n_components)."""
        return self._coefficients(slice(0, self.n_components))

    @property
    def covariate_coef_(self) -> NDArray:
        """What a unit of each covariate adds to the scores, (n_outputs, n_covariates)."""
        return self._coefficients(slice(self.n_components, -1))

    @property
    def intercept_(self) -> NDArray:
        """Scores of a code of zeros, (n_outputs,); of numbers in units of their spread."""
        return self._coefficients(slice(-1, None))[:, 0]

    def _coefficients(self, rows: slice) -> NDArray:
        check_is_fitted(self)
        return np.atleast_2d(self._contrast(self.state_.dictionary.head[rows].T))

    @property
    def label_loss_(self) -> float:
        """Mean loss of the labels in the memory, at the heads of their time."""
        check_is_fitted(self)
        labels = self.memory_.labels
        return labels.loss / labels.mass if labels.mass else float("nan")
