"""Calls of what takes tensors."""

import numpy as np
from doors_of_models import doors_of_model
from given import TENSOR

from atomstream import online_parafac, tensors

CASES = {
    **doors_of_model("OnlineCPDictionary"),
    "online_parafac(X)": (
        TENSOR,
        lambda X: np.concatenate(
            online_parafac(X, 2, missing=True, n_epochs=1, random_state=0).factors
        ),
    ),
    "fields.tensors.Axes.of(X)": (TENSOR, lambda X: tensors.Axes.of(X, None).shape),
    "fields.tensors.Axes.flatten(X)": (
        TENSOR,
        lambda X: tensors.Axes.of_groups((2, 3), None).flatten(X),
    ),
}
assert len(CASES) == 38
