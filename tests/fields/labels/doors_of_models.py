"""What methods of a model of labels need beside data."""

import numpy as np
from given import LABELS, WHOLE

LEARN = ("fit", "fit_transform", "partial_fit")


def needed(method):
    """Return labels where a method learns or scores, and covariates where it predicts, too."""
    labels = {"y": np.nan_to_num(LABELS)} if method in (*LEARN, "score") else {}
    if method in (*LEARN, "score", "predict", "predict_proba", "decision_function"):
        labels["covariates"] = WHOLE[:, :1]
    return labels


CASES = {"SupervisedDictionary": ({}, needed)}
