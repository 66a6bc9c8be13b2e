"""Importance: absolute codes times the lengths of their atoms, whatever the model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from atomstream import OnlineConvexMF, OnlineCPDictionary, OnlineDictionaryLearning, OnlineNMF
from atomstream.losses import Huber
from atomstream.watch.callbacks import Callback

RNG = np.random.default_rng(0)
X = RNG.random((60, 12)) + 0.1
WEIGHTS = RNG.random(30) + 0.5

MODELS = {
    "squared": OnlineNMF(3),
    "float32": OnlineNMF(3),
    "signed": OnlineDictionaryLearning(3, alpha=0.01),
    "missing": OnlineNMF(3, missing=True),
    "spheres": OnlineDictionaryLearning(3, atoms="unit_sphere"),
    "kl": OnlineNMF(3, loss="kl", atoms="nonnegative"),
    "steps": OnlineNMF(3, loss="l1", updater="spsg"),
    "robust": OnlineNMF(3, loss=Huber(0.1), atoms="nonnegative"),
    "tensors": OnlineCPDictionary(3),
}


class Last(Callback):
    """Keeps the codes of the last batch."""

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "batch":
            self.codes = estimator._progress.codes.values


@pytest.mark.parametrize("name", MODELS)
def test_a_batch_adds_codes_times_the_lengths_of_the_atoms_that_made_them(name):
    model, last = MODELS[name].set_params(random_state=0), Last()
    rows = X.astype(np.float32) if name == "float32" else X
    rows = rows.reshape(60, 3, 4) if name == "tensors" else rows
    model.partial_fit(rows[:30])
    lengths = np.sqrt(model.state_.dictionary.gram().diagonal())
    before = model.state_.usage.total
    model.set_callbacks(last).fit_stream([(rows[30:], WEIGHTS)])
    expected = WEIGHTS @ np.abs(last.codes) * lengths
    assert_allclose(model.state_.usage.total - before, expected, rtol=1e-5)
    if name not in ("spheres", "squared", "float32", "missing"):  # whose lengths are near one
        assert np.ptp(lengths) > 1e-3
    assert_allclose(model.importance_, model.state_.usage.total / model.state_.usage.total.sum())


def test_a_short_atom_with_long_codes_is_not_important():
    model = OnlineNMF.from_components(np.diag([1.0, 0.001]), random_state=0)
    model.partial_fit(np.tile([3.0, 1.0], (5, 1)))
    assert_allclose(model.importance_, [0.75, 0.25], rtol=1e-3)


def test_on_a_simplex_codes_are_shares_of_the_sums_of_samples():
    model = OnlineNMF(3, loss="kl", random_state=0).partial_fit(X[:30])
    assert_allclose(model.components_.sum(axis=1), 1)
    before, last = model.state_.usage.total, Last()
    model.set_callbacks(last).fit_stream([X[30:]])
    assert_allclose(model.state_.usage.total - before, last.codes.sum(axis=0), rtol=1e-9)


def test_atoms_of_samples_count_with_their_length():
    model = OnlineConvexMF(2, n_representatives=4, codes="free", random_state=0)
    rows = np.vstack([np.tile([100.0, 0, 0], (20, 1)), np.tile([0, 1.0, 0.0], (20, 1))])
    rows = np.random.default_rng(0).permutation(rows + 0.01 * RNG.random(rows.shape))
    model.fit(rows)
    long = np.argmax(np.linalg.norm(model.components_, axis=1))
    assert model.importance_[long] > 0.9
