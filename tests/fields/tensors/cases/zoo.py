"""A small model of tensors, and tensors that it learns from."""

from cases import rows

from atomstream import OnlineCPDictionary

CASES = {
    "tensors": (
        OnlineCPDictionary(2, n_epochs=2, random_state=0),
        lambda: rows().reshape(60, 2, 4),
        "transform",
    ),
}
