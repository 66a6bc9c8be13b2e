"""The golden models of core and fields: where each lies, how it was learned, what it gives."""

from pathlib import Path

import numpy as np
from cases import of_fields
from golden.outputs import data_sets, rows

from atomstream import BatchNMF, OnlineDictionaryLearning, OnlineNMF

HERE = Path(__file__).with_name("models")


def of_data_sets(table):
    model = BatchNMF(2, 1, n_epochs=3, batch_size=40, random_state=0)
    return model.fit(table[:, :-1], batch=table[:, -1])


def of_both_signs(X):
    return OnlineDictionaryLearning(3, n_epochs=3, batch_size=40, random_state=0).fit(X)


def of_rows(X):
    return OnlineNMF(3, loss="kl", n_epochs=3, batch_size=40, random_state=0).fit(X)


GOLDEN = {
    "BatchNMF": (HERE, of_data_sets, data_sets),
    "OnlineDictionaryLearning": (HERE, of_both_signs, rows),
    "OnlineNMF": (HERE, of_rows, rows),
    **of_fields("golden_models"),
}
# The file of each of them.
FILES = {name: folder / f"{name}.atoms" for name, (folder, _, _) in GOLDEN.items()}


def given(name):
    """Return the input of a golden model."""
    with np.load(GOLDEN[name][0] / "inputs.npz") as inputs:
        return inputs[name]


def outputs(name, model):
    """Return arrays by their names; keys that begin with ``after_`` once it has learned more."""
    return dict(GOLDEN[name][2](model, given(name)))
