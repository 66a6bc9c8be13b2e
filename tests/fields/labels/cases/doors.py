"""Calls of the methods of the model of labelled rows, with labels and covariates beside."""

import numpy as np
from doors_of_models import LEARN, doors_of_model
from given import LABELS, WHOLE

JUDGE = ("predict", "predict_proba", "decision_function")
COVARIATES = {"covariates": WHOLE[:, :1]}


def beside(method):
    """Return what a method is given besides rows."""
    if method in (*LEARN, "score"):
        return {"y": np.nan_to_num(LABELS)} | COVARIATES
    return COVARIATES if method in JUDGE else {}


CASES = doors_of_model("SupervisedDictionary", taught={"y": LABELS} | COVARIATES, beside=beside)
assert len(CASES) == 40
